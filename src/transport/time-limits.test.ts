import { expect, test } from 'bun:test';
import { createWatch, type Watched } from './time-limits.ts';

test('all that is watched is looked at in each round, also while others leave', async () => {
  const watch = createWatch();
  const looks = { first: 0, second: 0, third: 0, fourth: 0, last: 0 };
  const watched = (name: keyof typeof looks, act: () => void = () => {}): Watched => ({
    place: -1,
    look() {
      looks[name]++;
      act();
      return 0;
    },
  });
  const rounds = Promise.withResolvers<void>();
  const second = watched('second');
  const last = watched('last');
  const first = watched('first', () => {
    watch.delete(first);
    watch.delete(last);
  });
  const third = watched('third', () => watch.delete(second));
  const fourth = watched('fourth', () => {
    if (looks.fourth === 3) rounds.resolve();
  });
  const all = [first, second, third, fourth, last];
  for (const one of all) watch.add(one);
  await rounds.promise;
  expect(looks).toMatchObject({ first: 1, second: 0, fourth: 3 });
  expect(looks.third).toBeGreaterThanOrEqual(2);
  expect(looks.last).toBeGreaterThanOrEqual(1);
  const before = looks.last;
  for (const one of all) watch.delete(one);
  for (const one of all) watch.delete(one);
  const again = Promise.withResolvers<void>();
  const late = watched('first', again.resolve);
  watch.add(late);
  await again.promise;
  watch.delete(late);
  expect(looks).toMatchObject({ first: 2, second: 0, fourth: 3, last: before });
});

test('one that need not look yet is left out, also at another place, until its time has come', async () => {
  const watch = createWatch();
  const looks = { resting: 0, due: 0 };
  const rounds = Promise.withResolvers<void>();
  const leaving: Watched = { place: -1, look: () => 0 };
  const resting: Watched = {
    place: -1,
    look() {
      looks.resting++;
      return Number.POSITIVE_INFINITY;
    },
  };
  const due: Watched = {
    place: -1,
    look(now) {
      looks.due++;
      if (looks.due === 3) rounds.resolve();
      // The last one takes its place.
      watch.delete(leaving);
      return now + 1;
    },
  };
  for (const one of [leaving, due, resting]) watch.add(one);
  await rounds.promise;
  for (const one of [due, resting]) watch.delete(one);
  expect(resting.place).toBe(-1);
  expect(looks).toEqual({ resting: 1, due: 3 });
});
