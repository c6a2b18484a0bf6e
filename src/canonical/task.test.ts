import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { advance, end, isOver, type Progress, type TaskCourse, type TaskState } from './task.ts';

const ORDER: TaskState[] = ['queued', 'in_progress', 'completed', 'failed'];
const QUEUED: TaskCourse = { state: 'queued', percent: 0 };

const progress: fc.Arbitrary<Progress> = fc.record(
  {
    state: fc.constantFrom(...ORDER),
    percent: fc.oneof(fc.integer({ min: -50, max: 200 }), fc.double()),
    error: fc.constant({ code: 'c', message: 'm' }),
  },
  { requiredKeys: ['state'] },
);

test('whatever a vendor says in whatever order, a task never goes back', () => {
  fc.assert(
    fc.property(fc.array(progress, { maxLength: 30 }), (seen) => {
      let task = QUEUED;
      for (const [at, one] of seen.entries()) {
        const next = advance(task, one, at);
        expect(ORDER.indexOf(next.state)).toBeGreaterThanOrEqual(ORDER.indexOf(task.state));
        expect(next.percent).toBeGreaterThanOrEqual(task.percent);
        expect(next.percent).toBeLessThan(100);
        if (isOver(task)) expect(next).toBe(task);
        if (task.startedAt !== undefined) expect(next.startedAt).toBe(task.startedAt);
        expect(next.state).not.toBe('completed');
        task = next;
      }
    }),
  );
});

test('it ends once', () => {
  const done = end(advance(QUEUED, { state: 'completed' }, 1), 'completed', 2);
  expect(done).toEqual({ state: 'completed', percent: 100, startedAt: 1, endedAt: 2 });
  expect(end(done, { error: { code: 'c', message: 'm' } }, 3)).toBe(done);
  expect(advance(done, { state: 'failed' }, 3)).toBe(done);
});
