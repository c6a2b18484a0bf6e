/** The worker thread that verifies the ledger in an SQLite file, so that its long statements do not block calls. */
import { Database } from 'bun:sqlite';
import type { Statement } from '../database.ts';
import { booksReader } from '../tables/books-reader.ts';
import { verifyBooks } from '../verify/books.ts';
import type { EntryRange, VerifyProgress } from '../verify/books-reader.ts';
import type { Checkpoints, Reached } from '../verify/checkpoint.ts';
import type { VerifyReport } from '../verify/report.ts';
import { createFiledSnapshots, type FiledSnapshots } from './filed-snapshots.ts';
import { rowsOfEach } from './rows-of-each.ts';

declare const self: Worker;

export interface VerificationRequest {
  path: string;
  known: Checkpoints;
  full: boolean;
}

export type VerificationMessage =
  | { type: 'progress'; progress: VerifyProgress }
  | { type: 'reached'; reached: readonly Reached[] }
  | { type: 'report'; report: VerifyReport }
  | { type: 'failed'; thrown: unknown };

const REPORT_MS = 100;
const BUSY_MS = 5000;
/** The page cache of this thread. */
const CACHE_KIB = 65_536;

self.onmessage = async ({ data: { path, known, full } }: MessageEvent<VerificationRequest>) => {
  const send = (message: VerificationMessage) => self.postMessage(message);
  let reportedAt = 0;
  const file = new Database(path, { readonly: true, safeIntegers: true });
  let snapshots: FiledSnapshots | undefined;
  try {
    file.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    file.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    snapshots = createFiledSnapshots(path, file, BUSY_MS);
    const { read } = snapshots;
    const all = async <Row>({ text, values }: Statement) =>
      read(() => file.query(text.replace(/\$(\d+)/g, '?$1')).all(...values) as Row[]);
    const report = await verifyBooks(booksReader(all, { isDoubtful: chainReader(file), rowsOfEach }), {
      known,
      full,
      progress(progress) {
        if (performance.now() < reportedAt + REPORT_MS) return;
        reportedAt = performance.now();
        send({ type: 'progress', progress });
      },
      reached: (reached) => send({ type: 'reached', reached }),
    });
    send({ type: 'report', report });
  } catch (thrown) {
    send({ type: 'failed', thrown });
  } finally {
    snapshots?.close();
    file.close();
  }
};

/**
 * SQLite concatenates the text that a hash covers, which takes a third of the time of reading ten columns. It equals the text of
 * `entryHash` for the same members. If it differs, or anything else is wrong, the entries are checked one by one.
 */
function chainReader(file: Database) {
  const rows = file.prepare(
    `SELECT hash, json_array(account, seq, kind, CAST(amount AS TEXT), CAST(balance_after AS TEXT), counter, call_id, note,
        idempotency_key, at), amount, balance_after
      FROM entries WHERE account = ? AND seq > ? AND seq <= ? ORDER BY seq`,
  );
  return async ({ account, after, to }: EntryRange, before: { hash: string; balance: bigint }): Promise<boolean> => {
    let { hash: previous, balance } = before;
    const links = rows.values(account, after, to) as Link[];
    for (const [hash, members, amount, balanceAfter] of links) {
      balance += amount;
      if (balance !== balanceAfter) return true;
      if (Bun.SHA256.hash(`[${JSON.stringify(previous)},${members.slice(1)}`, 'hex') !== hash) return true;
      previous = hash;
    }
    // Seqs are unique, so the right number of entries means that all are there.
    return links.length !== to - after;
  };
}

type Link = [hash: string, members: string, amount: bigint, balanceAfter: bigint];
