/** Brings what the write-ahead log holds into the database's file: in a thread of its own, for it copies and waits for the disk. */
import { Database } from 'bun:sqlite';

declare const self: Worker;

export interface CheckpointsAsked {
  path: string;
  everyMs: number;
}

/** The log is begun anew beyond this: 64 MB. Writers wait for that, but only for what was written during the copying. */
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
      // A full disk, or a lock held for long: the log grows until the next look.
    }
  }, everyMs);
  self.onmessage = () => {
    clearInterval(look);
    file.close();
    self.postMessage('closed');
  };
  self.postMessage('opened');
};
