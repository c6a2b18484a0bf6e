/** Commands that back up and restore the database. */
import { dirname, resolve } from 'node:path';
import type { Files } from '../files/files.ts';
import { syncFolder } from '../files/sync-folder.ts';
import { checkBackup, rowBatches, storedFiles, writeBackup } from '../store/backup/backup-file.ts';
import type { CliDeps } from './cli-deps.ts';
import type { Command } from './command.ts';
import { printRow } from './printed.ts';

const backup: Command = {
  name: 'backup',
  isLocal: true,
  usage: 'PATH [--files]',
  summary:
    'Writes the database as of one moment to a new file, while gateways run; with --files also the stored videos and images. The keys in data/*.key are not in it.',
  options: { files: { type: 'boolean' } },
  async run(open, given) {
    const path = resolve(given.words[0] ?? '');
    const store = await open.store();
    const at = new Date(open.now()).toISOString();
    const header = { version: open.version, at, engine: store.engine, schema: store.schemaVersions };
    const counts = await writeBackup(path, header, async (sink) => {
      await store.backUp(sink);
      if (!given.flag('files')) return;
      const files = open.files();
      for await (const name of files.names('')) {
        const pieces = await piecesOf(files, name);
        if (pieces) await sink.file(name, pieces);
      }
    });
    await syncFolder(dirname(path));
    printRow(open, given, { backup: path, at, engine: store.engine, ...counts, bytes: Bun.file(path).size });
    return 0;
  },
};

/** `undefined`: it was removed meanwhile, or is not complete. */
async function piecesOf(files: Files, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const size = await files.size(name);
  if (size === undefined) return undefined;
  const reading = files.read(name, { start: 0, end: size })[Symbol.asyncIterator]();
  try {
    const first = await reading.next();
    return rejoined(first, reading);
  } catch (thrown) {
    // The retention of files goes on while a backup of hours is made.
    if ((await files.size(name)) === undefined) return undefined;
    throw thrown;
  }
}

async function* rejoined<Piece>(first: IteratorResult<Piece>, others: AsyncIterator<Piece>): AsyncGenerator<Piece> {
  for (let piece = first; !piece.done; piece = await others.next()) yield piece.value;
}

const restore: Command = {
  name: 'restore',
  isLocal: true,
  usage: 'PATH',
  summary: 'Restores a backup into an empty database, of either engine, and verifies the ledger.',
  async run(open, given) {
    const path = resolve(given.words[0] ?? '');
    const { header, counts } = await checkBackup(path);
    const store = await open.store();
    await store.restore(header.schema, rowBatches(path));
    if (counts.files > 0) await restoreFiles(open, path);
    const { ok, accounts, entries, holds, faults } = await (await open.verifier()).verify({ full: true });
    const restored = { restored: path, at: header.at, version: header.version, engine: store.engine, ...counts };
    const shown = given.json || faults.length > 0 ? { faults } : {};
    printRow(open, given, { ...restored, accounts, entries, holds, 'ledger ok': ok, ...shown });
    // Throws if they were encrypted with another key.
    await store.providers();
    return ok ? 0 : 1;
  },
};

async function restoreFiles(open: CliDeps, path: string): Promise<void> {
  const files = open.files();
  for await (const { name, pieces } of storedFiles(path)) await files.write(name, pieces, Number.MAX_SAFE_INTEGER);
}

export const BACKUP_COMMANDS: readonly Command[] = [backup, restore];
