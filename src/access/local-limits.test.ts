import { expect, test } from 'bun:test';
import { refusal } from '../../test/helpers/gateway-error.ts';
import type { Pace } from '../store/rows.ts';
import type { Paced } from './limits.ts';
import { createLocalLimits, type LocalLimits } from './local-limits.ts';

const START = 1_700_000_000_000;
const key = (pace: Pace, id = 'key_1'): Paced => ({ id, of: 'key', ...pace });
let calls = 0;
let time = START;
const open = () => createLocalLimits(() => time);
/** Admits one call and returns the function that ends it. */
function admit(limits: LocalLimits, paced: Paced | Paced[], tokens: number, now: number) {
  time = now;
  const { end } = limits.admit({ callId: `call_${++calls}`, paced: [paced].flat(), tokens });
  return (used: number) => end(used);
}

test('a request above the limit per minute learns when the oldest request leaves the window', () => {
  const limits = open();
  const three = key({ requestsPerMinute: 3 });
  for (const second of [0, 10, 20]) admit(limits, three, 0, START + second * 1000)(0);
  const refused = refusal(() => admit(limits, three, 0, START + 25_000));
  expect(refused).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 36 });
  expect(refused.message).toBe('This key may make 3 requests per minute. Please try again in 36 seconds.');
  expect(() => admit(limits, three, 0, START + 60_999)).toThrow();
  admit(limits, three, 0, START + 61_000);
  expect(() => admit(limits, three, 0, START + 61_000)).toThrow();
});

test('a refused call is not counted', () => {
  const limits = open();
  const one = key({ requestsPerMinute: 1, concurrency: 5 });
  admit(limits, one, 0, START)(0);
  for (let i = 0; i < 10; i++) expect(() => admit(limits, one, 0, START + 1000)).toThrow();
  admit(limits, one, 0, START + 61_000)(0);
});

test('tokens are reserved by estimate and corrected when the call ends', () => {
  const limits = open();
  const thousand = key({ tokensPerMinute: 1000 });
  const end = admit(limits, thousand, 900, START);
  const refused = refusal(() => admit(limits, thousand, 200, START + 1000));
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 60 });
  end(50);
  end(0);
  admit(limits, thousand, 950, START + 2000)(950);
  expect(() => admit(limits, thousand, 1, START + 3000)).toThrow();
});

test('a call that used more than estimated leaves less for the next one', () => {
  const limits = open();
  const thousand = key({ tokensPerMinute: 1000 });
  admit(limits, thousand, 10, START)(5000);
  expect(() => admit(limits, thousand, 1, START + 60_000)).toThrow();
  admit(limits, thousand, 1, START + 61_000);
});

test('a concurrent call frees its place once when it ends', () => {
  const limits = open();
  const two = key({ concurrency: 2 });
  const first = admit(limits, two, 0, START);
  admit(limits, two, 0, START);
  const refused = refusal(() => admit(limits, two, 0, START));
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  first(0);
  first(0);
  admit(limits, two, 0, START);
  expect(() => admit(limits, two, 0, START)).toThrow();
});

test('a limit of 0 admits no call, and keys do not share counters', () => {
  const limits = open();
  expect(() => admit(limits, key({ requestsPerMinute: 0 }), 0, START)).toThrow();
  admit(limits, key({ requestsPerMinute: 1 }, 'a'), 0, START);
  admit(limits, key({ requestsPerMinute: 1 }, 'b'), 0, START);
  expect(() => admit(limits, key({ requestsPerMinute: 1 }, 'a'), 0, START)).toThrow();
});

test('removing idle keys keeps active calls and full minutes', () => {
  const limits = open();
  admit(limits, key({ concurrency: 1 }, 'busy'), 0, START);
  admit(limits, key({ requestsPerMinute: 1 }, 'spent'), 0, START + 119_000)(0);
  for (let i = 0; i < 10_100; i++) admit(limits, key({ requestsPerMinute: 9 }, `k${i}`), 0, START + 120_000)(0);
  expect(() => admit(limits, key({ concurrency: 1 }, 'busy'), 0, START + 120_000)).toThrow();
  expect(() => admit(limits, key({ requestsPerMinute: 1 }, 'spent'), 0, START + 120_000)).toThrow();
});

test('limits of key and account apply together: refused by one, counted in neither', () => {
  const limits = open();
  const account = (pace: Pace): Paced => ({ id: 'acct_1', of: 'account', ...pace });
  const both = [key({ requestsPerMinute: 5 }), account({ requestsPerMinute: 2 })];
  for (let i = 0; i < 2; i++) admit(limits, both, 0, START)(0);
  expect(refusal(() => admit(limits, both, 0, START)).message).toStartWith('This account may make 2 requests');
  admit(limits, key({ requestsPerMinute: 3 }), 0, START);
  expect(() => admit(limits, key({ requestsPerMinute: 3 }), 0, START)).toThrow('This key may make 3 requests');
});

test('the reported allowance is that of the tightest limit, for admitted and refused calls', () => {
  const limits = open();
  const paced = [
    key({ requestsPerMinute: 5, tokensPerMinute: 100 }),
    { id: 'a', of: 'account' as const, requestsPerMinute: 3 },
  ];
  const at = START + 30_000;
  time = START;
  const first = limits.admit({ callId: 'c', paced, tokens: 60 });
  expect(first.limits).toEqual({
    requests: { limit: 3, remaining: 2, resetSeconds: 61 },
    tokens: { limit: 100, remaining: 40, resetSeconds: 61 },
  });
  time = at;
  const refused = refusal(() => limits.admit({ callId: 'd', paced, tokens: 60 }));
  expect(refused.rateLimits).toEqual({
    requests: { limit: 5, remaining: 4, resetSeconds: 31 },
    tokens: { limit: 100, remaining: 40, resetSeconds: 31 },
  });
});

test('a clock that jumps an hour ahead and back blocks no call for that hour', () => {
  const limits = open();
  const five = key({ requestsPerMinute: 5 });
  for (let i = 0; i < 5; i++) admit(limits, five, 0, START)(0);
  for (let i = 0; i < 5; i++) admit(limits, five, 0, START + 3_600_000)(0);
  expect(refusal(() => admit(limits, five, 0, START + 1500)).retryAfterSeconds).toBe(61);
  admit(limits, five, 0, START + 1500 + 61_000)(0);
});

test('events within any sixty seconds are counted together', () => {
  const limits = open();
  const sixty = key({ requestsPerMinute: 60 });
  const letIn: number[] = [];
  // A client that never stops calling, starting at the end of a second.
  for (let at = START + 900; at < START + 130_000; at += 50) {
    try {
      admit(limits, sixty, 0, at)(0);
      letIn.push(at);
    } catch {
      // Refused: it tries again later.
    }
  }
  const most = Math.max(...letIn.map((from) => letIn.filter((at) => at >= from && at < from + 60_000).length));
  expect(most).toBe(60);
  expect(letIn.length).toBeGreaterThanOrEqual(120);
});
