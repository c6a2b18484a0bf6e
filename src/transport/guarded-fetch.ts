/** Fetches URLs given by clients: only from public addresses, checked again after each redirect, limited in size and time. */
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { GatewayError } from '../canonical/errors.ts';
import { isPublicAddress } from './public-address.ts';

/** A fetched file. */
export interface Fetched {
  bytes: Uint8Array;
  /** The server's media type in lower case without parameters; empty if it sent none. */
  contentType: string;
}

export interface GuardedFetch {
  /** Throws `invalid_request` if the URL itself shows that it must not be fetched. Sends no request. */
  check(url: string): void;
  /** Fetches the file. Throws `invalid_request` if the URL is refused, or no usable response arrives in time. */
  fetch(url: string, signal: AbortSignal): Promise<Fetched>;
  /** Sends a POST and returns the status of the response. Redirects are not followed. Throws `invalid_request` as `fetch`. */
  post(url: string, headers: { [name: string]: string }, body: string, signal: AbortSignal): Promise<number>;
  /** Sends a request and returns the response, of any status. Redirects are not followed. Throws `invalid_request` as `fetch`. */
  send(url: string, request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse>;
}

export interface GuardedRequest {
  method: string;
  headers: { [name: string]: string };
  body?: string;
  maxBytes: number;
}

export interface GuardedResponse {
  status: number;
  headers: { [name: string]: string };
  bytes: Uint8Array<ArrayBuffer>;
}

export interface GuardOptions {
  /** Private addresses that are allowed all the same. */
  allows(address: string): boolean;
  maxBytes: number;
  /** From the first name lookup to the last byte, redirects included. */
  timeoutMs: number;
  /** Resolves the addresses of a host. */
  resolve?: (host: string) => Promise<readonly string[]>;
}

const MOST_REDIRECTS = 5;
// Node's modules are loaded when they are first needed: few gateways fetch URLs, and loading these takes 15 ms of the start.
const isIP = (text: string) => process.getBuiltinModule('node:net').isIP(text);
const zlib = () => process.getBuiltinModule('node:zlib');
const UNPACKERS = {
  gzip: () => zlib().createGunzip(),
  'x-gzip': () => zlib().createGunzip(),
  deflate: () => zlib().createInflate(),
  br: () => zlib().createBrotliDecompress(),
};

export function createGuardedFetch(options: GuardOptions): GuardedFetch {
  const { maxBytes, timeoutMs, resolve = resolveHost } = options;
  const mayAsk = (address: string) => isPublicAddress(address) || options.allows(address);

  function checked(text: string): URL {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) throw refused('must be an http or https URL');
    if (url.username !== '' || url.password !== '') throw refused('must not contain a user name or password');
    const host = hostOf(url);
    if (isIP(host) && !mayAsk(host)) throw notPublic();
    return url;
  }

  /** The addresses of the host. If one of them is not allowed, the host is refused. */
  async function addressesOf(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    if (isIP(host)) return [host];
    const addresses = await resolve(host).catch((cause) => {
      throw refused('has an unknown host', cause);
    });
    if (addresses.length === 0) throw refused('has an unknown host');
    if (!addresses.every(mayAsk)) throw notPublic();
    return addresses;
  }

  async function follow(text: string, signal: AbortSignal): Promise<Fetched> {
    let url = checked(text);
    for (let redirects = 0; ; redirects++) {
      const answer = await ask(url, await addressesOf(url), signal);
      const { statusCode: status = 0, headers } = answer;
      if (status >= 300 && status < 400 && headers.location !== undefined) {
        answer.destroy();
        if (redirects === MOST_REDIRECTS) throw refused(`redirects more than ${MOST_REDIRECTS} times`);
        url = checked(URL.parse(headers.location, url.href)?.href ?? '');
        continue;
      }
      if (status !== 200) {
        answer.destroy();
        throw refused(`was answered with status ${status}`);
      }
      const contentType = (headers['content-type']?.split(';')[0] ?? '').trim().toLowerCase();
      return { bytes: await readBody(answer, maxBytes), contentType };
    }
  }

  return {
    check(url) {
      checked(url);
    },
    async fetch(url, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, timeout]);
      try {
        return await untilAborted(follow(url, either), either);
      } catch (thrown) {
        if (timeout.aborted) throw refused(`did not answer completely within ${timeoutMs} ms`, thrown);
        throw thrown instanceof GatewayError ? thrown : refused('could not be reached', thrown);
      }
    },
    async post(text, headers, body, signal) {
      const url = checked(text);
      // The lookup of a name may take longer than the rest.
      const addresses = await untilAborted(addressesOf(url), signal);
      const answer = await untilAborted(ask(url, addresses, signal, { headers, body }), signal);
      answer.destroy();
      return answer.statusCode ?? 0;
    },
    send: (text, { maxBytes: most, ...request }, signal) =>
      untilAborted(
        (async () => {
          const url = checked(text);
          const answer = await ask(url, await addressesOf(url), signal, request);
          const headers: GuardedResponse['headers'] = {};
          for (const [name, value] of Object.entries(answer.headers))
            if (value !== undefined) headers[name] = String(value);
          return { status: answer.statusCode ?? 0, headers, bytes: Uint8Array.from(await readBody(answer, most)) };
        })(),
        signal,
      ),
  };
}

interface Sent {
  /** POST if absent. */
  method?: string;
  headers: { [name: string]: string };
  body?: string;
}

/** Sends the request to one of these addresses. The host name is used for the request and the TLS handshake, and never resolved again. */
async function ask(url: URL, addresses: readonly string[], signal: AbortSignal, sent?: Sent): Promise<IncomingMessage> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = found;
  const known: LookupFunction = (_host, { all }, answer) => {
    if (all) answer(null, found);
    else answer(null, first?.address ?? '', first?.family);
  };
  const headers = { 'user-agent': 'modelport', accept: '*/*', 'accept-encoding': 'identity', connection: 'close' };
  // Loaded on first use: few gateways fetch URLs, and it takes an eighth of the start.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const method = sent ? (sent.method ?? 'POST') : 'GET';
    const request = send(url, {
      method,
      lookup: known,
      headers: { ...headers, ...sent?.headers },
      agent: false,
      signal,
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(sent?.body);
  });
}

/** The body, decompressed if necessary. Both sizes are limited. */
async function readBody(answer: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => refused(`has more than ${maxBytes} bytes`);
  const packing = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unpack = packing in UNPACKERS ? UNPACKERS[packing as keyof typeof UNPACKERS] : undefined;
  try {
    if (!unpack && packing !== 'identity' && packing !== '') throw refused('has an unsupported content-encoding');
    if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    const chunks: Uint8Array[] = [];
    let size = 0;
    const body = unpack ? answer.pipe(unpack()) : answer;
    if (body !== answer) answer.on('error', (thrown) => body.destroy(thrown));
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    if (!answer.complete) throw refused('broke off');
    return Buffer.concat(chunks, size);
  } finally {
    answer.destroy();
  }
}

/** In a URL an IPv6 address has brackets, and a name may end with the root's dot. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

async function resolveHost(host: string): Promise<string[]> {
  const { lookup } = await import('node:dns/promises');
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

/** Rejects at once when the signal aborts, even if the promise is still pending. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The end of the error message; the caller names the URL's position. It does not contain the URL. */
function refused(why: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `The address ${why}.`, { cause });
}

function notPublic(): GatewayError {
  return refused('must have a public host: this one is not public');
}
