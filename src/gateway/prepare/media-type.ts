/** The media type of bytes, from how they begin: a server's `content-type` is not reliable. Pure. */
import type { Media } from '../../canonical/call.ts';

const ascii = (bytes: Uint8Array, start: number, end: number) =>
  Buffer.from(bytes.subarray(start, end)).toString('latin1');

/** Signatures of formats, with their offset. */
const BEGINNINGS: readonly (readonly [mimeType: string, mark: string, at?: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
  ['image/webp', 'WEBP', 8],
  ['image/bmp', 'BM'],
  ['image/tiff', 'II*\0'],
  ['image/tiff', 'MM\0*'],
  ['image/avif', 'ftypavif', 4],
  ['image/heic', 'ftyphei', 4],
  ['image/heic', 'ftypmif1', 4],
  ['application/pdf', '%PDF-'],
  ['audio/wav', 'WAVE', 8],
  ['audio/mpeg', 'ID3'],
  ['audio/mpeg', '\xff\xfb'],
  ['audio/mpeg', '\xff\xf3'],
  ['audio/mpeg', '\xff\xf2'],
  ['audio/aac', '\xff\xf1'],
  ['audio/aac', '\xff\xf9'],
  ['audio/flac', 'fLaC'],
  ['audio/ogg', 'OggS'],
  ['audio/mp4', 'ftypM4A', 4],
  ['video/mp4', 'ftyp', 4],
  ['video/webm', '\x1aE\xdf\xa3'],
  ['video/x-msvideo', 'AVI ', 8],
  ['video/mpeg', '\0\0\x01\xba'],
];
const TEXTS = /^(text\/(?!html)|application\/(json|xml|yaml|x-yaml|x-ndjson)$|.*\+(json|xml)$)/;

/** `undefined`: the bytes are not of this kind. `declared`: the server's `content-type`. */
export function mediaTypeOf(kind: Media['kind'], bytes: Uint8Array, declared: string): string | undefined {
  const seen = BEGINNINGS.find(([, mark, at = 0]) => ascii(bytes, at, at + mark.length) === mark)?.[0];
  if (seen !== undefined) return seen === 'application/pdf' ? documentOnly(kind, seen) : ofKind(kind, seen);
  return kind === 'document' && isText(bytes) ? (TEXTS.test(declared) ? declared : 'text/plain') : undefined;
}

const documentOnly = (kind: Media['kind'], type: string) => (kind === 'document' ? type : undefined);
const ofKind = (kind: Media['kind'], type: string) => (type.startsWith(`${kind}/`) ? type : undefined);

/** UTF-8 without NUL, and not HTML: servers send an HTML page where a document is missing. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return !/^\s*<(!doctype html|html)/i.test(text);
  } catch {
    return false;
  }
}
