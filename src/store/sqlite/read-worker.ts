/** The worker thread that runs statements which may read millions of rows, so that they do not block calls. */
import { Database, type SQLQueryBindings } from 'bun:sqlite';
import type { Statement } from '../database.ts';

declare const self: Worker;

export interface ReadJob {
  id: number;
  path: string;
  /** Absent: the file is closed. */
  statement?: Statement;
}

/** `more`: there are other rows, in messages behind this one. */
export type ReadReply = { id: number; rows: unknown[]; more: boolean } | { id: number; message: string; code: string };

const BUSY_MS = 5000;
/** The rows of a message, which the other thread copies at once: a few milliseconds. */
const ROWS_AT_ONCE = 2000;
/** The page cache of this thread. */
const CACHE_KIB = 16_384;

let open: { path: string; file: Database } | undefined;

self.onmessage = ({ data: { id, path, statement } }: MessageEvent<ReadJob>) => {
  const send = (reply: ReadReply) => self.postMessage(reply);
  try {
    if (open && (open.path !== path || !statement)) close();
    const rows = statement ? read(path, statement) : [];
    for (let at = 0; at === 0 || at < rows.length; at += ROWS_AT_ONCE) {
      const next = at + ROWS_AT_ONCE;
      send({ id, rows: rows.length > ROWS_AT_ONCE ? rows.slice(at, next) : rows, more: next < rows.length });
    }
  } catch (thrown) {
    const { message, code } = thrown as Error & { code?: unknown };
    send({ id, message, code: String(code ?? '') });
  }
};

function close(): void {
  open?.file.close();
  open = undefined;
}

function read(path: string, { text, values }: Statement): unknown[] {
  if (!open) {
    open = { path, file: new Database(path, { readonly: true, safeIntegers: true }) };
    open.file.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    open.file.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  }
  const statement = open.file.prepare<unknown, SQLQueryBindings[]>(text.replace(/\$(\d+)/g, '?$1'));
  try {
    return statement.all(...values);
  } finally {
    statement.finalize();
  }
}
