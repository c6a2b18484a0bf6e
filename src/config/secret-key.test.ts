import { expect, spyOn, test } from 'bun:test';
import * as fs from 'node:fs';
import { existsSync, fstatSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../../test/helpers/temp-folder.ts';
import { ledgerKeyOf } from './ledger-key.ts';
import { forgetOldKey, rotateKeyFile, secretKeys } from './secret-key.ts';

const folder = useTempFolder('keys');
const fresh = () => ({ dataDir: mkdtempSync(join(folder, 'data-')) });
const GIVEN = 'given-key-0123456789-0123456789-01';

test('a key is made once, readable by its owner only', () => {
  const settings = fresh();
  const keys = secretKeys(settings);
  expect(keys.read()).toEqual({ current: undefined, previous: [] });
  const key = keys.make();
  expect(key).toHaveLength(43);
  expect(secretKeys(settings).make()).toBe(key);
  expect(statSync(join(settings.dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
});

test('a file without a key is an error: nothing is encrypted with an empty one', () => {
  const settings = fresh();
  writeFileSync(join(settings.dataDir, 'secret.key'), '');
  expect(() => secretKeys(settings).make()).toThrow('is empty: remove it');
  writeFileSync(join(settings.dataDir, 'ledger.key'), 'cut');
  expect(() => ledgerKeyOf(settings.dataDir)).toThrow('is cut off: remove it');
});

test('the name of a key that is made or replaced is on disk', () => {
  const settings = fresh();
  let synced = 0;
  const sync = spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    if (fstatSync(descriptor).ino === statSync(settings.dataDir).ino) synced++;
  });
  const countOf = (work: () => unknown) => {
    synced = 0;
    work();
    return synced;
  };
  expect(countOf(() => ledgerKeyOf(settings.dataDir))).toBe(1);
  expect(countOf(() => secretKeys(settings).make())).toBe(1);
  // The previous key, the new one beside it, and the new one in its place.
  expect(countOf(() => rotateKeyFile(settings))).toBe(3);
  sync.mockRestore();
});

test('a full disk leaves no file without a key', () => {
  const { dataDir } = fresh();
  const program = join(dataDir, 'make.ts');
  writeFileSync(
    program,
    `import { ledgerKeyOf } from ${JSON.stringify(join(import.meta.dir, 'ledger-key.ts'))};
    import { secretKeys } from ${JSON.stringify(join(import.meta.dir, 'secret-key.ts'))};
    const dataDir = process.argv[2];
    for (const make of [() => secretKeys({ dataDir }).make(), () => ledgerKeyOf(dataDir)])
      try {
        console.log(make());
      } catch (thrown) {
        console.log((thrown.cause ?? thrown).code);
      }`,
  );
  const script = 'trap "" XFSZ; ulimit -f 0 && exec "$@"';
  const { stdout } = Bun.spawnSync(['sh', '-c', script, 'sh', process.execPath, program, dataDir], { stdout: 'pipe' });
  expect(stdout.toString()).toBe('EFBIG\nEFBIG\n');
  expect(readdirSync(dataDir)).toEqual(['make.ts']);
  expect(ledgerKeyOf(dataDir)).toHaveLength(43);
  expect(ledgerKeyOf(dataDir)).toBe(ledgerKeyOf(dataDir));
  expect(readdirSync(dataDir)).toEqual(['ledger.key', 'make.ts']);
});

test("a key in the settings has precedence, and the file's key is the previous one", () => {
  const settings = fresh();
  const file = secretKeys(settings).make();
  const keys = secretKeys({ ...settings, secretKey: GIVEN, secretKeyPrevious: 'before' });
  expect(keys.read()).toEqual({ current: GIVEN, previous: ['before', file] });
  expect(rotateKeyFile({ ...settings, secretKey: GIVEN })).toBe(false);
  expect(secretKeys(settings).read().current).toBe(file);
});

test('a rotation can be interrupted at every step', () => {
  const settings = fresh();
  const keys = secretKeys(settings);
  const first = keys.make();
  const previous = join(settings.dataDir, 'secret.key.previous');
  // Interrupted after the old key was moved, before a new one was made.
  writeFileSync(previous, readFileSync(join(settings.dataDir, 'secret.key')));
  writeFileSync(join(settings.dataDir, 'secret.key.new'), 'half');
  expect(rotateKeyFile(settings)).toBe(true);
  const { current, previous: old } = keys.read();
  expect(current).not.toBe(first);
  expect(old).toEqual([first]);
  // Interrupted before everything was re-encrypted: no third key is made.
  expect(rotateKeyFile(settings)).toBe(true);
  expect(keys.read()).toEqual({ current, previous: [first] });
  forgetOldKey(settings.dataDir);
  expect(existsSync(previous)).toBe(false);
  rotateKeyFile(settings);
  expect(keys.read().previous).toEqual([current as string]);
});
