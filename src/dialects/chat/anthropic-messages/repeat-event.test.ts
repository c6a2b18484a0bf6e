/** Events recognized by the previous one mean the same, and are written the same, as if each were parsed. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { Frame } from '../../dialect.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { eventText } from './write-stream.ts';

const call = chatCall({ origin: { dialect: anthropicMessages.name, body: new Uint8Array() }, messages: [] });

const START = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
type Event = JsonObject & { type: string };

const BLOCKS: { [delta: string]: JsonObject } = {
  text_delta: { type: 'text', text: '' },
  thinking_delta: { type: 'thinking', thinking: '' },
  input_json_delta: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
};
const MEMBERS: { [delta: string]: string } = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

/** The stream of these blocks. `spoil`: what is added to every second delta, so that none is like the one before. */
function streamOf(blocks: readonly (readonly [string, readonly string[]])[], spoil: JsonObject): string {
  const events: Event[] = [START];
  let deltas = 0;
  for (const [index, [type, texts]] of blocks.entries()) {
    events.push({ type: 'content_block_start', index, content_block: BLOCKS[type] ?? {} });
    for (const text of texts) {
      const delta = { type, [MEMBERS[type] ?? '']: text };
      events.push({ type: 'content_block_delta', index, delta, ...(deltas++ % 2 === 1 && spoil) });
    }
    events.push({ type: 'content_block_stop', index });
  }
  return [...events, ...END].map((event) => eventText(event)).join('');
}

const framesOf = (text: string, size: number): Frame[] => {
  const bytes = Buffer.from(text);
  const reader = anthropicMessages.reader(call, 'text/event-stream', {});
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(...reader.read(bytes.subarray(at, at + size)));
  return [...frames, ...reader.end()];
};
const eventsOf = (frames: readonly Frame[]) => frames.flatMap(({ events }) => events);

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('a', ' word', '日本', '"', '\\', '\n', '{"a":', 'text', 'text_delta', ''),
);
const blocks = fc.array(
  fc.tuple(fc.constantFrom(...Object.keys(BLOCKS)), fc.array(text, { minLength: 2, maxLength: 8 })),
  { minLength: 1, maxLength: 4 },
);

test('any blocks, texts and cuts: the same meaning, and every byte once', () => {
  let alike = 0;
  fc.assert(
    fc.property(blocks, fc.integer({ min: 1, max: 400 }), (content, size) => {
      const text = streamOf(content, {});
      const frames = framesOf(text, size);
      alike += frames.filter(({ like }) => like).length;
      expect(Buffer.concat(frames.map(({ bytes }) => bytes)).toString()).toBe(text);
      expect(eventsOf(frames)).toEqual(eventsOf(framesOf(streamOf(content, { spoiled: 1 }), 1 << 20)));
    }),
    { numRuns: 200 },
  );
  expect(alike).toBeGreaterThan(100);
});

test('a citation is read after texts that were alike', () => {
  const citation = {
    type: 'char_location',
    cited_text: 'a fact',
    document_index: 0,
    start_char_index: 0,
    end_char_index: 6,
  };
  const cited = { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation } };
  const stream = (spoil: JsonObject) =>
    streamOf([['text_delta', ['a', ' b', ' c', ' d']]], spoil).replace(
      eventText({ type: 'content_block_stop', index: 0 }),
      (stop) => eventText(cited) + stop,
    );
  const events = eventsOf(framesOf(stream({}), 1 << 20));
  expect(events.some(({ type }) => type === 'part-citation')).toBe(true);
  expect(events).toEqual(eventsOf(framesOf(stream({ spoiled: 1 }), 1 << 20)));
});
