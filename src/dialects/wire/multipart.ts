/** Multipart forms: parses a complete body, and writes one. Parts are not copied until they are read. */
import { joinedUpload, type Streamed, type Upload, uploadOf } from '../../canonical/upload.ts';
import { createFormCutter, type PartHead } from './form-cutter.ts';

export interface FormPart extends PartHead {
  bytes: Uint8Array;
}

export interface FormFile extends PartHead {
  filename: string;
  upload: Upload;
}

/** A parsed form: its fields in order, and its files. */
export interface Form {
  fields: readonly (readonly [name: string, value: string])[];
  files: readonly FormFile[];
}

/** The boundary of a multipart form's content type; `undefined` for any other content type. */
export function formBoundary(contentType: string | null): string | undefined {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType ?? '');
  return match?.[1] ?? match?.[2];
}

/** The content type of a form with this boundary. */
export function formType(boundary: string): string {
  return `multipart/form-data; boundary=${/^[-\w.+']+$/.test(boundary) ? boundary : `"${boundary}"`}`;
}

/** Throws `invalid_request` if the body is not a complete form. */
export function readForm(body: Uint8Array, boundary: string): FormPart[] {
  const parts: FormPart[] = [];
  const cutter = createFormCutter(boundary);
  for (const event of cutter.read(body)) {
    const part = parts.at(-1);
    if (event.type === 'part') parts.push({ ...event.head, bytes: new Uint8Array() });
    else if (part) part.bytes = event.bytes;
  }
  cutter.end();
  return parts;
}

/** Parses a form into fields and files. Throws `invalid_request` if it is not complete. */
export function formIn(body: Uint8Array, boundary: string): Form {
  const parts = readForm(body, boundary);
  return {
    fields: parts.flatMap(({ name, filename, bytes }) =>
      filename === undefined ? [[name, Buffer.from(bytes).toString()] as const] : [],
    ),
    files: parts.flatMap(({ filename, bytes, ...head }) =>
      filename === undefined ? [] : [{ ...head, filename, upload: uploadOf(bytes) }],
    ),
  };
}

/**
 * Encodes a form as bytes; its files may be stored outside memory. The boundary must not occur in any part, so it must
 * be random.
 */
export function streamForm({ fields, files }: Form, boundary: string): Streamed {
  const end = Buffer.from('\r\n');
  return joinedUpload([
    ...fields.flatMap(([name, value]) => [writeHead({ name }, boundary), Buffer.from(value), end]),
    ...files.flatMap(({ upload, ...head }) => [writeHead(head, boundary), upload, end]),
    ending(boundary),
  ]);
}

function writeHead({ name, filename, contentType }: PartHead, boundary: string): Uint8Array {
  const file = filename === undefined ? '' : `; filename="${harmless(filename)}"`;
  const type = contentType === undefined ? '' : `content-type: ${harmless(contentType)}\r\n`;
  return Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${harmless(name)}"${file}\r\n${type}\r\n`);
}

/** Replaces the characters that would end the quoted word. */
const harmless = (word: string) => word.replace(/["\\\r\n]/g, '_');

const ending = (boundary: string) => Buffer.from(`--${boundary}--\r\n`);
