/** Usage objects as vendors write them. */
import { expect, test } from 'bun:test';
import type { JsonObject } from '../canonical/json.ts';
import { readUsage, writeUsage } from './openai-usage.ts';

test.each<[string, JsonObject, object]>([
  [
    'xAI counts reasoning beside the output',
    {
      prompt_tokens: 12,
      completion_tokens: 2,
      total_tokens: 334,
      completion_tokens_details: { reasoning_tokens: 320 },
    },
    { input: 12, output: 322, reasoning: 320 },
  ],
  [
    'Google counts thinking in the total alone',
    { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 },
    { input: 66, output: 34, reasoning: 28 },
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
  const usage = readUsage(raw, {});
  expect(usage).toEqual({ source: 'reported', input: 0, output: 0, ...expected });
  expect(readUsage(writeUsage(usage), {})).toEqual(usage);
});

test('without a total the vendor is taken at its quirk', () => {
  const raw = { prompt_tokens: 1, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 5 } };
  expect(readUsage(raw, { reasoningBesideOutput: true }).output).toBe(7);
  expect(readUsage(raw, {}).output).toBe(2);
});
