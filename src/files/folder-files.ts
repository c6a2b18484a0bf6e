/** Files in a local folder. */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bounded } from './bounded.ts';
import type { Files } from './files.ts';
import { syncFolder } from './sync-folder.ts';

export function folderFiles(folder: string): Files {
  /** Spread over subfolders of two letters, so that none becomes too large, unless the name has its own subfolder. */
  const pathOf = (name: string) => (name.includes('/') ? join(folder, name) : join(folder, name.slice(-2), name));
  /** A part that a dead process left is replaced by the next attempt, and removed with the file. */
  const partOf = (path: string) => `${path}.part`;
  return {
    async write(name, pieces, maxBytes) {
      const path = pathOf(name);
      const unfinished = partOf(path);
      const made = await mkdir(dirname(path), { recursive: true });
      // Never the file that another writes: a process that was suspended may go on beside the one that took its work over.
      await rm(unfinished, { force: true });
      const file = await open(unfinished, 'wx');
      const { ino } = await file.stat({ bigint: true });
      const isMine = async () => (await stat(unfinished, { bigint: true }).catch(() => undefined))?.ino === ino;
      let bytes = 0;
      try {
        for await (const piece of bounded(pieces, maxBytes)) {
          await writeAll(file, piece);
          bytes += piece.length;
        }
        // Files are charged, so they must survive a power failure.
        await file.sync();
        if (!(await isMine())) throw new Error('Another process writes this file.');
      } catch (thrown) {
        // While it is open, no other file has its inode.
        if (await isMine()) await rm(unfinished, { force: true });
        await file.close();
        throw thrown;
      }
      await file.close();
      await rename(unfinished, path);
      await syncFolder(dirname(path));
      // The name of a new folder is in the one above.
      if (made !== undefined) await syncFoldersAbove(dirname(path), made);
      return bytes;
    },
    async size(name) {
      return (await stat(pathOf(name)).catch(() => undefined))?.size;
    },
    read: (name, { start, end }) => Bun.file(pathOf(name)).slice(start, end).stream(),
    async remove(name) {
      await rm(pathOf(name), { force: true });
      await rm(partOf(pathOf(name)), { force: true });
    },
    async *names(prefix) {
      const found = new Set<string>();
      for (const part of await entriesOf(folder)) {
        for (const entry of await entriesOf(join(folder, part))) {
          const name = part.length === 2 ? entry : `${part}/${entry}`;
          if (name.startsWith(prefix)) found.add(name.replace(/\.part$/, ''));
        }
      }
      yield* [...found].sort();
    },
  };
}

/** A disk that is nearly full takes a part of a piece, without an error. */
async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await file.write(piece, at);
    if (bytesWritten === 0) throw new Error('The disk takes no more bytes.');
    at += bytesWritten;
  }
}

/** Those above the folder, up to the one that has the name of `made`. */
async function syncFoldersAbove(folder: string, made: string): Promise<void> {
  let above = folder;
  do {
    above = dirname(above);
    await syncFolder(above);
  } while (above.length >= made.length);
}

/** Empty if the folder does not exist. */
async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}
