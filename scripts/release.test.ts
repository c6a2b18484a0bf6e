import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseFaults, sumsOf, verify } from './release.ts';

const SOURCES = {
  version: '1.2.3',
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2027-01-31\n\n- New.\n',
  chart: 'version: 1.2.3\nappVersion: 1.2.3\n',
  changes: '',
  tagged: 'aaaa',
  head: 'aaaa',
};

test('a version is released if every file has it, from its tag, without other changes', () => {
  expect(releaseFaults('1.2.3', SOURCES)).toEqual([]);
  expect(releaseFaults('1.2.3', { ...SOURCES, tagged: '' })).toEqual([]);
  expect(releaseFaults('1.2', SOURCES)).toHaveLength(5);
  for (const [change, fault] of [
    [{ version: '1.2.2' }, 'package.json has version 1.2.2.'],
    [{ changelog: '## 1.2.3 - soon\n' }, 'CHANGELOG.md has no "## 1.2.3 - DATE".'],
    [{ chart: 'version: 1.2.3\nappVersion: 1.2.2\n' }, 'Chart.yaml has appVersion 1.2.2.'],
    [{ changes: ' M src/main.ts' }, 'There are uncommitted changes.'],
    [{ head: 'bbbb' }, 'The tag v1.2.3 is another commit.'],
  ] as const)
    expect(releaseFaults('1.2.3', { ...SOURCES, ...change })).toEqual([fault]);
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A release as `build` makes it, without the binaries. */
function makeRelease(manifest: object, appVersion = '1.2.3'): void {
  const parts = mkdtempSync(join(tmpdir(), 'modelport-parts-'));
  for (const name of ['package', 'modelport']) mkdirSync(join(parts, name));
  writeFileSync(
    join(parts, 'package', 'package.json'),
    JSON.stringify({ name: 'modelport', version: '1.2.3', ...manifest }),
  );
  writeFileSync(join(parts, 'modelport', 'Chart.yaml'), `appVersion: ${appVersion}\n`);
  for (const [archive, name] of [
    ['modelport-1.2.3.tgz', 'package'],
    ['modelport-chart-1.2.3.tgz', 'modelport'],
  ] as const)
    Bun.spawnSync(['tar', '-czf', archive, '-C', parts, name], { cwd: folder });
  const bom = { metadata: { component: { version: '1.2.3' } }, components: [{ name: 'hono', version: '4.0.0' }] };
  writeFileSync(join(folder, 'modelport-1.2.3.cdx.json'), JSON.stringify(bom));
  writeFileSync(join(folder, 'RELEASE_NOTES.md'), '- New.\n');
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(folder));
  rmSync(parts, { recursive: true });
}

test('a release is verified by its checksums', () => {
  expect(verify(folder)).toEqual([`${folder} has no SHA256SUMS.`]);
  makeRelease({ dependencies: { hono: '4.0.0' } });
  expect(verify(folder)).toEqual([]);
  writeFileSync(join(folder, 'RELEASE_NOTES.md'), '- Newer.\n');
  expect(verify(folder)).toEqual(['RELEASE_NOTES.md does not have the checksum of SHA256SUMS.']);
  renameSync(join(folder, 'RELEASE_NOTES.md'), join(folder, 'more'));
  expect(verify(folder)).toEqual([
    'RELEASE_NOTES.md is missing.',
    'more is not in SHA256SUMS.',
    'There is no RELEASE_NOTES.md.',
  ]);
});

test.each([
  [{ version: '1.2.2' }, 'The npm package has version 1.2.2, not 1.2.3.'],
  [{ private: true }, 'The npm package is private: npm refuses to publish it.'],
  [{ optionalDependencies: { other: '1.0.0' } }, 'The bill of materials has no other@1.0.0.'],
])('a package with %j is found', (manifest, fault) => {
  makeRelease(manifest);
  expect(verify(folder)).toEqual([fault]);
});

test('a chart of another version is found', () => {
  makeRelease({}, '1.2.2');
  expect(verify(folder)).toEqual(['The chart is of 1.2.2, not of 1.2.3.']);
});

test.skipIf(process.platform === 'win32')('a binary of another version is found', () => {
  makeRelease({});
  const musl = process.execPath.includes('-musl') ? '-musl' : '';
  const name = `modelport-${process.platform}-${process.arch}${musl}`;
  writeFileSync(join(folder, name), '#!/bin/sh\necho 1.2.2\n');
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(folder));
  expect(verify(folder)).toEqual([`${name} prints version 1.2.2, not 1.2.3.`]);
});
