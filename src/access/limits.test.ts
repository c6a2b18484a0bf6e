import { expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import type { KeyRow } from '../store/store.ts';
import { createLimits } from './limits.ts';

const START = 1_700_000_000_000;
const key = (limits: Partial<KeyRow>, id = 'key_1'): KeyRow => ({
  id,
  account: 'acc',
  kind: 'caller',
  name: 'test',
  hash: '',
  last4: '',
  createdAt: 0,
  ...limits,
});

function refusal(run: () => unknown): GatewayError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error('it was admitted');
}

test('a key without limits costs nothing, whatever it does', () => {
  const limits = createLimits();
  const ends = Array.from({ length: 1000 }, () => limits.admit(key({}), 1e9, START));
  expect(new Set(ends).size).toBe(1);
});

test('requests per minute: the one too many learns when the first leaves the minute', () => {
  const limits = createLimits();
  const three = key({ requestsPerMinute: 3 });
  for (const second of [0, 10, 20]) limits.admit(three, 0, START + second * 1000)(0);
  const refused = refusal(() => limits.admit(three, 0, START + 25_000));
  expect(refused).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 35 });
  expect(refused.message).toBe('This key may make 3 requests per minute. Please try again in 35 seconds.');
  expect(() => limits.admit(three, 0, START + 59_000)).toThrow();
  limits.admit(three, 0, START + 60_000);
  expect(() => limits.admit(three, 0, START + 60_000)).toThrow();
});

test('a refused call does not count', () => {
  const limits = createLimits();
  const one = key({ requestsPerMinute: 1, concurrency: 5 });
  limits.admit(one, 0, START)(0);
  for (let i = 0; i < 10; i++) expect(() => limits.admit(one, 0, START + 1000)).toThrow();
  limits.admit(one, 0, START + 60_000)(0);
});

test('tokens are reserved by estimate and corrected at the end', () => {
  const limits = createLimits();
  const thousand = key({ tokensPerMinute: 1000 });
  const end = limits.admit(thousand, 900, START);
  const refused = refusal(() => limits.admit(thousand, 200, START + 1000));
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 59 });
  end(50);
  end(0);
  limits.admit(thousand, 950, START + 2000)(950);
  expect(() => limits.admit(thousand, 1, START + 3000)).toThrow();
});

test('a call that used more than estimated leaves less for the next', () => {
  const limits = createLimits();
  const thousand = key({ tokensPerMinute: 1000 });
  limits.admit(thousand, 10, START)(5000);
  expect(() => limits.admit(thousand, 1, START + 59_000)).toThrow();
  limits.admit(thousand, 1, START + 60_000);
});

test('a call that can never fit is told to ask for less', () => {
  const limits = createLimits();
  const refused = refusal(() => limits.admit(key({ tokensPerMinute: 100 }), 101, START));
  expect(refused.message).toBe(
    'This key may use 100 tokens per minute, and the call may need 101: ask for fewer output tokens. Please try again in 60 seconds.',
  );
});

test('calls at once: a place is free again when a call has ended, once', () => {
  const limits = createLimits();
  const two = key({ concurrency: 2 });
  const first = limits.admit(two, 0, START);
  limits.admit(two, 0, START);
  const refused = refusal(() => limits.admit(two, 0, START));
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  first(0);
  first(0);
  limits.admit(two, 0, START);
  expect(() => limits.admit(two, 0, START)).toThrow();
});

test('a limit of zero admits nothing, and keys do not share', () => {
  const limits = createLimits();
  expect(() => limits.admit(key({ requestsPerMinute: 0 }), 0, START)).toThrow();
  limits.admit(key({ requestsPerMinute: 1 }, 'a'), 0, START);
  limits.admit(key({ requestsPerMinute: 1 }, 'b'), 0, START);
  expect(() => limits.admit(key({ requestsPerMinute: 1 }, 'a'), 0, START)).toThrow();
});

test('forgetting idle keys forgets no running call and no full minute', () => {
  const limits = createLimits();
  limits.admit(key({ concurrency: 1 }, 'busy'), 0, START);
  limits.admit(key({ requestsPerMinute: 1 }, 'spent'), 0, START + 119_000)(0);
  for (let i = 0; i < 10_100; i++) limits.admit(key({ requestsPerMinute: 9 }, `k${i}`), 0, START + 120_000)(0);
  expect(() => limits.admit(key({ concurrency: 1 }, 'busy'), 0, START + 120_000)).toThrow();
  expect(() => limits.admit(key({ requestsPerMinute: 1 }, 'spent'), 0, START + 120_000)).toThrow();
});
