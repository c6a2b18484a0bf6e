/** Sends a stored file, in whole or the part requested by `Range` (RFC 9110, section 14). */
import { GatewayError } from '../../../canonical/errors.ts';
import type { ByteRange, Files } from '../../../files/files.ts';

const RANGE = /^bytes=(\d*)-(\d*)$/;

/** `file`: the stored file's name. Throws `not_found`. */
export async function fileReply(
  files: Files,
  file: string,
  mimeType: string,
  requested: Pick<Headers, 'get'>,
): Promise<Response> {
  const size = await files.size(file);
  if (size === undefined) throw new GatewayError('not_found', 'There is no such file, or it has expired.');
  const headers = {
    'content-type': mimeType,
    'accept-ranges': 'bytes',
    etag: `"${file}"`,
    'cache-control': 'private, max-age=3600',
    // An SVG image from a provider may contain scripts.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  };
  const wanted =
    requested.get('if-range') === null || requested.get('if-range') === headers.etag ? requested.get('range') : null;
  const range = wanted === null ? 'whole' : rangeIn(wanted, size);
  if (range === 'whole') {
    return new Response(files.read(file, { start: 0, end: size }), {
      headers: { ...headers, 'content-length': String(size) },
    });
  }
  if (range === 'beyond')
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` } });
  const { start, end } = range;
  return new Response(files.read(file, range), {
    status: 206,
    headers: {
      ...headers,
      'content-length': String(end - start),
      'content-range': `bytes ${start}-${end - 1}/${size}`,
    },
  });
}

/** A request for several ranges, and an invalid range, get the complete file. */
function rangeIn(header: string, size: number): ByteRange | 'whole' | 'beyond' {
  const found = RANGE.exec(header.trim());
  const [, first = '', last = ''] = found ?? [];
  if (!found || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'beyond' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (start >= size) return 'beyond';
  if (last !== '' && Number(last) < start) return 'whole';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
