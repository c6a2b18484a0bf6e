/** Connections to Postgres, with timeouts, retries after collisions, and an error when the server is unavailable. */
import { SQL } from 'bun';
import type { Database, Statement, Steps } from '../database.ts';
import { databaseUnavailable } from '../readiness.ts';

export interface PostgresSettings {
  url: string;
  /** The maximum of connections of this process. */
  connections: number;
  /** `much`: long statements over large parts of the tables, in parallel to the calls. */
  reads?: 'little' | 'much';
}

/** Runs a statement of one transaction. Statements are sent without waiting for the previous ones. */
export type RunStatement = <Row>(statement: Statement) => Promise<Row[]>;

/** Runs several commands at once, without values. */
export type RunScript = (text: string) => Promise<unknown>;

export interface PostgresConnection extends Database {
  transact<T>(work: (run: RunStatement, script: RunScript) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The time limit of a statement, here and on the server. */
const STATEMENT_MS = 15_000;
/** After this time the server ends a transaction whose process no longer responds: it may hold an account's lock. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const CONNECT_SECONDS = 5;
/** The time limit of statements that read much. */
const LONG_STATEMENT_MS = 300_000;

const LITTLE = {
  // Every statement of a call has an index. The statistics of new tables say "empty", and a plan made then would scan the whole table long
  // after it has grown.
  enable_seqscan: 'off',
  plan_cache_mode: 'force_generic_plan',
};
/** Each statement is planned for the range that it reads. */
const MUCH = { plan_cache_mode: 'force_custom_plan', work_mem: '32MB' };
const ATTEMPTS = 5;

export function openConnection({ url, connections, reads = 'little' }: PostgresSettings): PostgresConnection {
  const statementMs = reads === 'much' ? LONG_STATEMENT_MS : STATEMENT_MS;
  const pool = new SQL({
    url,
    max: connections,
    bigint: true,
    connectionTimeout: CONNECT_SECONDS,
    connection: {
      application_name: 'modelport',
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...(reads === 'much' ? MUCH : LITTLE),
      jit: 'off',
      client_min_messages: 'warning',
    },
  });

  /** Increased when a newer program has changed a table: prepared statements then have outdated columns. */
  let tables = 0;

  function send<Row>(sender: Sender, { text, values }: Statement): SentStatement<Row> {
    const fresh = tables === 0 ? text : `${text} /* ${tables} */`;
    return sender.unsafe<Row[]>(fresh, [...values]) as SentStatement<Row>;
  }

  async function repeated<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (thrown) {
        const state = stateOf(thrown);
        const wasStale = state === STALE_STATEMENT && STALE_WORDS.test(String(thrown));
        if (wasStale) tables++;
        const mayGoOn = wasStale || COLLISIONS.has(state);
        if (!mayGoOn && !isUnavailable(thrown, state)) throw thrown;
        if (!mayGoOn || attempt === ATTEMPTS) throw databaseUnavailable(thrown);
        await Bun.sleep(Math.random() * 10 * attempt);
      }
    }
  }

  const all = <Row>(statement: Statement) => repeated(() => answered<Row>(send(pool, statement), statementMs));

  const transact = <T>(work: (run: RunStatement, script: RunScript) => Promise<T>) =>
    repeated(async () => {
      const session = await answeredReservation(pool);
      const run: RunStatement = (statement) => answered(send(session, statement), statementMs);
      try {
        // Not awaited: the first statement follows in the same packet, and fails if BEGIN fails.
        const began = session.unsafe('BEGIN').execute();
        const result = await work(run, (text) => session.unsafe(text).simple());
        await began;
        await run({ text: 'COMMIT', values: [] });
        session.release();
        return result;
      } catch (thrown) {
        // Closing the connection makes the server roll back.
        await session.close().catch(() => {});
        throw thrown;
      }
    });

  return {
    all,
    scan: all,
    transact,
    steps: <T>(steps: () => Steps<T>) =>
      transact(async (run) => {
        const asked = steps();
        let step = asked.next();
        while (!step.done) step = asked.next(await run(step.value));
        return step.value;
      }),
    together: <Row>(statements: readonly Statement[]) =>
      transact((run) => Promise.all(statements.map((statement) => run<Row>(statement)))),
    close: () => pool.close({ timeout: 1 }),
  };
}

type Sender = Pick<SQL, 'unsafe'>;
type SentStatement<Row> = Promise<Row[]> & { cancel(): unknown };

/** This limit works even if the server does not respond at all. */
async function answered<Row>(sent: SentStatement<Row>, statementMs: number): Promise<Row[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new DOMException(`Postgres has not answered for ${statementMs} ms.`, 'TimeoutError'));
      sent.cancel();
    }, statementMs);
  });
  try {
    return await Promise.race([sent, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waiting for a free connection has the same limit as waiting for an answer. */
async function answeredReservation(pool: SQL) {
  return pool.reserve({ signal: AbortSignal.timeout(STATEMENT_MS) });
}

/** Serialization failures and deadlocks: the transaction can be repeated. */
const COLLISIONS = new Set(['40001', '40P01']);
/** "cached plan must not change result type": a `SELECT *` was prepared before a column was added. */
const STALE_STATEMENT = '0A000';
const STALE_WORDS = /cached plan/;
/** Connection lost or refused, server starting or stopping, no connection free, disk full, read-only, timeout. */
const UNAVAILABLE = /^(08|53|57P|57014|25006|55P03)/;

const stateOf = (thrown: unknown): string => String((thrown as { errno?: unknown } | undefined)?.errno ?? '');

function isUnavailable(thrown: unknown, state: string): boolean {
  if (UNAVAILABLE.test(state)) return true;
  const { code = '', name = '' } = (thrown ?? {}) as { code?: unknown; name?: unknown };
  // Errors of the driver itself are about the connection.
  const isDrivers = String(code).startsWith('ERR_POSTGRES_') && code !== 'ERR_POSTGRES_SERVER_ERROR';
  return isDrivers || name === 'TimeoutError';
}
