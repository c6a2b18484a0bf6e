import { expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { createLiveCalls } from './live-calls.ts';

const TRACE = undefined as never;

/** A listener that does nothing with what it gets. */
function listen(live: ReturnType<typeof createLiveCalls>, who: string) {
  return live.listen(
    who,
    () => {},
    () => {},
  );
}

test('every listener gets what ends, until it leaves', () => {
  const live = createLiveCalls();
  const [one, other]: [string[], string[]] = [[], []];
  live.sink.ended?.(TRACE, callRow({ id: 'before', at: 1 }));
  const leave = live.listen(
    'ann',
    ({ id }) => one.push(id),
    () => one.push('end'),
  );
  live.listen(
    'ann',
    ({ id }) => other.push(id),
    () => other.push('end'),
  );
  live.sink.ended?.(TRACE, callRow({ id: 'a', at: 1 }));
  leave?.();
  live.sink.taskEnded?.(TRACE, callRow({ id: 'b', at: 1 }));
  live.close();
  live.sink.ended?.(TRACE, callRow({ id: 'after', at: 1 }));
  expect([one, other]).toEqual([['a'], ['a', 'b', 'end']]);
  expect(listen(live, 'ann')).toBeUndefined();
});

test('there is a maximum of listeners', () => {
  const live = createLiveCalls(1);
  const leave = listen(live, 'ann');
  expect(listen(live, 'ann')).toBeUndefined();
  leave?.();
  expect(listen(live, 'ann')).toBeDefined();
});

test('one reader does not take the places of all others', () => {
  const live = createLiveCalls(10, 2);
  const first = listen(live, 'ann');
  const others = ['ann', 'ann', 'bob'].map((who) => listen(live, who));
  expect(others.map((leave) => leave !== undefined)).toEqual([true, false, true]);
  first?.();
  expect(listen(live, 'ann')).toBeDefined();
});
