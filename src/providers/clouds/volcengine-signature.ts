/**
 * Signs a request for Volcengine's OpenAPI (Signature V4, HMAC-SHA256). Source: Volcengine's documentation, "Signature
 * method".
 */
import { createHash, createHmac } from 'node:crypto';
import type { Outgoing } from '../outgoing.ts';

export interface VolcengineKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const ALGORITHM = 'HMAC-SHA256';

/** Signs the URL, the body, its type and the time. Other headers are not signed, so that proxies can change them. */
export function signForVolcengine(
  outgoing: Outgoing,
  { accessKeyId, secretAccessKey, sessionToken }: VolcengineKeys,
  { region, service }: { region: string; service: string },
  now: number,
): void {
  const { headers } = outgoing;
  const url = new URL(outgoing.url);
  const time = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const digest = sha256(outgoing.body ?? '');
  headers['x-date'] = time;
  headers['x-content-sha256'] = digest;
  if (sessionToken !== undefined) headers['x-security-token'] = sessionToken;
  const signed: { [name: string]: string } = { ...headers, host: url.host };
  const names = SIGNED.filter((name) => signed[name] !== undefined);
  const canonical = [
    outgoing.method,
    url.pathname,
    canonicalQuery(url.searchParams),
    ...names.map((name) => `${name}:${signed[name]?.trim()}`),
    '',
    names.join(';'),
    digest,
  ].join('\n');
  const scope = [time.slice(0, 8), region, service, 'request'];
  const key = scope.reduce<string | Uint8Array>((one, part) => hmac(one, part), secretAccessKey);
  const signature = Buffer.from(hmac(key, [ALGORITHM, time, scope.join('/'), sha256(canonical)].join('\n')));
  const credential = [accessKeyId, ...scope].join('/');
  headers.authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature.toString('hex')}`;
}

/** Sorted by name. */
const SIGNED = ['content-type', 'host', 'x-content-sha256', 'x-date', 'x-security-token'];

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
}

/** Percent-encodes all reserved characters (RFC 3986). */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hmac(key: string | Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest();
}
