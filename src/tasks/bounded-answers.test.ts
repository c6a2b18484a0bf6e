import { describe, expect, test } from 'bun:test';
import { boundedProgress, boundedStart } from './bounded-answers.ts';

const queued = { state: 'queued' } as const;
const broken = (inDoubt: boolean) => expect.objectContaining({ code: 'upstream_failed', inDoubt });

describe('the id of a task', () => {
  test('passes, whatever it is made of', () => {
    for (const handle of ['video_9', 42, { id: 'a', place: ['b'] }])
      expect(boundedStart({ handle, seen: queued })).toEqual({ handle, seen: queued });
  });

  test.each([['\ud800'], [{ id: ['a\udfff'] }], ['x'.repeat(5000)]])(
    'that no address can hold is no id: %#',
    (handle) => {
      expect(() => boundedStart({ handle, seen: queued })).toThrow(broken(true));
      expect(() => boundedProgress({ ...queued, handle })).toThrow(broken(false));
    },
  );
});

describe('what a poll says', () => {
  test('no number is no percentage', () => {
    expect(boundedProgress({ ...queued, percent: Number.NaN })).toEqual(queued);
    expect(boundedProgress({ ...queued, percent: 33 })).toEqual({ ...queued, percent: 33 });
  });

  test('a failure is told in so many words', () => {
    const error = { code: 'c'.repeat(1e6), message: 'm'.repeat(1e6) };
    const { error: told } = boundedProgress({ state: 'failed', error });
    expect(told?.code).toHaveLength(200);
    expect(told?.message).toHaveLength(2000);
  });

  test('videos that nobody asked for are not fetched', () => {
    const found = Array.from({ length: 33 }, (_, at) => ({ url: `https://videos.test/${at}` }));
    expect(boundedProgress({ state: 'completed', found: found.slice(1) }).found).toHaveLength(32);
    expect(() => boundedProgress({ state: 'completed', found })).toThrow(broken(false));
  });
});
