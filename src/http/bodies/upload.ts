/** Parses a form while it arrives: fields stay in memory, large files go to disk until the call ends. */
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../canonical/errors.ts';
import { newId } from '../../canonical/id.ts';
import { HEAD_BYTES, type Upload } from '../../canonical/upload.ts';
import { createFormCutter, type PartHead } from '../../dialects/wire/form-cutter.ts';
import type { Form, FormFile } from '../../dialects/wire/multipart.ts';
import { brokenBody } from '../request-error.ts';
import { type ArrivingBody, refuseTooLarge, tooLarge } from './body.ts';

export interface Received {
  form: Form;
  /** Closes the files. */
  release(): void;
}

/** Larger files go to disk. */
const MOST_IN_MEMORY_BYTES = 256 * 1024;
const MOST_FIELD_BYTES = 1024 * 1024;
const READ_BYTES = 256 * 1024;

/**
 * Throws GatewayError `request_too_large`, or `invalid_request` if the form is invalid or incomplete; then nothing is kept.
 * `folder`: where large files are written. They are unlinked at once, so nothing remains after a crash.
 */
export async function receiveForm(
  body: ArrivingBody,
  boundary: string,
  maxBytes: number,
  folder: string,
): Promise<Received> {
  refuseTooLarge(body, maxBytes);
  const cutter = createFormCutter(boundary);
  const parts: (PartHead & { spool: Spool })[] = [];
  const release = () => {
    for (const { spool } of parts) spool.release();
  };
  let size = 0;
  let fieldBytes = 0;
  try {
    for (let piece = await body.read(); piece; piece = body.isRead ? undefined : await body.read()) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      for (const event of cutter.read(piece)) {
        const part = parts.at(-1);
        if (event.type === 'part') parts.push({ ...event.head, spool: new Spool(folder) });
        else if (part) {
          if (part.filename === undefined) fieldBytes += event.bytes.length;
          if (fieldBytes > MOST_FIELD_BYTES) throw fieldsTooLarge();
          await part.spool.add(event.bytes, part.filename === undefined);
        }
      }
    }
    cutter.end();
  } catch (thrown) {
    release();
    throw brokenBody(thrown);
  }
  return { form: formOf(parts), release };
}

function formOf(parts: readonly (PartHead & { spool: Spool })[]): Form {
  const fields = parts.filter(({ filename }) => filename === undefined);
  return {
    fields: fields.map(({ name, spool }) => [name, spool.text()]),
    files: parts.flatMap(({ spool, filename, ...head }): FormFile[] =>
      filename === undefined ? [] : [{ ...head, filename, upload: spool }],
    ),
  };
}

/** The bytes of one part: in memory while they are few. */
class Spool implements Upload {
  size = 0;
  head: Uint8Array = new Uint8Array();
  private kept: Uint8Array[] = [];
  private file: FileHandle | undefined;
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async add(bytes: Uint8Array, isField: boolean): Promise<void> {
    this.size += bytes.length;
    if (this.head.length < HEAD_BYTES) this.head = Buffer.concat([this.head, bytes]).subarray(0, HEAD_BYTES);
    if (isField || this.size <= MOST_IN_MEMORY_BYTES) {
      this.kept.push(bytes);
      return;
    }
    this.file ??= await openNameless(this.folder);
    for (const piece of [...this.kept, bytes]) await writeAll(this.file, piece);
    this.kept = [];
  }

  text(): string {
    return Buffer.concat(this.kept).toString();
  }

  async *open(): AsyncIterable<Uint8Array> {
    const { file } = this;
    if (!file) {
      yield* this.kept;
      return;
    }
    const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, this.size));
    for (let at = 0; at < this.size; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('An upload is shorter than it was.');
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  release(): void {
    this.kept = [];
    // Closing twice is harmless.
    this.file?.close().catch(() => {});
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, newId('modelport_upload_'));
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
}

function fieldsTooLarge(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The fields of a form may have at most ${MOST_FIELD_BYTES} bytes together.`,
  );
}
