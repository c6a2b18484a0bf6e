import { describe, expect, test } from 'bun:test';
import { createDividedLimits } from './divided-limits.ts';
import type { Admitted, Paced } from './limits.ts';

const processes = (count: number, clock = () => 0) =>
  Array.from({ length: count }, (_, index) => createDividedLimits({ index, count }, clock));

/** How many of so many calls each process lets in. */
async function letIn(limits: ReturnType<typeof processes>, pace: Partial<Paced>, calls: number, tokens = 1) {
  const paced = [{ id: 'key', of: 'key' as const, ...pace }];
  const counts: number[] = [];
  for (const one of limits) {
    const admitted: Admitted[] = [];
    for (let at = 0; at < calls; at++) {
      try {
        admitted.push(await one.admit({ callId: `call_${at}`, paced, tokens }));
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'rate_limited' });
      }
    }
    counts.push(admitted.length);
  }
  return counts;
}

describe('several processes without Redis', () => {
  test('let in no more than the limit, all together', async () => {
    expect(await letIn(processes(4), { requestsPerMinute: 10 }, 20)).toEqual([3, 3, 2, 2]);
    expect(await letIn(processes(4), { concurrency: 10 }, 20)).toEqual([3, 3, 2, 2]);
    expect(await letIn(processes(4), { tokensPerMinute: 1000 }, 20, 50)).toEqual([5, 5, 5, 5]);
    expect(await letIn(processes(1), { requestsPerMinute: 10 }, 20)).toEqual([10]);
  });

  test('each lets in one call of a limit that is too small to divide', async () => {
    expect(await letIn(processes(3), { requestsPerMinute: 1 }, 5)).toEqual([1, 1, 1]);
    expect(await letIn(processes(3), { concurrency: 2 }, 5)).toEqual([1, 1, 1]);
    expect(await letIn(processes(3), { tokensPerMinute: 100 }, 5, 90)).toEqual([1, 1, 1]);
  });

  test('a limit of nothing lets nobody in', async () => {
    expect(await letIn(processes(2), { concurrency: 0 }, 5)).toEqual([0, 0]);
  });

  test('what is told to clients is the part of the process they came to', async () => {
    const [first] = processes(2);
    const paced = [{ id: 'key', of: 'key' as const, requestsPerMinute: 10 }];
    const { limits } = await first!.admit({ callId: 'call', paced, tokens: 1 });
    expect(limits?.requests).toMatchObject({ limit: 5, remaining: 4 });
  });
});
