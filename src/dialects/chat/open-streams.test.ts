import { fullGC, heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { dialectNamed } from '../index.ts';

const CHUNKS = 6000;

const ANTHROPIC_START = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`;
const RESPONSES_START = `data: {"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress","output":[]}}

data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}

`;
const FORMATS = {
  'openai-chat': {
    start: 'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n',
    chunk: (text: string) =>
      `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`,
  },
  gemini: {
    start: 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}],"modelVersion":"m"}\n\n',
    chunk: (text: string) =>
      `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"${text}"}]}}],"modelVersion":"m"}\n\n`,
  },
  'anthropic-messages': {
    start: ANTHROPIC_START,
    chunk: (text: string) =>
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${text}"}}\n\n`,
  },
  'openai-responses': {
    start: RESPONSES_START,
    chunk: (text: string) =>
      `data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"${text}"}\n\n`,
  },
};

const strings = () => {
  fullGC();
  return heapStats().objectTypeCounts.string ?? 0;
};

const pairs = Object.keys(FORMATS).flatMap((from) => Object.keys(FORMATS).map((to) => [from, to] as const));

test.each(pairs)('an open stream of %s for a client of %s does not keep its chunks', (from, to) => {
  const { start, chunk } = FORMATS[from as keyof typeof FORMATS];
  const call = chatCall({ stream: true });
  const reader = dialectNamed(from)!.reader(call, 'text/event-stream', {});
  const writer = dialectNamed(to)!.writer(call);
  let written = 0;
  const pass = (text: string) => {
    for (const frame of reader.read(Buffer.from(text)))
      written += (from === to ? writer.pass(frame) : writer.write(frame)).length;
  };
  pass(start);
  const before = strings();
  for (let n = 0; n < CHUNKS; n++) pass(chunk(`text ${n} `));
  // Each was two strings. Half of this is the engine's own, and the pieces of the last part of the text.
  expect(strings() - before).toBeLessThan(CHUNKS);
  // Both are alive until here.
  expect(written + reader.end().length + writer.end().length).toBeGreaterThan(CHUNKS);
});
