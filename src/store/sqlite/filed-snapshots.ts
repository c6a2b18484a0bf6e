/** Snapshots of the database in which no call is unfiled, for reads that compare its tables with balances. */
import { Database } from 'bun:sqlite';
import { prepareFiling } from './unfiled-calls.ts';

export interface FiledSnapshots {
  /** All reads of `reader` within `work` see one such moment. */
  read<T>(work: () => T): T;
  /** The same for work that waits in between. */
  readSlowly<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

const ATTEMPTS = 100;

/** `reader`: a connection that may be read-only. Another one writes, if anything is unfiled. */
export function createFiledSnapshots(path: string, reader: Database, busyMs: number): FiledSnapshots {
  let writing: { file: Database; fileSome: ReturnType<typeof prepareFiling> } | undefined;
  const someUnfiled = reader.prepare('SELECT 1 FROM unfiled_calls LIMIT 1');

  /** Opens a snapshot. Returns whether nothing is unfiled in it. */
  function begin(): boolean {
    reader.run('BEGIN');
    if (someUnfiled.get() === null) return true;
    reader.run('COMMIT');
    return false;
  }

  function openWriter() {
    const file = new Database(path);
    file.run(`PRAGMA busy_timeout = ${busyMs}`);
    file.run('PRAGMA synchronous = NORMAL');
    // A commit that also copies the write-ahead log into the database takes many milliseconds without the lock: calls are then recorded
    // between it and the snapshot, every time.
    file.run('PRAGMA wal_autocheckpoint = 0');
    return { file, fileSome: prepareFiling(file) };
  }

  /** Under the lock no call is added before the snapshot is opened. */
  function beginUnderLock(): boolean {
    writing ??= openWriter();
    const { file, fileSome } = writing;
    file.run('BEGIN IMMEDIATE');
    try {
      while (fileSome(512));
      file.run('COMMIT');
      file.run('BEGIN IMMEDIATE');
      return begin();
    } finally {
      if (file.inTransaction) file.run('ROLLBACK');
    }
  }

  function beginFiled(): void {
    let isOpen = begin();
    for (let attempt = 1; !isOpen && attempt <= ATTEMPTS; attempt++) isOpen = beginUnderLock();
    if (!isOpen) throw new Error('Other processes recorded calls faster than they could be filed.');
  }

  return {
    read(work) {
      beginFiled();
      try {
        return work();
      } finally {
        reader.run('COMMIT');
      }
    },
    async readSlowly(work) {
      beginFiled();
      try {
        return await work();
      } finally {
        reader.run('COMMIT');
      }
    },
    close: () => writing?.file.close(),
  };
}
