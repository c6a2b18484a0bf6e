import { describe, expect, test } from 'bun:test';
import { Bulkhead, type Waiter } from './bulkhead.ts';

const entering = (account: string, tokens = 0) => ({ account, tokens });

/** A waiter that notes its name once it is let in. */
function waiter(name: string, account: string, seen: string[], tokens = 0, credentials = ['']): Waiter {
  return {
    account,
    tokens,
    credentials,
    settle: (credential) => void seen.push(credential === undefined ? `${name} gave up` : name),
  };
}

describe('calls at once', () => {
  test('as many as are allowed with each credential', () => {
    const bulkhead = new Bulkhead({ concurrency: 2 });
    expect([1, 2, 3].map(() => bulkhead.enter('k1', entering('a'), 0))).toEqual([true, true, false]);
    expect(bulkhead.enter('k2', entering('a'), 0)).toBe(true);
    bulkhead.leave('k1', entering('a'), undefined, 0);
    expect(bulkhead.enter('k1', entering('a'), 0)).toBe(true);
    expect(bulkhead.calls).toBe(3);
  });

  test('a waiting call is admitted when another ends, in the order of arrival', () => {
    const bulkhead = new Bulkhead({ concurrency: 1 });
    const seen: string[] = [];
    bulkhead.enter('', entering('a'), 0);
    bulkhead.queue(waiter('first', 'a', seen), 0);
    bulkhead.queue(waiter('second', 'a', seen), 0);
    bulkhead.leave('', entering('a'), undefined, 1);
    expect(seen).toEqual(['first']);
    expect(bulkhead.enter('', entering('a'), 1)).toBe(false);
    bulkhead.leave('', entering('a'), undefined, 2);
    expect(seen).toEqual(['first', 'second']);
    expect(bulkhead.queued).toBe(0);
  });

  test('an account that floods does not starve another', () => {
    const bulkhead = new Bulkhead({ concurrency: 20 });
    const seen: string[] = [];
    for (let i = 0; i < 20; i++) bulkhead.enter('', entering('flood'), 0);
    for (let i = 0; i < 500; i++) bulkhead.queue(waiter(`flood ${i}`, 'flood', seen), 0);
    for (let i = 0; i < 5; i++) bulkhead.queue(waiter(`calm ${i}`, 'calm', seen), 0);
    for (let i = 0; i < 5; i++) bulkhead.leave('', entering('flood'), undefined, 1);
    expect(seen).toEqual(['calm 0', 'calm 1', 'calm 2', 'calm 3', 'calm 4']);
  });

  test('a call that gives up is reported once and takes no place', () => {
    const bulkhead = new Bulkhead({ concurrency: 1 });
    const seen: string[] = [];
    bulkhead.enter('', entering('a'), 0);
    const impatient = waiter('one', 'a', seen);
    bulkhead.queue(impatient, 0);
    bulkhead.giveUp(impatient);
    bulkhead.giveUp(impatient);
    bulkhead.leave('', entering('a'), undefined, 1);
    expect(seen).toEqual(['one gave up']);
    expect(bulkhead.calls).toBe(0);
  });
});

describe('tokens per minute', () => {
  test('flow in evenly', () => {
    const bulkhead = new Bulkhead({ tokensPerMinute: 6000 });
    expect(bulkhead.enter('', entering('a', 6000), 0)).toBe(true);
    expect(bulkhead.enter('', entering('a', 100), 0)).toBe(false);
    expect(bulkhead.enter('', entering('a', 100), 999)).toBe(false);
    expect(bulkhead.enter('', entering('a', 100), 1000)).toBe(true);
  });

  test('the actual tokens of a call count once it has ended', () => {
    const bulkhead = new Bulkhead({ tokensPerMinute: 6000 });
    bulkhead.enter('', entering('a', 1000), 0);
    bulkhead.leave('', entering('a', 1000), 6000, 0);
    expect(bulkhead.hasPlace('', 100, 0)).toBe(false);
    const other = new Bulkhead({ tokensPerMinute: 6000 });
    other.enter('', entering('a', 6000), 0);
    other.leave('', entering('a', 6000), 0, 0);
    expect(other.hasPlace('', 6000, 0)).toBe(true);
  });

  test('a call that is larger than the limit is admitted when the whole minute is free', () => {
    const bulkhead = new Bulkhead({ tokensPerMinute: 6000 });
    expect(bulkhead.enter('', entering('a', 50_000), 0)).toBe(true);
    expect(bulkhead.hasPlace('', 1, 60_000)).toBe(false);
  });

  test('the waiting time for tokens is known', () => {
    const bulkhead = new Bulkhead({ tokensPerMinute: 6000 });
    const seen: string[] = [];
    bulkhead.enter('', entering('a', 6000), 0);
    const one = waiter('one', 'a', seen, 500);
    const other = { ...waiter('other', 'a', seen, 500), wake: () => void seen.push('other is next') };
    bulkhead.queue(one, 0);
    bulkhead.queue(other, 0);
    expect([bulkhead.tokensMs(one, 0), bulkhead.tokensMs(other, 0)]).toEqual([5000, Number.POSITIVE_INFINITY]);
    bulkhead.admitWaiting(4000);
    expect(seen).toEqual([]);
    bulkhead.admitWaiting(5000);
    expect(seen).toEqual(['one', 'other is next']);
    expect(bulkhead.tokensMs(other, 5000)).toBe(5000);
  });
});
