/** Multipart forms: read out of a body whole, and written. No part is copied before it is asked for. */
import { joined, type Streamed, type Upload, uploadOf } from '../../canonical/upload.ts';
import { createFormCutter, type PartHead } from './form-cutter.ts';

export interface FormPart extends PartHead {
  bytes: Uint8Array;
}

export interface FormFile extends PartHead {
  filename: string;
  upload: Upload;
}

/** A form taken apart: its fields in order, and its files. */
export interface Form {
  fields: readonly (readonly [name: string, value: string])[];
  files: readonly FormFile[];
}

/** The boundary where the content type is a form's; `undefined` where it is anything else. */
export function formBoundary(contentType: string | null): string | undefined {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType ?? '');
  return match?.[1] ?? match?.[2];
}

/** The content type of a form with this boundary. */
export function formType(boundary: string): string {
  return `multipart/form-data; boundary=${/^[-\w.+']+$/.test(boundary) ? boundary : `"${boundary}"`}`;
}

/** Throws `invalid_request` where the body breaks off or is no form. */
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

/** The same, its files apart from its fields. */
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

/** A form as bytes, whose files may stand outside memory. The boundary must stand in no part: it is one that nobody could guess. */
export function streamForm({ fields, files }: Form, boundary: string): Streamed {
  const end = Buffer.from('\r\n');
  return joined([
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

/** What could end the word it stands in is replaced. */
const harmless = (word: string) => word.replace(/["\\\r\n]/g, '_');

const ending = (boundary: string) => Buffer.from(`--${boundary}--\r\n`);
