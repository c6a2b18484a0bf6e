/** A connection to an SQLite file that several processes may use. Waiting for its lock does not block the event loop. */
import { type Statement as Prepared, type SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite';
import type { Database, Statement, Steps } from '../database.ts';
import { databaseUnavailable } from '../readiness.ts';
import { readInThread } from './read-thread.ts';

/**
 * `normal`: a commit survives a crash of the process, but maybe not a power failure. `full`: it survives both, at the cost of an fsync per
 * batch.
 */
export type SqliteSync = 'normal' | 'full';

export interface SqliteConnection extends Database {
  readonly file: SqliteFile;
  /**
   * Runs the work in an IMMEDIATE transaction: it takes the write lock before the first read, so what was read is still current when it
   * writes.
   */
  transact<T>(work: () => T): Promise<T>;
  /** Runs a statement within `transact`. */
  run<Row>(statement: Statement): Row[];
}

const BUSY_FOR_MS = 5000;
/**
 * A batch of another process holds the lock for half a millisecond, a part of the filing for a few, so waits begin short and grow slowly. Shorter
 * ones come between the parts: both connections then read their pages again, and a call takes a tenth more processor time.
 */
const FIRST_WAIT_MS = 3;
const GROWTH = 1.15;
const LONGEST_WAIT_MS = 20;
/**
 * Calls write neighbouring rows, so a larger cache does not help: with 16 MiB a call took the same processor time, and each process 20 MB
 * more.
 */
const CACHE_KIB = 2048;

export async function openConnection(path: string, sync: SqliteSync): Promise<SqliteConnection> {
  const file = new SqliteFile(path, { create: true });
  const prepared = new Map<string, Prepared<unknown, SQLQueryBindings[]>>();
  await whenFree(() => setUp(file, sync));

  function run<Row>({ text, values }: Statement): Row[] {
    let statement = prepared.get(text);
    if (!statement) {
      // SQLite numbers `$1` by position in the text, `?1` by its number.
      statement = file.prepare<unknown, SQLQueryBindings[]>(text.replace(/\$(\d+)/g, '?$1')).safeIntegers(true);
      if (prepared.size < MOST_PREPARED) prepared.set(text, statement);
    }
    return statement.all(...values) as Row[];
  }

  const transact = <T>(work: () => T) =>
    whenFree(() => {
      file.query('BEGIN IMMEDIATE').run();
      try {
        const result = work();
        file.query('COMMIT').run();
        return result;
      } catch (error) {
        if (file.inTransaction) file.query('ROLLBACK').run();
        throw error;
      }
    });

  return {
    file,
    run,
    transact,
    all: (statement) => whenFree(() => run(statement)),
    scan: (statement) =>
      readInThread<never>(path, statement).catch((thrown: unknown) => {
        throw asUnavailable(thrown);
      }),
    steps: <T>(steps: () => Steps<T>) =>
      transact(() => {
        const asked = steps();
        let step = asked.next();
        while (!step.done) step = asked.next(run(step.value));
        return step.value;
      }),
    together: <Row>(statements: readonly Statement[]) =>
      transact(() => statements.map((statement) => run<Row>(statement))),
  };
}

/** Statements whose text depends on the length of a list are many. Above this number they are prepared each time. */
const MOST_PREPARED = 500;

function setUp(file: SqliteFile, sync: SqliteSync): void {
  // Waiting is done by timers: SQLite's own wait would block the event loop.
  file.run('PRAGMA busy_timeout = 0');
  file.run('PRAGMA journal_mode = WAL');
  file.run(`PRAGMA synchronous = ${sync.toUpperCase()}`);
  file.run(`PRAGMA cache_size = -${CACHE_KIB}`);
}

/** Does the work when no other process holds the lock. Without waiting it is done synchronously. */
async function whenFree<T>(work: () => T): Promise<T> {
  const end = performance.now() + BUSY_FOR_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * GROWTH, LONGEST_WAIT_MS)) {
    try {
      return work();
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > end) throw asUnavailable(thrown);
    }
    // Half of the wait is random, so that waiting processes do not retry at the same time.
    await Bun.sleep(waitMs * (0.5 + Math.random() / 2));
  }
}

const codeOf = (thrown: unknown): string => String((thrown as { code?: unknown } | undefined)?.code ?? '');
const isBusy = (thrown: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(thrown));

/** Disk full, locked too long, or an unreadable file. */
function asUnavailable(thrown: unknown): unknown {
  return /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)/.test(codeOf(thrown))
    ? databaseUnavailable(thrown)
    : thrown;
}
