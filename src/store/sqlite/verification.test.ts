import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../open-store.ts';
import { verifySqlite } from './verification.ts';

test('verifications at the same time and one after the other give the report of their own ledger, also after one that failed', async () => {
  const folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `modelport-verification-${name}-`)));
  const verify = (folder: string) => verifySqlite(join(folder, 'modelport.db'), { full: true });
  try {
    for (const [index, dataDir] of folders.entries()) {
      const store = await openStore({ dataDir });
      await store.migrate();
      // One account more in each; the second ledger does not agree with its account.
      for (let number = 0; number <= index; number++) {
        await store.createAccount({ id: `acc_${number}`, name: `n${number}`, balance: 0n, held: 0n, createdAt: 1 });
      }
      await store.close();
      const file = new Database(join(dataDir, 'modelport.db'));
      file.run("UPDATE accounts SET held = 5 WHERE id = 'acc_1'");
      file.close();
    }
    const [a, b] = folders as [string, string];
    const expected = async () => {
      const reports = await Promise.all([verify(a), verify(b)]);
      expect(reports.map(({ accounts }) => accounts)).toEqual([1, 2]);
      expect(reports.map(({ faults }) => faults.length)).toEqual([0, 1]);
    };
    await expected();
    await expected();
    await expect(verify(join(a, 'missing'))).rejects.toThrow('unable to open database file');
    await expected();
    expect((await verify(b)).faults).toHaveLength(1);
    expect((await verify(a)).faults).toEqual([]);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
});
