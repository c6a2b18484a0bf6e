import { describe, expect, test } from 'bun:test';
import { boundedProgress, boundedStart } from './bounded-answers.ts';

const queued = { state: 'queued' } as const;
const broken = (inDoubt: boolean) => expect.objectContaining({ code: 'upstream_failed', inDoubt });

describe('the id of a task', () => {
  test('any id within the limits is accepted', () => {
    for (const handle of ['video_9', 42, { id: 'a', place: ['b'] }])
      expect(boundedStart({ handle, seen: queued })).toEqual({ handle, seen: queued });
  });

  test.each([['\ud800'], [{ id: ['a\udfff'] }], ['x'.repeat(5000)]])(
    'an id that cannot be stored or put into a URL is refused: %#',
    (handle) => {
      expect(() => boundedStart({ handle, seen: queued })).toThrow(broken(true));
      expect(() => boundedProgress({ ...queued, handle })).toThrow(broken(false));
    },
  );
});

describe('the progress reported by a provider', () => {
  test('an invalid percentage is ignored', () => {
    expect(boundedProgress({ ...queued, percent: Number.NaN })).toEqual(queued);
    expect(boundedProgress({ ...queued, percent: 33 })).toEqual({ ...queued, percent: 33 });
  });

  test('a long error message is shortened', () => {
    const error = { code: 'c'.repeat(1e6), message: 'm'.repeat(1e6) };
    const { error: bounded } = boundedProgress({ state: 'failed', error });
    expect(bounded?.code).toHaveLength(200);
    expect(bounded?.message).toHaveLength(2000);
  });

  test('more videos than requested are refused', () => {
    const found = Array.from({ length: 33 }, (_, at) => ({ url: `https://videos.test/${at}` }));
    expect(boundedProgress({ state: 'completed', found: found.slice(1) }).found).toHaveLength(32);
    expect(() => boundedProgress({ state: 'completed', found })).toThrow(broken(false));
  });
});
