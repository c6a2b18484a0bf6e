import { describe, expect, test } from 'bun:test';
import { createDividedLimits } from './divided-limits.ts';
import type { Admitted, Paced } from './limits.ts';

const processes = (count: number, clock = () => 0) =>
  Array.from({ length: count }, (_, index) => createDividedLimits({ index, count }, clock));

/** How many of `calls` calls each process admits. */
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
  test('together they admit no more than the limit', async () => {
    expect(await letIn(processes(4), { requestsPerMinute: 10 }, 20)).toEqual([3, 3, 2, 2]);
    expect(await letIn(processes(4), { concurrency: 10 }, 20)).toEqual([3, 3, 2, 2]);
    expect(await letIn(processes(4), { tokensPerMinute: 1000 }, 20, 50)).toEqual([5, 5, 5, 5]);
    expect(await letIn(processes(1), { requestsPerMinute: 10 }, 20)).toEqual([10]);
  });

  test('each process admits one call if the limit is too small to divide', async () => {
    expect(await letIn(processes(3), { requestsPerMinute: 1 }, 5)).toEqual([1, 1, 1]);
    expect(await letIn(processes(3), { concurrency: 2 }, 5)).toEqual([1, 1, 1]);
    expect(await letIn(processes(3), { tokensPerMinute: 100 }, 5, 90)).toEqual([1, 1, 1]);
  });

  test('a limit of 0 admits no call', async () => {
    expect(await letIn(processes(2), { concurrency: 0 }, 5)).toEqual([0, 0]);
  });

  test('the reported allowance is that of the process which answers', async () => {
    const [first] = processes(2);
    const paced = [{ id: 'key', of: 'key' as const, requestsPerMinute: 10 }];
    const { limits } = await first!.admit({ callId: 'call', paced, tokens: 1 });
    expect(limits?.requests).toMatchObject({ limit: 5, remaining: 4 });
  });
});
