import { describe, expect, test } from 'bun:test';
import { notReady, READY, type Readiness } from '../../../store/readiness.ts';
import { createReadiness } from './readiness.ts';

describe('readiness queries', () => {
  test('the database is queried at most once a second, for any number of requests', async () => {
    let at = 0;
    let count = 0;
    const ask = () => Promise.resolve(count++ === 0 ? READY : notReady('x'));
    const readiness = createReadiness({ ask, now: () => at });
    expect(await Promise.all([readiness(), readiness()])).toEqual([READY, READY]);
    at = 999;
    expect(await readiness()).toEqual(READY);
    at = 1000;
    expect(await readiness()).toEqual(notReady('x'));
    expect(count).toBe(2);
  });

  test('a silent database is not ready, and is not queried again until it answers', async () => {
    const answer = Promise.withResolvers<Readiness>();
    let count = 0;
    const ask = () => {
      count++;
      return answer.promise;
    };
    const readiness = createReadiness({ ask, patienceMs: 5 });
    const late = notReady('The database has not answered for 5 ms.');
    expect(await readiness()).toEqual(late);
    expect(await readiness()).toEqual(late);
    answer.resolve(READY);
    expect(await readiness()).toEqual(READY);
    expect(count).toBe(1);
  });
});
