import { expect, test } from 'bun:test';
import { withOwnFigures } from './own-figures.ts';

const USAGE = { input: 12, output: 5, source: 'counted' } as const;
const rewritten = (text: string) => Buffer.from(withOwnFigures(Buffer.from(text), USAGE)).toString();

test.each<[string, object, object]>([
  [
    'a chat',
    {
      id: 'a',
      usage: {
        prompt_tokens: 1e9,
        completion_tokens: 2,
        total_tokens: 9,
        completion_tokens_details: { reasoning_tokens: 7 },
        cost: 4,
      },
    },
    {
      id: 'a',
      usage: {
        prompt_tokens: 12,
        completion_tokens: 5,
        total_tokens: 17,
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0,
      },
    },
  ],
  [
    'a message',
    {
      type: 'message',
      usage: {
        input_tokens: 1e9,
        output_tokens: 1,
        cache_read_input_tokens: 4,
        service_tier: 'standard',
        iterations: [{ input_tokens: 7 }],
      },
    },
    {
      type: 'message',
      usage: {
        input_tokens: 12,
        output_tokens: 5,
        cache_read_input_tokens: 0,
        service_tier: 'standard',
        iterations: [],
      },
    },
  ],
  [
    'a response in an event',
    {
      type: 'response.completed',
      response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1e9, total_tokens: 1e9 } },
    },
    {
      type: 'response.completed',
      response: { id: 'r', usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 } },
    },
  ],
  [
    'Gemini',
    { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1e9, thoughtsTokenCount: 5, totalTokenCount: 9 } },
    { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, thoughtsTokenCount: 0, totalTokenCount: 17 } },
  ],
])('%s reports our own figures', (_, claimed, own) => {
  expect(JSON.parse(rewritten(JSON.stringify(claimed, undefined, 2)))).toEqual(own);
  expect(rewritten(`event: x\ndata: ${JSON.stringify(claimed)}\n\n`)).toBe(
    `event: x\ndata: ${JSON.stringify(own)}\n\n`,
  );
  expect(rewritten(`,\r\n${JSON.stringify(claimed)}\r\n]`)).toBe(`,\r\n${JSON.stringify(own)}\r\n]`);
});

test('a figure with the name of what every object has is 0', () => {
  const usage = '{"usage":{"prompt_tokens":1,"constructor":7,"valueOf":8,"toString":9}}';
  expect(rewritten(usage)).toBe('{"usage":{"prompt_tokens":12,"constructor":0,"valueOf":0,"toString":0}}');
});

test('everything else is unchanged, byte for byte', () => {
  const text = 'data: {"choices": [ {"delta":{"content":"usage: {5}"}} ] , "usage":null}\n\n: ping\n\ndata: [DONE]\n\n';
  expect(rewritten(text)).toBe(text);
  const quoted = 'data: {"choices":[{"delta":{"content":"{\\"usage\\":{\\"total_tokens\\":1}}"}}]}\n\n';
  expect(rewritten(quoted)).toBe(quoted);
});
