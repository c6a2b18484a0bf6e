import { expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConnection } from './connection.ts';
import { endReads, readInThread } from './read-thread.ts';

test('a statement is read in a thread while this one continues; an error is thrown to its reader alone', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'modelport-read-')), 'a.db');
  const db = await openConnection(path, 'normal');
  await db.all({ text: 'CREATE TABLE t (n INTEGER)', values: [] });
  await db.all({ text: 'INSERT INTO t VALUES (9007199254740993), (2)', values: [] });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const counted = readInThread<{ n: bigint }>(path, {
    text: 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1) SELECT max(n) AS n FROM c',
    values: [300_000],
  });
  const [wrong, missing, slow, fast] = await Promise.allSettled([
    readInThread(path, { text: 'SELECT * FROM missing', values: [] }),
    readInThread(`${path}.none`, { text: 'SELECT 1', values: [] }),
    counted,
    db.scan({ text: 'SELECT n FROM t WHERE n > $1 ORDER BY n', values: [1] }),
  ]);
  clearInterval(timer);
  const many = { text: 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1) SELECT n FROM c' };
  for (const count of [1999, 2000, 2001, 4500]) {
    // They arrive in parts.
    const rows = await readInThread<{ n: bigint }>(path, { ...many, values: [count] });
    expect(rows).toEqual(Array.from({ length: count }, (_, place) => ({ n: BigInt(place + 1) })));
  }
  expect(wrong).toMatchObject({ status: 'rejected', reason: { message: 'no such table: missing' } });
  expect(missing).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_CANTOPEN' } });
  expect(slow).toEqual({ status: 'fulfilled', value: [{ n: 300_000n }] });
  expect(fast).toEqual({ status: 'fulfilled', value: [{ n: 2n }, { n: 9_007_199_254_740_993n }] });
  expect(turns).toBeGreaterThan(0);
  await endReads(path);
  db.file.close();
});
