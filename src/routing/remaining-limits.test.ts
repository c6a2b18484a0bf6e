import { expect, test } from 'bun:test';
import { remainingLimits } from './remaining-limits.ts';

const NONE = Number.POSITIVE_INFINITY;
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
    { requests: 12, tokens: 900, resetMs: 360_000 },
  ],
  [
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset': '4' },
    { requests: 0, tokens: NONE, resetMs: 4000 },
  ],
  [
    {
      date: 'Tue, 05 May 2026 12:00:00 GMT',
      'anthropic-ratelimit-tokens-remaining': '40000',
      'anthropic-ratelimit-tokens-reset': '2026-05-05T12:00:07Z',
    },
    { requests: NONE, tokens: 40_000, resetMs: 7000 },
  ],
  // Nothing says when there is more again: it cannot be obeyed.
  [{ 'x-ratelimit-remaining-requests': '0' }, undefined],
  [{ 'x-ratelimit-remaining-requests': 'few', 'x-ratelimit-reset-requests': '1s' }, undefined],
])('%j', (headers, limits) => {
  expect(of(headers as { [name: string]: string })).toEqual(limits as never);
});
