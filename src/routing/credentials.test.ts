import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import { createCredentials } from './credentials.ts';

const target = { id: 'p/a', provider: 'p', credentials: ['k1', 'k2', 'k3'] };
const sibling = { ...target, id: 'p/b' };
const single = { ...target, credentials: ['k1'] };
const refused = new GatewayError('upstream_failed', 'No.', { credentialRefused: true });
const limited = (retryAfterSeconds?: number) =>
  new GatewayError('rate_limited', 'Slow down.', { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
const three = [1, 2, 3];

test('one that was refused is left out at every model of the provider, then tried by one call', () => {
  const reported: unknown[] = [];
  const credentials = createCredentials({ refused: (...words) => reported.push(words) });
  expect(credentials.choose(target, 0)).toBe('k1');
  expect(credentials.failed(target, 'k1', refused, 0)).toBe(true);
  expect(three.map(() => credentials.choose(sibling, 9000))).toEqual(['k2', 'k3', 'k2']);
  expect(reported).toEqual([['p', 1, 10]]);
  const probes = [1, 2, 3, 4, 5, 6].map(() => credentials.choose(target, 10_000));
  expect(probes.filter((one) => one === 'k1')).toHaveLength(1);
  // Still refused: longer, up to a minute, and reported once.
  credentials.failed(target, 'k1', refused, 11_000);
  expect(three.map(() => credentials.choose(target, 11_000 + 19_000))).not.toContain('k1');
  expect(three.map(() => credentials.choose(target, 11_000 + 20_000))).toContain('k1');
  expect(reported).toHaveLength(1);
  credentials.succeeded(target, 'k1', 32_000);
  expect(three.map(() => credentials.choose(target, 32_000)).toSorted()).toEqual(['k1', 'k2', 'k3']);
});

test('a rate limit applies to its model only, for as long as the provider states', () => {
  const credentials = createCredentials();
  credentials.failed(target, 'k1', limited(7), 0);
  expect(three.map(() => credentials.choose(target, 6999))).not.toContain('k1');
  expect(three.map(() => credentials.choose(sibling, 0))).toContain('k1');
  // A success of a call that was under way does not end the wait.
  credentials.succeeded(target, 'k1', 100);
  expect(three.map(() => credentials.choose(target, 6999))).not.toContain('k1');
  expect(three.map(() => credentials.choose(target, 7000))).toContain('k1');
});

test('if all are limited the target waits for the earliest', () => {
  const credentials = createCredentials();
  for (const [i, key] of target.credentials.entries()) credentials.failed(target, key, limited(10 + i), 0);
  expect(credentials.unusable(target, 1000)).toEqual({ until: 10_000, limited: true });
  expect(credentials.unusable(target, 10_000)).toBeUndefined();
});

test('if all were refused one is tried nevertheless', () => {
  const credentials = createCredentials();
  for (const key of target.credentials) credentials.failed(target, key, refused, 0);
  expect(credentials.unusable(target, 1000)).toEqual({ until: 10_000, limited: false });
  expect(credentials.choose(target, 1000)).toBe('k1');
  expect(credentials.choose(target, 1000, ['k1'])).toBeUndefined();
});

test('a single credential, and none, are limited like several', () => {
  for (const one of [single, { ...target, credentials: [] }]) {
    const credentials = createCredentials();
    expect(credentials.failed(one, one.credentials[0], limited(), 0)).toBe(true);
    expect(credentials.unusable(one, 999)).toEqual({ until: 1000, limited: true, guessed: true });
    expect(credentials.unusable(one, 1000)).toBeUndefined();
    expect(credentials.choose(one, 0)).toBe(one.credentials[0]);
    expect(credentials.choose(one, 0, one.credentials)).toBe(
      one.credentials.length > 0 ? undefined : one.credentials[0],
    );
  }
});

test('an error that does not concern the credential starts no cooldown', () => {
  const credentials = createCredentials();
  expect(credentials.failed(target, 'k1', new GatewayError('upstream_failed', 'Down.'), 0)).toBe(false);
  expect(credentials.cooling(target, 0)).toEqual([]);
});

test('a clock that jumps an hour ahead and back keeps no credential away for that hour', () => {
  const credentials = createCredentials();
  credentials.failed(target, 'k1', refused, 3_600_000);
  expect(three.map(() => credentials.choose(target, 2000))).toContain('k1');
});

describe('remaining limits that a provider reports', () => {
  const resetMs = 5000;
  const left = { requests: { left: 2, resetMs }, tokens: { left: 1000, resetMs } };
  const none = (resetMs: number, tokens = 0) => ({
    requests: { left: 0, resetMs },
    tokens: { left: tokens, resetMs },
  });

  test('are used up by what is sent, before the provider answers 429', () => {
    const credentials = createCredentials();
    credentials.remains(single, 'k1', left, 0);
    expect(credentials.unusable(single, 0)).toBeUndefined();
    credentials.spend(single, 'k1', 100);
    credentials.spend(single, 'k1', 100);
    expect(credentials.unusable(single, 4999)).toEqual({ until: 5000, limited: true });
    expect(credentials.unusable(single, 5000)).toBeUndefined();
  });

  test('a call that needs more tokens than are left goes with another credential', () => {
    const credentials = createCredentials();
    credentials.remains(target, 'k1', left, 0);
    expect(three.map(() => credentials.choose(target, 0, [], 1500))).not.toContain('k1');
    expect(three.map(() => credentials.choose(target, 0, [], 900))).toContain('k1');
  });

  test('the latest report counts, and a reset time applies for at most a minute', () => {
    const credentials = createCredentials();
    credentials.remains(single, 'k1', none(86_400_000), 0);
    expect(credentials.unusable(single, 59_999)).toEqual({ until: 60_000, limited: true });
    expect(credentials.unusable(single, 60_000)).toBeUndefined();
    credentials.remains(single, 'k1', none(9000), 60_000);
    credentials.remains(single, 'k1', left, 60_001);
    expect(credentials.unusable(single, 60_001)).toBeUndefined();
  });

  test('each limit has its own reset', () => {
    const credentials = createCredentials();
    const tokens = { left: 0, resetMs: 40_000 };
    credentials.remains(target, 'k1', { requests: { left: 0, resetMs: 1000 }, tokens }, 0);
    expect(three.map(() => credentials.choose(target, 999))).not.toContain('k1');
    expect(three.map(() => credentials.choose(target, 1000))).toContain('k1');
    expect(three.map(() => credentials.choose(target, 39_999, [], 5))).not.toContain('k1');
    expect(three.map(() => credentials.choose(target, 40_000, [], 5))).toContain('k1');
  });

  test('a limit that refills steadily lets a call in as soon as there is enough for it', () => {
    const credentials = createCredentials();
    const tokens = { left: 0, resetMs: 50_000, limit: 150_000 };
    credentials.remains(target, 'k1', { requests: { left: 0, resetMs: 1000, limit: 60 }, tokens }, 0);
    expect(three.map(() => credentials.choose(target, 16))).not.toContain('k1');
    expect(three.map(() => credentials.choose(target, 17))).toContain('k1');
    expect(three.map(() => credentials.choose(target, 99, [], 300))).not.toContain('k1');
    expect(three.map(() => credentials.choose(target, 100, [], 300))).toContain('k1');
    credentials.spend(target, 'k1', 300);
    expect(three.map(() => credentials.choose(target, 199, [], 300))).not.toContain('k1');
    expect(three.map(() => credentials.choose(target, 200, [], 300))).toContain('k1');
  });

  test('a 429 with a retry time overrides them', () => {
    const credentials = createCredentials();
    credentials.remains(single, 'k1', none(50_000), 0);
    credentials.failed(single, 'k1', limited(2), 0);
    expect(credentials.unusable(single, 1999)).toEqual({ until: 2000, limited: true });
    expect(credentials.unusable(single, 2000)).toBeUndefined();
  });

  test('an admin sees which credentials are left out, by their place', () => {
    const credentials = createCredentials();
    credentials.failed(target, 'k1', refused, 0);
    credentials.remains(target, 'k3', none(2000, 9), 0);
    expect(credentials.cooling(target, 0)).toEqual([
      { place: 1, until: 10_000, reason: 'refused' },
      { place: 3, until: 2000, reason: 'limited' },
    ]);
    credentials.reset(target);
    expect(credentials.cooling(target, 0)).toEqual([]);
  });
});
