/** Usage objects as providers write them. */
import { expect, test } from 'bun:test';
import type { Json, JsonObject } from '../../canonical/json.ts';
import type { Usage } from '../../canonical/usage.ts';
import { readUsage, writeUsage } from './openai-usage.ts';
import type { Quirks } from './quirks.ts';

const read = (raw: JsonObject, quirks: Quirks = {}) => readUsage(raw, quirks);
/** 12 tokens of input and 2 of output, with reasoning. */
const beside = (reasoning: number, total: number): JsonObject => ({
  prompt_tokens: 12,
  completion_tokens: 2,
  total_tokens: total,
  completion_tokens_details: { reasoning_tokens: reasoning },
});
const GEMINI: Quirks = { returnsReasoningInTotal: true };

test.each<[string, JsonObject, object]>([
  ['xAI counts reasoning beside the output', beside(320, 334), { input: 12, output: 322, reasoning: 320 }],
  [
    'a total beyond its parts is not output',
    { prompt_tokens: 66, completion_tokens: 6, total_tokens: 1e12 },
    { input: 66, output: 6 },
  ],
  [
    'a total that holds cached tokens a second time is not output',
    { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1910, prompt_tokens_details: { cached_tokens: 900 } },
    { input: 1000, output: 10, cachedInput: 900 },
  ],
  [
    'a total that is not the sum with the reasoning is not output',
    beside(1, 1e12),
    { input: 12, output: 2, reasoning: 1 },
  ],
  [
    'output that only the total contains is the rest of the total',
    { prompt_tokens: 12, total_tokens: 20 },
    { input: 12, output: 8 },
  ],
  [
    'more cached than there was is clamped',
    { prompt_tokens: 23, completion_tokens: 1, total_tokens: 24, prompt_tokens_details: { cached_tokens: 190 } },
    { input: 23, output: 1, cachedInput: 23 },
  ],
  [
    'more reasoning than output is clamped',
    { prompt_tokens: 43, completion_tokens: 10, total_tokens: 53, completion_tokens_details: { reasoning_tokens: 11 } },
    { input: 43, output: 10, reasoning: 10 },
  ],
  [
    'DeepSeek',
    {
      prompt_tokens: 13,
      completion_tokens: 4,
      total_tokens: 17,
      prompt_cache_hit_tokens: 8,
      prompt_cache_miss_tokens: 5,
    },
    { input: 13, output: 4, cachedInput: 8 },
  ],
  [
    'OpenRouter',
    {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
      server_tool_use_details: { web_search_requests: 1 },
    },
    { input: 10, output: 4, cachedInput: 3, cacheWrite: 2, serverToolCalls: 1 },
  ],
  [
    'nulls and nonsense',
    {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      prompt_tokens_details: null,
      completion_tokens_details: { reasoning_tokens: null },
    },
    { input: 1, output: 2 },
  ],
])('%s', (_, raw, expected) => {
  const usage: Usage = { source: 'reported', input: 0, output: 0, ...expected };
  expect(read(raw)).toEqual(usage);
  expect(read(writeUsage(usage))).toEqual(usage);
});

test("Google's OpenAI-compatible API includes reasoning only in the total", () => {
  const raw = { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 };
  expect(read(raw, GEMINI)).toEqual({ source: 'reported', input: 66, output: 34, reasoning: 28 });
  expect(read(raw)).toEqual({ source: 'reported', input: 66, output: 6 });
});

test('OpenRouter lists tokens that were both written to and read from the cache under both names', () => {
  const prompt_tokens_details = { cached_tokens: 2161, cache_write_tokens: 2161 };
  const usage = read({ prompt_tokens: 2168, completion_tokens: 4, total_tokens: 2172, prompt_tokens_details });
  expect(usage).toEqual({ source: 'reported', input: 7 + 2161 + 2161, output: 4, cachedInput: 2161, cacheWrite: 2161 });
});

const NO_FIGURES = [Infinity, -5, 1.5, 1e308, 2 ** 53, '12', true, [12], {}];

test.each(NO_FIGURES.map((wrong) => [wrong as Json]))(
  '%p is not a count: a total makes the report invalid, a share is dropped',
  (wrong) => {
    const raw = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
    expect(read({ ...raw, prompt_tokens: wrong })).toBeUndefined();
    expect(read({ ...raw, completion_tokens: wrong })).toBeUndefined();
    expect(read({ output_tokens: wrong, input_tokens: 3 })).toBeUndefined();
    const right = { source: 'reported', input: 10, output: 4 } as const;
    expect(read({ ...raw, total_tokens: wrong })).toEqual(right);
    expect(read({ ...raw, total_tokens: wrong }, GEMINI)).toEqual(right);
    expect(read({ ...raw, prompt_tokens_details: { cached_tokens: wrong, audio_tokens: wrong } })).toEqual(right);
    expect(read({ ...raw, completion_tokens_details: { reasoning_tokens: wrong } })).toEqual(right);
  },
);

test("without a total the provider's quirk applies", () => {
  const raw = { prompt_tokens: 1, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 5 } };
  expect(read(raw, { returnsReasoningBesideOutput: true })?.output).toBe(7);
  expect(read(raw)?.output).toBe(2);
});
