import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { misplacedEntries, notesOf, wrongHeadings } from './release-notes.ts';
import { ROOT } from './source-files.ts';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- c\n\n## 1.1.0 - 2027-01-31\n\n- b\n\n## 1.0.0 - 2027-01-01\n\n- a\n';

test('the notes of a release are its section, and a section without a date is not found', () => {
  expect(notesOf(CHANGELOG, '1.1.0')).toBe('- b');
  expect(notesOf(CHANGELOG, '1.0.0')).toBe('- a');
  expect(notesOf(CHANGELOG, '1.0')).toBeUndefined();
  expect(notesOf(CHANGELOG.replace(' - 2027-01-31', ''), '1.1.0')).toBeUndefined();
});

test('the changelog has only unreleased changes and dated versions', () => {
  expect(wrongHeadings(CHANGELOG.replace(' - 2027-01-31', ' soon'))).toEqual(['1.1.0 soon']);
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  expect(wrongHeadings(changelog)).toEqual([]);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(notesOf(changelog, version)).toBeTruthy();
});

test('each entry of the changelog occurs once, below its kind', () => {
  const changelog =
    '## Unreleased\n\n- x\n\n### Added\n\n- a\n  b\n- c\n\n### Fixed\n\n- a b\n\n### Added\n\n## 1.0.0 - 2027-01-01\n';
  expect(misplacedEntries(changelog)).toEqual(['below no kind: - x', 'Added', 'twice: - a b']);
  expect(misplacedEntries(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))).toEqual([]);
});
