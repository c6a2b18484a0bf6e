/** Multipart forms: read out of a body whole, and written. No part is copied before it is asked for. */
import { GatewayError } from '../canonical/errors.ts';

export interface FormPart {
  name: string;
  /** Absent where the part is a field, not a file. */
  filename?: string;
  contentType?: string;
  bytes: Uint8Array;
}

const MOST_PARTS = 200;
const BLANK_LINE = Buffer.from('\r\n\r\n');

/** The boundary where the content type is a form's; `undefined` where it is anything else. */
export function formBoundary(contentType: string | null): string | undefined {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType ?? '');
  return match?.[1] ?? match?.[2];
}

/** Throws `invalid_request` where the body breaks off or is no form. */
export function readForm(body: Uint8Array, boundary: string): FormPart[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const mark = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  let at = bytes.indexOf(mark);
  if (at < 0) throw broken('holds no part with the boundary its content type names');
  for (;;) {
    at += mark.length;
    if (bytes.subarray(at, at + 2).equals(Buffer.from('--'))) return parts;
    const head = bytes.indexOf('\r\n', at) + 2;
    const body = bytes.indexOf(BLANK_LINE, at);
    const end = body < 0 ? -1 : bytes.indexOf(Buffer.concat([Buffer.from('\r\n'), mark]), body + 2);
    if (head < 2 || body < 0 || end < 0) throw broken('breaks off in the middle of a part');
    if (parts.length === MOST_PARTS) throw broken(`holds more than ${MOST_PARTS} parts`);
    const start = Math.min(body + BLANK_LINE.length, end);
    parts.push(partOf(bytes.toString('utf8', head, Math.max(head, body)), bytes.subarray(start, end)));
    at = end + 2;
  }
}

function partOf(head: string, bytes: Uint8Array): FormPart {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? '';
  const name = quoted(disposition, 'name');
  if (name === undefined) throw broken('has a part without a name');
  const filename = quoted(disposition, 'filename');
  const contentType = /^content-type:\s*([^\s;]+)/im.exec(head)?.[1]?.toLowerCase();
  return {
    name,
    bytes,
    ...(filename !== undefined && { filename }),
    ...(contentType !== undefined && { contentType }),
  };
}

function quoted(disposition: string, parameter: string): string | undefined {
  const match = new RegExp(`;\\s*${parameter}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(disposition);
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2];
}

function broken(why: string): GatewayError {
  return new GatewayError('invalid_request', `The multipart body ${why}.`);
}

/** A form as bytes. The boundary must stand in no part: callers take a long one. */
export function writeForm(parts: readonly FormPart[], boundary: string): Uint8Array {
  const pieces = parts.flatMap(({ name, filename, contentType, bytes }) => {
    const file = filename === undefined ? '' : `; filename="${filename.replace(/["\\\r\n]/g, '_')}"`;
    const type = contentType === undefined ? '' : `content-type: ${contentType}\r\n`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${type}\r\n`;
    return [Buffer.from(head), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}
