/**
 * Writes unfiled calls to their tables, and copies the write-ahead log into the database file. Runs in a worker thread, because it copies
 * much and waits for the disk.
 */
import { Database } from 'bun:sqlite';
import { filingInParts } from './unfiled-calls.ts';

declare const self: Worker;

export interface CheckpointRequest {
  path: string;
  everyMs: number;
}

/** `behind`: calls could not be filed, which has to be done by others. `filing`: it can again. */
export type CheckpointMessage = 'opened' | 'behind' | 'filing' | 'closed';

/** Above this size (64 MB) the log is restarted. Writers then wait only for pages written during the copying. */
const MOST_PAGES = 16_000;
const BUSY_MS = 200;
/** Whoever reads calls files those of this time itself. */
const FILE_MS = 200;

const send = (what: CheckpointMessage) => self.postMessage(what);

self.onmessage = ({ data: { path, everyMs } }: MessageEvent<CheckpointRequest>) => {
  const file = new Database(path);
  file.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // With `full`, the default, each transaction would wait for the disk under the lock. What a power failure undoes is unfiled again.
  file.run('PRAGMA synchronous = NORMAL');
  // By default each transaction copies the log once it has 1000 pages, and syncs the disk twice: the timer below copies a page that many
  // transactions wrote once.
  file.run('PRAGMA wal_autocheckpoint = 0');
  // A statement that inserts many rows notes the pages that it changes, to undo itself. By default in a file, which took a twelfth of the
  // filing's processor time.
  file.run('PRAGMA temp_store = MEMORY');
  const copy = (how: 'PASSIVE' | 'RESTART') =>
    file.query<{ log: number }, []>(`PRAGMA wal_checkpoint(${how})`).get()?.log ?? 0;
  const copying = setInterval(() => {
    try {
      if (copy('PASSIVE') > MOST_PAGES) copy('RESTART');
    } catch {
      // Disk full, or a long lock: the log grows until the next attempt.
    }
  }, everyMs);
  const fileCalls = filingInParts(file);
  let isBehind = false;
  const filing = setInterval(() => {
    const wasBehind = isBehind;
    isBehind = !isFiled(fileCalls);
    if (isBehind !== wasBehind) send(isBehind ? 'behind' : 'filing');
  }, FILE_MS);
  self.onmessage = () => {
    clearInterval(copying);
    clearInterval(filing);
    file.close();
    send('closed');
  };
  send('opened');
};

/** Disk full, or a long lock: the calls stay unfiled until the next attempt. */
function isFiled(fileCalls: () => void): boolean {
  try {
    fileCalls();
    return true;
  } catch {
    return false;
  }
}
