/** Applies a file of providers and models, and reports what changed and which other file's changes it reverted. */
import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import type { AppliedFile, CatalogueChanges, FileEvent } from './catalog/apply.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import { type PeoplesPrice, priceLine } from './catalog/price-text.ts';
import type { ConfigFileRow } from './store/config-files.ts';
import type { AuditRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

/** A file as the audit log names it: by name and content, not by path. */
export interface ConfigFile {
  name: string;
  /** A hash of its contents with variables replaced. */
  fingerprint: string;
}

export interface RecordedChange {
  what: 'provider' | 'model';
  row: AuditRow;
}

/** Applies as this actor, and reports each audited change. */
export type Apply = (
  form: CatalogueForm,
  actor: string,
  keepExisting?: boolean,
  changed?: (change: RecordedChange) => void,
  /** Stored secrets go to no other address. A file that the process was started with stands beside the key that they are encrypted with. */
  isGuarded?: boolean,
) => Promise<CatalogueChanges>;

/** A change that another file made within this time was probably not meant to be reverted. */
const LATELY_MS = 10 * 60_000;
/** How often a process records the file it was started with. */
export const SHOW_FILE_MS = 10_000;
const LIVES_MS = 3 * SHOW_FILE_MS;

export function configFile(path: string, form: CatalogueForm): ConfigFile {
  return { name: basename(path), fingerprint: hash('sha256', JSON.stringify(form), 'hex').slice(0, 8) };
}

/** The actor in the audit log. */
const actorOf = ({ name, fingerprint }: ConfigFile, key: string | undefined) =>
  `file ${name} ${fingerprint}${key === undefined ? '' : ` by ${key}`}`;

/** Records that a process with this file is running. */
export function showFile(store: Store, { name, fingerprint }: ConfigFile, now: number): Promise<void> {
  return store.sawConfigFile({ fingerprint, name, host: hostname(), seenAt: now });
}

/** `key`: the admin key that sent it. Absent: this process was started with it. */
export async function applyFile(
  store: Store,
  apply: Apply,
  form: CatalogueForm,
  file: ConfigFile,
  now: number,
  key?: string,
): Promise<AppliedFile> {
  const recorded = new Map<string, RecordedChange>();
  // After a collision a transaction runs again: the last run counts.
  const record = (change: RecordedChange) => recorded.set(`${change.what} ${change.row.subject}`, change);
  const changes = await apply(form, actorOf(file, key), false, record, key !== undefined);
  const others = recorded.size > 0 ? await store.configFiles(now - LIVES_MS) : [];
  const events: FileEvent[] = [];
  for (const change of recorded.values()) {
    events.push(eventOf(file, change));
    const undone = change.row.before === undefined ? undefined : await undoneBy(store, change, file, others, now);
    if (undone !== undefined) events.push(undone);
  }
  return { changes, events };
}

function eventOf(file: ConfigFile, { what, row }: RecordedChange): FileEvent {
  const before = membersOf(row.before);
  const after = membersOf(row.after);
  const version = row.before === undefined || before.priceId !== after.priceId ? versionOf(after) : '';
  const differences = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((member) => member !== 'priceId' && member !== 'createdAt' && member !== 'name')
    .filter((member) => !Bun.deepEquals(before[member], after[member]))
    .map((member) => difference(member, before[member], after[member]) + (member === 'price' ? version : ''));
  const subject = `${what} "${row.subject}"`;
  const message =
    row.before === undefined
      ? `${file.name} added ${subject}${after.price === undefined ? '' : `: price ${textOf('price', after.price)}${version}`}.`
      : `${file.name} changed ${subject}: ${differences.join('; ') || 'its credentials'}.`;
  return { isWarning: false, message, members: { ...membersOfFile(file), [what]: row.subject } };
}

type AuditMembers = { readonly [member: string]: unknown };

const membersOf = (text: string | undefined): AuditMembers =>
  text === undefined ? {} : (JSON.parse(text) as AuditMembers);
const membersOfFile = ({ name, fingerprint }: ConfigFile) => ({ file: name, fingerprint });
const versionOf = ({ priceId }: AuditMembers) => (priceId === undefined ? '' : ` (price version ${String(priceId)})`);
const difference = (member: string, before: unknown, after: unknown) =>
  `${member} ${textOf(member, before)} -> ${textOf(member, after)}`;

function textOf(member: string, value: unknown): string {
  if (value === undefined) return 'none';
  if (member === 'price') return priceLine(value as PeoplesPrice);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `file NAME FINGERPRINT`, or `file NAME FINGERPRINT by KEY`. */
const FILE_ACTOR = /^file (.+) ([0-9a-f]{8})(?: by \S+)?$/;
/** How many audit rows are searched for an earlier change. */
const LOOKED_THROUGH = 20;

/** Finds the other file whose change was reverted: it was set recently, or a running process was started with that file. */
async function undoneBy(
  store: Store,
  { what, row }: RecordedChange,
  file: ConfigFile,
  living: readonly ConfigFileRow[],
  now: number,
): Promise<FileEvent | undefined> {
  const history = await store.audits({ limit: LOOKED_THROUGH, subject: row.subject });
  const place = history.findIndex(({ id }) => id === row.id);
  const last = history.slice(place + 1).find(({ action }) => action.startsWith(`${what}.`));
  const [, name, fingerprint] = FILE_ACTOR.exec(last?.actor ?? '') ?? [];
  if (!last || name === undefined || fingerprint === undefined || fingerprint === file.fingerprint) return undefined;
  const alive = living.find((one) => one.fingerprint === fingerprint);
  if (!alive && last.at < now - LATELY_MS) return undefined;
  const when = new Date(last.at).toISOString();
  const where = alive ? `, with which a process on ${alive.host} runs` : '';
  return {
    isWarning: true,
    message: `${file.name} (${file.fingerprint}) reverted what ${name} (${fingerprint}) set for ${what} "${row.subject}" at ${when}${where}: give every process of one database the same file.`,
    members: { ...membersOfFile(file), [what]: row.subject, otherFile: name, otherFingerprint: fingerprint },
  };
}
