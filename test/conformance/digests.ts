/** Digests of accepted translations, so that every change is noticed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCarriedSignature } from '../../src/dialects/chat/carried-signature.ts';
import { replyBytes } from '../helpers/fixtures.ts';
import type { Grid } from './grid.ts';
import { TARGETS, type Translation } from './translate-replies.ts';
import type { RequestTranslation } from './translate-requests.ts';

const FILE = join(import.meta.dir, 'digests.json');
const DIGEST_LENGTH = 8;
const NONE = '-'.repeat(DIGEST_LENGTH);

/** For each recording the digests of its translations, in the order of `targets`. */
interface Digests {
  targets: string[];
  replies: { [file: string]: string };
  requests: { [file: string]: string };
}

export function digestsOf({ replies, requests }: Grid): Digests {
  const targets = TARGETS.map(({ name }) => name);
  return { targets, replies: rowsOf(replies, targets), requests: rowsOf(requests, targets) };
}

function rowsOf(translations: readonly (Translation | RequestTranslation)[], targets: readonly string[]) {
  const rows: { [file: string]: string } = {};
  const byFile = Map.groupBy(translations, ({ source }) => source.recorded.file);
  for (const [file, all] of [...byFile].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    rows[file] = targets.map((target) => digestOf(all.filter((one) => one.target.name === target))).join(' ');
  }
  return rows;
}

/** Non-streaming and streaming together. */
function digestOf(translations: readonly (Translation | RequestTranslation)[]): string {
  if (translations.length === 0) return NONE;
  const hasher = new Bun.CryptoHasher('sha256');
  for (const translation of translations) {
    const { body, warnings } = translation;
    const refused = 'refused' in translation ? translation.refused : undefined;
    hasher.update(JSON.stringify([settled(translation, body), warnings, refused]));
  }
  return hasher.digest('hex').slice(0, DIGEST_LENGTH);
}

const MADE_UP =
  /(?<![0-9A-Za-z])(chatcmpl-|cmpl-|resp_|msg_|rs_|fc_|ctc_|ig_|call_|(?<="responseId":"))[0-9A-Za-z]{24}(?![0-9A-Za-z])/g;
const CARRIED = /Z3cxOl[A-Za-z0-9+/]+=*/g;

/** Made-up ids differ each time, so they are replaced by numbers. */
function settled(translation: Translation | RequestTranslation, body: string): string {
  const { recorded } = translation.source;
  const known = Buffer.from(replyBytes(recorded)).toString();
  const numbers = new Map<string, number>();
  const number = (id: string, prefix: string) => {
    if (known.includes(id)) return id;
    const at = numbers.get(id) ?? numbers.size;
    numbers.set(id, at);
    return `${prefix}${at}`;
  };
  const opened = body.replace(CARRIED, (text) => JSON.stringify(readCarriedSignature(text) ?? text));
  return opened.replace(MADE_UP, number);
}

export function acceptedDigests(): Digests {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Digests;
}

/** One line per recording, so that a diff shows the changed cases. */
export function acceptDigests(digests: Digests): void {
  const rows = (table: { [file: string]: string }) =>
    Object.entries(table)
      .map(([file, row]) => `    ${JSON.stringify(file)}: ${JSON.stringify(row)}`)
      .join(',\n');
  const targets = JSON.stringify(digests.targets).replaceAll(',', ', ');
  const { replies, requests } = digests;
  const tables = `  "replies": {\n${rows(replies)}\n  },\n  "requests": {\n${rows(requests)}\n  }\n`;
  writeFileSync(FILE, `{\n  "targets": ${targets},\n${tables}}\n`);
}

/** These, and of the recordings that they do not have the ones accepted before. */
export function withOthers(digests: Digests, accepted: Digests): Digests {
  const sorted = (table: { [file: string]: string }) =>
    Object.fromEntries(Object.entries(table).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    targets: digests.targets,
    replies: sorted({ ...accepted.replies, ...digests.replies }),
    requests: sorted({ ...accepted.requests, ...digests.requests }),
  };
}

/** Translations that have changed: `reply anthropic/a.json as gemini`. */
export function changesIn(now: Digests, accepted: Digests): string[] {
  const changes: string[] = [];
  for (const kind of ['replies', 'requests'] as const) {
    for (const [file, row] of Object.entries(now[kind])) {
      const were = accepted[kind][file]?.split(' ') ?? [];
      for (const [index, digest] of row.split(' ').entries()) {
        const target = now.targets[index] ?? '';
        const was = were[accepted.targets.indexOf(target)] ?? 'unknown';
        if (was !== digest) changes.push(`${kind === 'replies' ? 'reply' : 'request'} ${file} as ${target}`);
      }
    }
  }
  return changes;
}
