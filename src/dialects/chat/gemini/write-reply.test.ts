import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { gemini } from './gemini.ts';

const NO_BYTES = new Uint8Array(0);
const decoder = new TextDecoder();
const SSE_CALL = chatCall({ origin: { dialect: 'gemini', body: NO_BYTES, framing: 'sse' } });
const ARRAY_CALL = chatCall({ origin: { dialect: 'gemini', body: NO_BYTES, framing: 'json-array' } });
const WHOLE_CALL = chatCall({ stream: false });

const START: ReplyEvent = { type: 'reply-start', id: 'msg_1', model: 'upstream' };
const USAGE: ReplyEvent = {
  type: 'usage',
  usage: { input: 3, output: 9, reasoning: 4, cachedInput: 2, source: 'reported' },
};
const end = (reason: 'stop' | 'length' | 'tool-calls' | 'refusal'): ReplyEvent => ({
  type: 'choice-end',
  choice: 0,
  finish: { reason },
});
const opening = (part: number, opens: Extract<ReplyEvent, { type: 'part-start' }>['opens']): ReplyEvent => ({
  type: 'part-start',
  choice: 0,
  part,
  opens,
});
const delta = (part: number, text: string): ReplyEvent => ({ type: 'part-delta', choice: 0, part, delta: text });
const over = (part: number): ReplyEvent => ({ type: 'part-end', choice: 0, part });

const CALLING: ReplyEvent[] = [
  START,
  opening(0, { type: 'text' }),
  delta(0, 'Let me see.'),
  over(0),
  opening(1, { type: 'tool-call', id: 'toolu_1', name: 'f' }),
  delta(1, '{"a":'),
  delta(1, '1}'),
  over(1),
  end('tool-calls'),
  USAGE,
  { type: 'reply-end' },
];

function written(events: readonly ReplyEvent[], call = SSE_CALL): string {
  const writer = gemini.writer(call);
  const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
  return decoder.decode(Buffer.concat([...pieces, writer.end()]));
}

function answersIn(stream: string): {
  candidates: { content: { parts: JsonObject[] }; finishReason?: string; finishMessage?: string }[];
  usageMetadata?: JsonObject;
  modelVersion?: string;
  responseId?: string;
}[] {
  return stream
    .split('\r\n\r\n')
    .slice(0, -1)
    .map((event) => JSON.parse(event.replace(/^data: /, '')));
}

describe('a translated stream', () => {
  test('has events of one line each, with CRLF, and nothing else', () => {
    expect(written(CALLING)).toMatch(/^(data: \{.*\}\r\n\r\n)+$/);
  });

  test('has a complete tool call in one part', () => {
    const parts = answersIn(written(CALLING)).flatMap(({ candidates }) =>
      candidates.flatMap(({ content }) => content.parts),
    );
    expect(parts).toEqual([
      { text: 'Let me see.' },
      { functionCall: { id: 'toolu_1', name: 'f', args: { a: 1 } } },
      { text: '' },
    ]);
  });

  test('ends with a reply that has parts, the finish reason and the usage', () => {
    const answers = answersIn(written(CALLING));
    expect(answers.at(-1)).toEqual({
      candidates: [
        expect.objectContaining({ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }),
      ],
      usageMetadata: expect.objectContaining({
        promptTokenCount: 3,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        cachedContentTokenCount: 2,
        totalTokenCount: 12,
      }),
      modelVersion: 'public-model',
      responseId: 'msg_1',
    });
    expect(answers.slice(0, -1).every(({ candidates }) => candidates[0]?.finishReason === undefined)).toBe(true);
  });

  test('leaves out a tool call that broke off with the reply', () => {
    const cut = [
      START,
      opening(0, { type: 'tool-call', id: 'a', name: 'f' }),
      delta(0, '{"a":'),
      over(0),
      end('length'),
    ];
    for (const call of [SSE_CALL, WHOLE_CALL]) expect(written(cut, call)).not.toContain('functionCall');
    const broken = [...cut.slice(0, -1), end('stop')];
    for (const call of [SSE_CALL, WHOLE_CALL]) expect(written(broken, call)).toContain('"args":{"input":"{\\"a\\":"}');
  });

  test('writes a refusal as text, with the reason', () => {
    const events: ReplyEvent[] = [
      START,
      opening(0, { type: 'refusal' }),
      delta(0, 'I cannot.'),
      over(0),
      { type: 'choice-end', choice: 0, finish: { reason: 'refusal', explanation: 'Harm.' } },
    ];
    const [text, last] = answersIn(written(events));
    expect(text?.candidates[0]?.content.parts).toEqual([{ text: 'I cannot.' }]);
    expect(last?.candidates[0]).toMatchObject({ finishReason: 'SAFETY', finishMessage: 'Harm.' });
  });

  test("carries another provider's signature as base64", () => {
    const signature = { dialect: 'anthropic-messages', value: 'Eq…/+=' };
    const events: ReplyEvent[] = [
      START,
      opening(0, { type: 'reasoning' }),
      delta(0, 'Hm.'),
      { type: 'part-signature', choice: 0, part: 0, signature },
      over(0),
      end('stop'),
    ];
    const parts = answersIn(written(events)).flatMap(({ candidates }) => candidates[0]?.content.parts ?? []);
    const encoded = String(parts[1]?.thoughtSignature);
    expect(parts[1]).toEqual({ text: '', thought: true, thoughtSignature: encoded });
    expect(Buffer.from(encoded, 'base64').toString('base64')).toBe(encoded);
  });
});

