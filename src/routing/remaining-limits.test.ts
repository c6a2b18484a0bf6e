import { expect, test } from 'bun:test';
import { remainingLimits } from './remaining-limits.ts';

const of = (headers: { [name: string]: string }) => remainingLimits({ header: (name) => headers[name] });

test.each([
  [{}, undefined],
  [
    {
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-tokens': '900',
      'x-ratelimit-reset-tokens': '2s',
    },
    { requests: { left: 12, resetMs: 360_000 }, tokens: { left: 900, resetMs: 2000 } },
  ],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset': '4' }, { requests: { left: 0, resetMs: 4000 } }],
  [
    {
      date: 'Tue, 05 May 2026 12:00:00 GMT',
      'anthropic-ratelimit-tokens-remaining': '40000',
      'anthropic-ratelimit-tokens-reset': '2026-05-05T12:00:07Z',
    },
    { tokens: { left: 40_000, resetMs: 7000 } },
  ],
  // A limit that refills steadily.
  [
    {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    { requests: { left: 0, resetMs: 1000, limit: 60 }, tokens: { left: 0, resetMs: 360_000, limit: 150_000 } },
  ],
  // Without a reset time the limit cannot be applied.
  [{ 'x-ratelimit-remaining-requests': '0' }, undefined],
  [{ 'x-ratelimit-remaining-requests': 'few', 'x-ratelimit-reset-requests': '1s' }, undefined],
])('%j', (headers, limits) => {
  expect(of(headers as { [name: string]: string })).toEqual(limits as never);
});
