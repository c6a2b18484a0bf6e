/**
 * The backup file: lines of JSON, compressed with gzip. The first line describes the backup. Each table is an object with its name and
 * columns, followed by one array for each row; each stored file is an object with its name, followed by strings in base64. The last line has
 * the counts. The format is the same for both engines.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { BackupSink, BackupTable, EngineName, RowBatch, SchemaVersions } from './backup-store.ts';

const FORMAT = 1;

// Loaded when they are first needed: a start needs neither.
const zlib = () => process.getBuiltinModule('node:zlib');
const streams = () => process.getBuiltinModule('node:stream/promises');

export interface BackupHeader {
  modelport_backup: number;
  /** The version of Modelport. */
  version: string;
  at: string;
  engine: EngineName;
  schema: SchemaVersions;
}

export interface BackupCounts {
  tables: number;
  rows: number;
  files: number;
}

export interface FileSink {
  file(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
}

export interface StoredFile {
  name: string;
  pieces: AsyncIterable<Uint8Array>;
}

/** Writes a backup that is visible only when complete. Throws an Error if `path` exists. */
export async function writeBackup(
  path: string,
  header: Omit<BackupHeader, 'modelport_backup'>,
  fill: (sink: BackupSink & FileSink) => Promise<void>,
): Promise<BackupCounts> {
  if (existsSync(path)) throw taken(path);
  await removeLeftOver(path, Date.parse(header.at));
  // Of this run: another that writes to the same path at the same time would be mixed with it.
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.partial`;
  const packed = zlib().createGzip();
  // Readable by the owner only: it contains hashes of keys and encrypted credentials.
  const written = streams().pipeline(packed, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }));
  written.catch(() => {});
  async function write(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    // After an error of the disk nothing drains.
    if (!packed.write(`${lines.join('\n')}\n`)) await Promise.race([once(packed, 'drain'), written]);
  }
  const counts: BackupCounts = { tables: 0, rows: 0, files: 0 };
  try {
    await write([JSON.stringify({ modelport_backup: FORMAT, ...header } satisfies BackupHeader)]);
    await fill({
      async table({ name, columns }) {
        counts.tables++;
        await write([JSON.stringify({ table: name, columns })]);
      },
      async rows(rows) {
        counts.rows += rows.length;
        await write(rows);
      },
      async file(name, pieces) {
        counts.files++;
        await write([JSON.stringify({ file: name })]);
        for await (const piece of pieces) await write([JSON.stringify(Buffer.from(piece).toString('base64'))]);
      },
    });
    await write([JSON.stringify({ end: counts })]);
    packed.end();
    await written;
    await onDisk(unfinished);
    if (existsSync(path)) throw taken(path);
    await rename(unfinished, path);
    return counts;
  } catch (thrown) {
    packed.destroy();
    await written.catch(() => {});
    await rm(unfinished, { force: true });
    throw thrown;
  }
}

const taken = (path: string) => new Error(`${path} exists. A backup does not overwrite a file: choose another name.`);

/** A backup that is under way writes all the time. */
const ABANDONED_MS = 3_600_000;

/** Removes what runs that were killed have left of a backup to this path. */
async function removeLeftOver(path: string, now: number): Promise<void> {
  const folder = dirname(path);
  if (!existsSync(folder)) throw new Error(`The folder ${folder} does not exist.`);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${basename(path)}.`) || !name.endsWith('.partial')) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found && now - found.mtimeMs > ABANDONED_MS) await rm(join(folder, name), { force: true });
  }
}

async function onDisk(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
}

/** Reads the whole file. Throws an Error if it is no backup, damaged or incomplete. */
export async function checkBackup(path: string): Promise<{ header: BackupHeader; counts: BackupCounts }> {
  if (!existsSync(path)) throw new Error(`${path} does not exist.`);
  const counts: BackupCounts = { tables: 0, rows: 0, files: 0 };
  let header: BackupHeader | undefined;
  let end: BackupCounts | undefined;
  try {
    for await (const line of linesOf(path)) {
      if (!header) header = readHeader(line);
      else if (line.startsWith('[')) counts.rows++;
      else if (line.startsWith('{"table"')) counts.tables++;
      else if (line.startsWith('{"file"')) counts.files++;
      else if (line.startsWith('{"end"')) end = (JSON.parse(line) as { end: BackupCounts }).end;
    }
  } catch (thrown) {
    throw header === undefined ? new Error(`${path} is not a backup of Modelport.`, { cause: thrown }) : damaged(path);
  }
  if (!header) throw new Error(`${path} is not a backup of Modelport.`);
  if (header.modelport_backup !== FORMAT)
    throw new Error('The format of the backup is newer: restore it with the Modelport that made it.');
  if (!end || !Bun.deepEquals(end, counts)) throw damaged(path);
  return { header, counts };
}

function readHeader(line: string): BackupHeader {
  const header = JSON.parse(line) as BackupHeader;
  if (typeof header?.modelport_backup !== 'number') throw new Error('There is no header.');
  return header;
}

const damaged = (path: string) => new Error(`${path} is damaged or incomplete.`);

const BATCH_ROWS = 1000;
const BATCH_BYTES = 1_000_000;

/** The rows of a checked backup, in batches. */
export async function* rowBatches(path: string): AsyncGenerator<RowBatch> {
  let table: BackupTable | undefined;
  let rows: string[] = [];
  let bytes = 0;
  for await (const line of linesOf(path)) {
    const isRow = line.startsWith('[');
    if (table && rows.length > 0 && (!isRow || rows.length === BATCH_ROWS || bytes > BATCH_BYTES)) {
      yield { table, rows };
      rows = [];
      bytes = 0;
    }
    if (isRow) {
      rows.push(line);
      bytes += line.length;
    } else if (line.startsWith('{"table"')) {
      const { table: name, columns } = JSON.parse(line) as { table: string; columns: string[] };
      table = { name, columns };
    } else if (table) {
      // Files follow the tables.
      return;
    }
  }
}

/** The files of a checked backup. The pieces of one are read before the next. */
export async function* storedFiles(path: string): AsyncGenerator<StoredFile> {
  const lines = linesOf(path);
  let line = await lines.next();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (line = await lines.next(); line.value?.startsWith('"'); line = await lines.next())
      yield Buffer.from(JSON.parse(line.value) as string, 'base64');
  }
  while (!line.done) {
    if (line.value.startsWith('{"file"')) {
      yield { name: (JSON.parse(line.value) as { file: string }).file, pieces: pieces() };
    } else line = await lines.next();
  }
}

async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  const packed = createReadStream(path);
  const text = zlib().createGunzip();
  packed.on('error', (error) => text.destroy(error));
  const decoder = new TextDecoder();
  // A line may be much longer than a chunk.
  let parts: string[] = [];
  try {
    for await (const chunk of packed.pipe(text)) {
      const [first = '', ...lines] = decoder.decode(chunk as Uint8Array, { stream: true }).split('\n');
      parts.push(first);
      for (const next of lines) {
        yield parts.join('');
        parts = [next];
      }
    }
    const last = parts.join('');
    if (last !== '') yield last;
  } finally {
    packed.destroy();
    text.destroy();
  }
  return undefined;
}
