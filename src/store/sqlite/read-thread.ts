/** Reads in a worker thread, which all stores of the process share. */
import { startThread, workerProgram } from '../../canonical/worker-program.ts';
import type { Statement } from '../database.ts';
import type { ReadJob, ReadReply } from './read-worker.ts';

/** Starting the thread takes 20 ms of processor time: the next reads soon after use the same one. */
const IDLE_MS = 5000;

interface WaitingReader {
  /** What has arrived of the rows. */
  rows: unknown[];
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
}

const waiting = new Map<number, WaitingReader>();
let thread: Worker | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;

/** Runs the statement on the file. Errors have the `code` of SQLite. */
export function readInThread<Row>(path: string, statement: Statement): Promise<Row[]> {
  return send({ path, statement }) as Promise<Row[]>;
}

/** Closes the file in this thread, so that the process can close it completely. */
export async function endReads(path: string): Promise<void> {
  if (thread) await send({ path });
}

function send(request: Omit<ReadJob, 'id'>): Promise<unknown[]> {
  clearTimeout(timer);
  thread ??= start();
  thread.ref();
  const id = ++lastId;
  const rows = new Promise<unknown[]>((resolve, reject) => waiting.set(id, { rows: [], resolve, reject }));
  thread.postMessage({ id, ...request } satisfies ReadJob);
  return rows;
}

function start(): Worker {
  const fresh = startThread(workerProgram(new URL('./read-worker.ts', import.meta.url)));
  fresh.onmessage = ({ data }: MessageEvent<ReadReply>) => {
    const one = waiting.get(data.id);
    if ('rows' in data && one) one.rows = one.rows.length === 0 ? data.rows : one.rows.concat(data.rows);
    if ('rows' in data && data.more) return;
    waiting.delete(data.id);
    if (waiting.size === 0) rest(fresh);
    if ('rows' in data) one?.resolve(one.rows);
    else one?.reject(Object.assign(new Error(data.message), { code: data.code }));
  };
  fresh.onerror = ({ message }) => {
    end(fresh);
    for (const { reject } of waiting.values()) reject(new Error(`Reading failed: ${message}`));
    waiting.clear();
  };
  return fresh;
}

/** Without work the thread does not keep the process alive, and ends after a while. */
function rest(idle: Worker): void {
  idle.unref();
  timer = setTimeout(() => end(idle), IDLE_MS).unref();
}

function end(ended: Worker): void {
  ended.terminate();
  if (thread === ended) thread = undefined;
}
