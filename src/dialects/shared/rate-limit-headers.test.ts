import { expect, test } from 'bun:test';
import { anthropicLimitHeaders, openaiLimitHeaders } from './rate-limit-headers.ts';

const NOW = Date.UTC(2026, 4, 5, 12);

test('OpenAI: limit, remaining, and the time until all is available again', () => {
  const requests = { limit: 10, remaining: 7, resetSeconds: 60 };
  expect(openaiLimitHeaders({ requests, tokens: { limit: 900, remaining: 0, resetSeconds: 45 } }, NOW)).toEqual({
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '7',
    'x-ratelimit-reset-requests': '1m0s',
    'x-ratelimit-limit-tokens': '900',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '45s',
  });
  expect(openaiLimitHeaders({}, NOW)).toEqual({});
});

test('Anthropic: the same under its own names, with the end as a time', () => {
  expect(anthropicLimitHeaders({ tokens: { limit: 900, remaining: 3, resetSeconds: 45 } }, NOW)).toEqual({
    'anthropic-ratelimit-tokens-limit': '900',
    'anthropic-ratelimit-tokens-remaining': '3',
    'anthropic-ratelimit-tokens-reset': '2026-05-05T12:00:45Z',
  });
});
