import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import { isRepeatable, RetryBudget, retryDelayMs } from './retry.ts';

const failed = (status: number) => new GatewayError('upstream_failed', 'No.', { cause: { status } });
const limited = (retryAfterSeconds: number) => new GatewayError('rate_limited', 'No.', { retryAfterSeconds });

describe('what may be sent to the same target again', () => {
  test.each([
    [
      'a connection that was lost before any byte',
      new GatewayError('upstream_failed', 'x', { unanswered: true }),
      true,
    ],
    ['500', failed(500), true],
    ['503', failed(503), true],
    ['overloaded', new GatewayError('upstream_unavailable', 'x', { cause: { status: 529 } }), true],
    ['429 that ends soon', limited(5), true],
    ['429 without a retry time', new GatewayError('rate_limited', 'x'), true],
    ['429 that ends late', limited(6), false],
    ['an answer that broke off', new GatewayError('upstream_failed', 'x'), false],
    ['what took too long', new GatewayError('upstream_timeout', 'x'), false],
    ['a refusal of the request', new GatewayError('upstream_refused', 'x'), false],
    ['a credential that was refused', new GatewayError('upstream_failed', 'x', { credentialRefused: true }), false],
    ['what may have been done', new GatewayError('upstream_failed', 'x', { unanswered: true, inDoubt: true }), false],
  ])('%s', (_, error, is) => expect(isRepeatable(error)).toBe(is));
});

describe('the pause', () => {
  test('full jitter, doubling to eight seconds', () => {
    const most = [1, 2, 3, 4, 5, 6].map((retry) => retryDelayMs(failed(500), retry, () => 1));
    expect(most).toEqual([250, 500, 1000, 2000, 4000, 8000]);
    expect(retryDelayMs(failed(500), 3, () => 0)).toBe(0);
  });

  test('as long as a rate limit asks for, and a little at random', () => {
    expect(retryDelayMs(limited(2), 1, () => 0)).toBe(2000);
    expect(retryDelayMs(limited(2), 1, () => 0.5)).toBe(2125);
  });
});

describe('the budget of a provider', () => {
  test('a tenth of the calls of a minute, ten at least', () => {
    const budget = new RetryBudget();
    for (let i = 0; i < 50; i++) budget.called(1000);
    const taken = () => Array.from({ length: 1000 }, () => budget.take(1500)).filter(Boolean).length;
    expect(taken()).toBe(10);
    for (let i = 0; i < 250; i++) budget.called(2000);
    expect(taken()).toBe(20);
  });

  test('restarts each minute, measured by the previous one', () => {
    const budget = new RetryBudget();
    for (let i = 0; i < 500; i++) budget.called(1000);
    const taken = (now: number) => Array.from({ length: 1000 }, () => budget.take(now)).filter(Boolean).length;
    expect(taken(2000)).toBe(50);
    expect(taken(61_000)).toBe(50);
    expect(taken(200_000)).toBe(10);
  });
});
