/** Verifies Signature Version 4 as AWS and Volcengine do: from the received request, without the signer's code. */
import { createHash, createHmac } from 'node:crypto';

export interface Arrived {
  method: string;
  /** Path and query as in the request line. */
  path: string;
  /** By lower-case name. */
  headers: { [name: string]: string };
  body: string | Uint8Array;
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text).digest();
const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** The names that the two services use. */
const AWS = { algorithm: 'AWS4-HMAC-SHA256', date: 'x-amz-date', keyPrefix: 'AWS4' };
export const VOLCENGINE: typeof AWS = { algorithm: 'HMAC-SHA256', date: 'x-date', keyPrefix: '' };

/** Whether the request was signed with this secret, and for which service and region. */
export function verifySignature(
  arrived: Arrived,
  secret: string,
  { algorithm, date, keyPrefix } = AWS,
): { ok: boolean; scope: string; signed: string[] } {
  const [, named, scope = '', names = '', signature] =
    /^(\S+) Credential=[^/]+\/(\S+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      arrived.headers.authorization ?? '',
    ) ?? [];
  const [path = '', query = ''] = arrived.path.split('?');
  const signed = names.split(';');
  const canonical = [
    arrived.method,
    path.split('/').map(escaped).join('/'),
    query
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .sort()
      .join('&'),
    ...signed.map((name) => `${name}:${(arrived.headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names,
    // Object stores accept unsigned bodies; a signed one has the hash in the header.
    arrived.headers['x-amz-content-sha256'] === 'UNSIGNED-PAYLOAD' ? 'UNSIGNED-PAYLOAD' : sha256(arrived.body),
  ].join('\n');
  const toSign = [algorithm, arrived.headers[date], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Uint8Array>((one, part) => hmac(one, part), keyPrefix + secret);
  return { ok: named === algorithm && hmac(key, toSign).toString('hex') === signature, scope, signed };
}
