/** Reads a request's body. The size limit applies before and after decompression. */
import type { Load } from '../../access/work-bounds.ts';
import { entryOf } from '../../canonical/entry-of.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ClientRequest } from '../../http1/client-request.ts';
import { brokenBody } from '../request-error.ts';

type Undo = (
  bytes: Uint8Array,
  bound: { maxOutputLength: number },
  done: (error: Error | null, result: Uint8Array) => void,
) => void;
type Decompressor = 'gunzip' | 'inflate' | 'inflateRaw' | 'brotliDecompress' | 'zstdDecompress';

const DECOMPRESS: { readonly [encoding: string]: (bytes: Uint8Array) => Decompressor } = {
  gzip: () => 'gunzip',
  'x-gzip': () => 'gunzip',
  deflate: (bytes) => (hasZlibHead(bytes) ? 'inflate' : 'inflateRaw'),
  br: () => 'brotliDecompress',
  zstd: () => 'zstdDecompress',
};

/** `node:zlib` is loaded when it is first needed: loading it takes 7 ms of the start. */
function decompressed(how: Decompressor, bytes: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const undo: Undo = process.getBuiltinModule('node:zlib')[how];
    undo(bytes, { maxOutputLength }, (error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
  });
}

/** Each encoding may cost as much as a body of the maximum size. */
const MOST_ENCODINGS = 2;

/** A body whose bytes may still be arriving. */
export type ArrivingBody = Pick<ClientRequest['body'], 'length' | 'isRead' | 'read'>;

/**
 * Returns a promise if the body has not arrived yet. Throws GatewayError `request_too_large`, or `invalid_request` if the encoding is
 * unknown or the data is broken.
 */
export function readBody(
  { headers, body }: Pick<ClientRequest, 'headers' | 'body'>,
  maxBytes: number,
  load: Load,
): Uint8Array | Promise<Uint8Array> {
  refuseTooLarge(body, maxBytes);
  const encoding = headers.get('content-encoding');
  const arrived = body.takeArrived();
  if (arrived && arrived.length > maxBytes) throw tooLarge(maxBytes);
  // A body without content-length came in chunks and is not counted yet.
  if (arrived && body.length === undefined) load.take(arrived.length);
  const encoded = arrived ?? readPieces(body, maxBytes, load);
  return encoding === null ? encoded : decompress(encoded, encoding, maxBytes, load);
}

/** Throws `request_too_large` before the body is read if its announced length is too large. */
export function refuseTooLarge({ length }: ArrivingBody, maxBytes: number): void {
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
}

/** If the length was not announced, reading stops at the first byte above the limit. */
async function readPieces(body: ArrivingBody, maxBytes: number, load: Load): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (let piece = await body.read(); piece; piece = body.isRead ? undefined : await body.read()) {
      length += piece.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      if (body.length === undefined) load.take(piece.length);
      pieces.push(piece);
    }
  } catch (thrown) {
    throw brokenBody(thrown);
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, length);
}

async function decompress(
  encoded: Uint8Array | Promise<Uint8Array>,
  encodings: string,
  maxBytes: number,
  load: Load,
): Promise<Uint8Array> {
  let body = await encoded;
  // Encodings are listed in the order they were applied: the last one is removed first.
  const names = encodings.split(',');
  if (names.length > MOST_ENCODINGS) {
    throw new GatewayError('invalid_request', 'The body may be encoded twice at most.', { status: 415 });
  }
  for (const name of names.reverse()) {
    const encoding = name.trim().toLowerCase();
    if (encoding === 'identity' || encoding === '') continue;
    const undo = entryOf(DECOMPRESS, encoding);
    if (!undo) {
      const known = 'gzip, deflate, br or zstd';
      const sentence = `The content-encoding "${encoding}" is not supported: send ${known}, or no encoding.`;
      throw new GatewayError('invalid_request', sentence, { status: 415 });
    }
    try {
      body = await undone(undo(body), body, maxBytes, load);
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown;
      if (isTooLarge(thrown)) throw tooLarge(maxBytes);
      throw new GatewayError('invalid_request', `The body cannot be decoded with its content-encoding "${encoding}".`, {
        cause: thrown,
      });
    }
  }
  return body;
}

const isTooLarge = (thrown: unknown) => (thrown as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';

/** Text rarely compresses better than this. */
const USUAL_RATIO = 20;

/** Memory is counted before it is used: first for the usual ratio, and for the maximum size if that was not enough. */
async function undone(how: Decompressor, body: Uint8Array, maxBytes: number, load: Load): Promise<Uint8Array> {
  const usual = Math.min(maxBytes, body.length * USUAL_RATIO + 1024);
  load.take(usual);
  let reserved = usual;
  let whole: Uint8Array;
  try {
    whole = await decompressed(how, body, usual);
  } catch (thrown) {
    if (!isTooLarge(thrown) || usual === maxBytes) throw thrown;
    load.take(maxBytes - usual);
    reserved = maxBytes;
    whole = await decompressed(how, body, maxBytes);
  }
  load.give(reserved - whole.length);
  return whole;
}

/** "deflate" means the zlib format, but some clients send raw deflate. */
function hasZlibHead(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 15) === 8 && ((first << 8) | second) % 31 === 0;
}

export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The request body is larger than the maximum of ${maxBytes} bytes.`);
}
