/** Copies the write-ahead log into the database file. Runs in a worker thread, because it copies much and waits for the disk. */
import { Database } from 'bun:sqlite';

declare const self: Worker;

export interface CheckpointsAsked {
  path: string;
  everyMs: number;
}

/** Above this size (64 MB) the log is restarted. Writers then wait only for pages written during the copying. */
const MOST_PAGES = 16_000;
const BUSY_MS = 200;

self.onmessage = ({ data: { path, everyMs } }: MessageEvent<CheckpointsAsked>) => {
  const file = new Database(path);
  file.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  const copy = (how: 'PASSIVE' | 'RESTART') =>
    file.query<{ log: number }, []>(`PRAGMA wal_checkpoint(${how})`).get()?.log ?? 0;
  const look = setInterval(() => {
    try {
      if (copy('PASSIVE') > MOST_PAGES) copy('RESTART');
    } catch {
      // Disk full, or a long lock: the log grows until the next attempt.
    }
  }, everyMs);
  self.onmessage = () => {
    clearInterval(look);
    file.close();
    self.postMessage('closed');
  };
  self.postMessage('opened');
};
