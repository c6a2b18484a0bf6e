import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgetOldKey, rotateKeyFile, secretKeys } from './secret-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));
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
