import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkIntegrity, choosePlatforms, platformsOf } from './build-binary.ts';
import { ASSET_FOLDERS, buildAssets, entrypoints } from './program-build.ts';
import { ROOT } from './source-files.ts';

const pinned = platformsOf(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));

test('every pinned runtime is a platform', () => {
  expect(pinned.map(({ name }) => name).sort()).toEqual([
    'darwin-arm64',
    'darwin-x64',
    'linux-arm64',
    'linux-arm64-musl',
    'linux-x64',
    'linux-x64-musl',
    'windows-x64',
  ]);
  expect(pinned.find(({ name }) => name === 'windows-x64')?.executable).toBe('bun.exe');
});

test('without names the own platform is built, and an unknown one is refused', () => {
  expect(choosePlatforms([], pinned, 'linux-x64').map(({ runtime }) => runtime)).toEqual(['@oven/bun-linux-x64']);
  const [musl] = choosePlatforms(['linux-arm64-musl'], pinned, 'linux-x64');
  expect(musl?.runtime).toBe('@oven/bun-linux-aarch64-musl');
  expect(() => choosePlatforms(['linux-mips'], pinned, 'linux-x64')).toThrow('There is no platform "linux-mips"');
});

test('a runtime without the checksum of the lockfile is refused', () => {
  const bytes = Buffer.from('a runtime');
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  checkIntegrity(bytes, integrity, '@oven/bun-linux-x64');
  expect(() => checkIntegrity(Buffer.from('another'), integrity, '@oven/bun-linux-x64')).toThrow(
    '@oven/bun-linux-x64 does not have the checksum of package-lock.json.',
  );
});

test('the console is built with the program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-assets-'));
  try {
    buildAssets(folder);
    expect(readdirSync(folder)).toEqual(ASSET_FOLDERS);
    expect(readFileSync(join(folder, 'console', 'index.html'), 'utf8')).toMatch(/src="\/console\/[\w-]+\.js"/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every thread has a file of its own in the build', () => {
  expect(entrypoints().map((path) => path.slice(ROOT.length + 1))).toEqual([
    'src/main.ts',
    'src/http/bodies/json-worker.ts',
    'src/ledger/tokens/count-worker.ts',
    'src/people/webauthn-worker.ts',
    'src/store/sqlite/checkpoint-worker.ts',
    'src/store/sqlite/read-worker.ts',
    'src/store/sqlite/verify-worker.ts',
    'src/watchdog-worker.ts',
  ]);
});
