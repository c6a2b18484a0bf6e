import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../../test/helpers/temp-folder.ts';
import { openStore } from './open-store.ts';

const folder = useTempFolder('open');

test.skipIf(process.platform === 'win32')(
  'the files of the database are for their owner, in a folder for all',
  async () => {
    const dataDir = join(folder, 'for-all');
    mkdirSync(dataDir, { mode: 0o755 });
    const store = await openStore({ dataDir });
    await store.migrate();
    const modes = readdirSync(dataDir).map((name) => [name, (statSync(join(dataDir, name)).mode & 0o777).toString(8)]);
    expect(Object.fromEntries(modes)).toEqual({
      'modelport.db': '600',
      'modelport.db-shm': '600',
      'modelport.db-wal': '600',
    });
    await store.close();
  },
);

test('a folder in which no file can be made is named with its setting', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  const dataDir = join(path, 'data');
  await expect(openStore({ dataDir })).rejects.toThrow(
    `The database ${join(dataDir, 'modelport.db')} cannot be made (ENOTDIR): MODELPORT_DATA_DIR must be a folder`,
  );
  await expect(openStore({ dataDir: path })).rejects.toThrow('cannot be made (EEXIST)');
});
