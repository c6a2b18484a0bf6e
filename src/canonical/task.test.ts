import { expect, test } from 'bun:test';
import { advance, end, type TaskCourse, type TaskProgress } from './task.ts';

const fresh: TaskCourse = { state: 'queued', percent: 0 };
const working: TaskProgress = { state: 'in_progress', percent: 40 };

test('progress never decreases, and is 100 only at the end', () => {
  let task = advance(fresh, working, 1);
  expect(task).toEqual({ state: 'in_progress', percent: 40, startedAt: 1 });
  for (const percent of [10, 80, -5, 500]) task = advance(task, { state: 'in_progress', percent }, 2);
  expect(task).toEqual({ state: 'in_progress', percent: 99, startedAt: 1 });
  expect(end(task, 'completed', 3)).toEqual({ state: 'completed', percent: 100, startedAt: 1, endedAt: 3 });
});

test('a task in progress is never queued again, and an ended one never changes', () => {
  expect(advance(advance(fresh, working, 1), { state: 'queued' }, 2).state).toBe('in_progress');
  const failed = advance(fresh, { state: 'failed' }, 1);
  expect(failed).toMatchObject({ state: 'failed', endedAt: 1, error: { code: 'generation_failed' } });
  expect(advance(failed, working, 2)).toBe(failed);
  expect(end(failed, 'completed', 2)).toBe(failed);
});

test('a finished provider does not complete the task: its results must be stored first', () => {
  expect(advance(fresh, { state: 'completed' }, 1)).toEqual({ state: 'in_progress', percent: 99, startedAt: 1 });
});