test('an array opens with the first reply and closes at the end', () => {
  const text = written(CALLING, ARRAY_CALL);
  expect(JSON.parse(text)).toHaveLength(3);
  expect(gemini.writer(ARRAY_CALL).contentType).toBe('application/json');
  expect(JSON.parse(decoder.decode(gemini.writer(ARRAY_CALL).end()))).toHaveLength(1);
});

test('the keep-alive is a line end', () => {
  for (const call of [SSE_CALL, ARRAY_CALL]) expect(decoder.decode(gemini.writer(call).keepAlive())).toBe('\r\n');
});

test('a stream that breaks off sends an error with a number, and does not end', () => {
  const error = new GatewayError('upstream_failed', 'It broke.');
  const sse = decoder.decode(gemini.writer(SSE_CALL).fail(error));
  expect(JSON.parse(sse.replace('data: ', ''))).toMatchObject({
    error: { code: 502, message: 'It broke.', status: 'UNAVAILABLE' },
  });
  expect(sse.endsWith('\r\n\r\n')).toBe(true);
  const array = gemini.writer(ARRAY_CALL);
  array.write({ bytes: NO_BYTES, events: [START, opening(0, { type: 'text' }), delta(0, 'Hi')] });
  expect(decoder.decode(array.fail(error))).toMatch(/^,\r\n\{"error":\{"code":502,.*\}\}$/);
});

describe('a reply that is passed on', () => {
  const ANSWER =
    '{"candidates": [{"content": {"role": "model","parts": [{"text": "modelVersion"}]},"index": 0}], "modelVersion": "gemini-9"}';
  const LAST = '{"candidates": [{"finishReason": "STOP","index": 0}], "modelVersion": "gemini-9"}';
  const STREAM = `data: ${ANSWER}\r\n\r\n: ping\r\n\r\n\r\ndata: ${LAST}\r\n\r\n`;

  function passed(call = SSE_CALL, bytes = STREAM, contentType = 'text/event-stream'): string {
    const reader = gemini.reader(call, contentType, {});
    const writer = gemini.writer(call);
    const frames = [...reader.read(new TextEncoder().encode(bytes)), ...reader.end()];
    return decoder.decode(Buffer.concat([...frames.map((frame) => writer.pass(frame)), writer.end()]));
  }

  test('keeps its bytes except the model name, loses comments, and has parts in its last chunk', () => {
    const [first, blank, last, ...others] = passed().split(/(?<=\r\n\r\n)(?=data)|(?<=\r\n\r\n)(?=\r\n)|(?<=^\r\n)/);
    expect(first).toBe(`data: ${ANSWER.replace('gemini-9', 'public-model')}\r\n\r\n`);
    expect(others).toEqual([]);
    expect(blank?.trim()).toBe('');
    expect(JSON.parse(String(last).replace('data: ', ''))).toEqual({
      candidates: [{ finishReason: 'STOP', index: 0, content: { role: 'model', parts: [{ text: '' }] } }],
      modelVersion: 'public-model',
    });
    expect(passed()).not.toContain('ping');
  });

  test('becomes an array for a client that requested one', () => {
    const answers = JSON.parse(passed(ARRAY_CALL));
    expect(answers).toHaveLength(2);
    expect(answers[0]).toEqual({ ...JSON.parse(ANSWER), modelVersion: 'public-model' });
  });

  test('becomes events if the provider sent an array', () => {
    const text = passed(SSE_CALL, `[${ANSWER},\n${LAST}\n]`, 'application/json');
    expect(text.split('\r\n\r\n')[0]).toBe(`data: ${ANSWER.replace('gemini-9', 'public-model')}`);
    expect(answersIn(text)).toHaveLength(2);
  });

  test('non-streaming', () => {
    const whole = LAST.replace('"finishReason"', '"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason"');
    expect(passed(WHOLE_CALL, whole, 'application/json')).toBe(whole.replace('gemini-9', 'public-model'));
  });
});
