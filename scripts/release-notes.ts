/**
 * `node bin/bun.mjs scripts/release-notes.ts 1.2.3`: prints the changelog's section of a version. Fails if there is none, or if
 * package.json has another version.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './source-files.ts';

/** The text below `## VERSION - DATE`, up to the next version, or `undefined`. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => {
    const [heading = ''] = text.split('\n');
    return heading.startsWith(`${version} - `) && /^\d{4}-\d\d-\d\d$/.test(heading.slice(version.length + 3));
  });
  return section?.slice(section.indexOf('\n')).trim();
}

/** Headings that are neither `Unreleased` nor a version with a date. */
export function wrongHeadings(changelog: string): string[] {
  const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.filter((heading) => heading !== 'Unreleased' && !/^\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$/.test(heading));
}

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

/** Entries that stand twice in one version, or below no kind (`### Added`), or below two headings of one kind. */
export function misplacedEntries(changelog: string): string[] {
  const faults: string[] = [];
  for (const version of changelog.split(/^## /m).slice(1)) {
    const [unsorted = '', ...kinds] = version.split(/^### /m);
    faults.push(...entriesOf(unsorted).map((entry) => `below no kind: ${entry}`));
    const names = kinds.map((kind) => kind.slice(0, kind.indexOf('\n')));
    faults.push(...names.filter((name, place) => !KINDS.includes(name) || names.indexOf(name) < place));
    const entries = kinds.flatMap(entriesOf);
    faults.push(...entries.filter((entry, place) => entries.indexOf(entry) < place).map((entry) => `twice: ${entry}`));
  }
  return faults;
}

/** Each as one line. */
function entriesOf(text: string): string[] {
  return [...text.matchAll(/^- .*(?:\n {2}.*)*/gm)].map(([entry]) => entry.replace(/\s+/g, ' '));
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  const named = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  if (named !== version || notes === undefined) {
    const why = named === version ? `CHANGELOG.md has no "## ${version} - DATE"` : `package.json has version ${named}`;
    console.error(`The tag is ${version}, but ${why}.`);
    process.exit(1);
  }
  console.log(notes);
}
