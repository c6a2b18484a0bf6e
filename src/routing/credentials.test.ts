import { expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import { createCredentials } from './credentials.ts';

const target = { id: 'p/a', provider: 'p', credentials: ['k1', 'k2', 'k3'] };
const sibling = { ...target, id: 'p/b' };
const refused = new GatewayError('upstream_failed', 'No.', { credentialRefused: true });
const limited = (retryAfterSeconds?: number) =>
  new GatewayError('rate_limited', 'Slow down.', { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });

test('one that was refused is left out at every model of the provider, then tried by one call', () => {
  const told: unknown[] = [];
  const credentials = createCredentials({ refused: (...words) => told.push(words) });
  expect(credentials.choose(target, 0)).toBe('k1');
  expect(credentials.failed(target, 'k1', refused, 0)).toBe(true);
  expect([1, 2, 3].map(() => credentials.choose(sibling, 59_000))).toEqual(['k2', 'k3', 'k2']);
  expect(told).toEqual([['p', 1, 60]]);
  const probes = [1, 2, 3, 4, 5, 6].map(() => credentials.choose(target, 60_000));
  expect(probes.filter((one) => one === 'k1')).toHaveLength(1);
  // Still refused: longer, and nobody is told twice.
  credentials.failed(target, 'k1', refused, 61_000);
  expect([1, 2, 3].map(() => credentials.choose(target, 61_000 + 119_000))).not.toContain('k1');
  expect([1, 2, 3].map(() => credentials.choose(target, 61_000 + 120_000))).toContain('k1');
  expect(told).toHaveLength(1);
  credentials.succeeded(target, 'k1', 182_000);
  expect([1, 2, 3].map(() => credentials.choose(target, 182_000)).toSorted()).toEqual(['k1', 'k2', 'k3']);
});

test('a rate limit is kept to its model, for as long as the provider says', () => {
  const credentials = createCredentials();
  credentials.failed(target, 'k1', limited(7), 0);
  expect([1, 2, 3].map(() => credentials.choose(target, 6999))).not.toContain('k1');
  expect([1, 2, 3].map(() => credentials.choose(sibling, 0))).toContain('k1');
  // A success of a call that was under way does not end the wait.
  credentials.succeeded(target, 'k1', 100);
  expect([1, 2, 3].map(() => credentials.choose(target, 6999))).not.toContain('k1');
  expect([1, 2, 3].map(() => credentials.choose(target, 7000))).toContain('k1');
});

test('where all are limited the target waits for the soonest; where all were refused one is tried all the same', () => {
  const credentials = createCredentials();
  for (const [i, key] of target.credentials.entries()) credentials.failed(target, key, limited(10 + i), 0);
  expect(credentials.rest(target, 1000)).toEqual({ until: 10_000, limited: true });
  expect(credentials.rest(target, 10_000)).toBeUndefined();
  const others = createCredentials();
  for (const key of target.credentials) others.failed(target, key, refused, 0);
  expect(others.rest(target, 1000)).toBeUndefined();
  expect(others.choose(target, 1000)).toBe('k1');
  expect(others.choose(target, 1000, ['k1'])).toBeUndefined();
});

test('an error that is not about the credential cools none, and a single one is left to the health of its target', () => {
  const credentials = createCredentials();
  expect(credentials.failed(target, 'k1', new GatewayError('upstream_failed', 'Down.'), 0)).toBe(false);
  const only = { ...target, credentials: ['k1'] };
  expect(credentials.failed(only, 'k1', refused, 0)).toBe(false);
  expect(credentials.choose(only, 0)).toBe('k1');
  expect(credentials.choose(only, 0, ['k1'])).toBeUndefined();
});

test('a clock that jumps an hour ahead and back keeps no credential away for that hour', () => {
  const credentials = createCredentials();
  credentials.failed(target, 'k1', refused, 3_600_000);
  expect([1, 2, 3].map(() => credentials.choose(target, 2000))).toContain('k1');
});
