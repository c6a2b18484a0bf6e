/** Fetches what a client names by address: from public addresses alone, checked anew at each redirect, bounded in size and time. */
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatewayError } from '../canonical/errors.ts';
import { isPublicAddress } from './public-address.ts';

/** What stood at an address. */
export interface Fetched {
  bytes: Uint8Array;
  /** As its server called it, in lower case and without parameters; empty where it said nothing. */
  contentType: string;
}

export interface GuardedFetch {
  /** Throws `invalid_request` where the address itself says that it may not be fetched; asks no network. */
  check(url: string): void;
  /** What stands there. Throws `invalid_request`: the address is refused, or nothing usable came in time. */
  fetch(url: string, signal: AbortSignal): Promise<Fetched>;
  /** Sends something there and gives the status of the answer; redirects are not followed. Throws `invalid_request` likewise. */
  post(url: string, headers: { [name: string]: string }, body: string, signal: AbortSignal): Promise<number>;
}

export interface GuardOptions {
  /** Addresses that are not public and may be asked all the same. */
  allows(address: string): boolean;
  maxBytes: number;
  /** From the first name resolved to the last byte read, redirects included. */
  timeoutMs: number;
  /** The addresses of a host. */
  resolve?: (host: string) => Promise<readonly string[]>;
}

const MOST_REDIRECTS = 5;
const UNPACKERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

export function createGuardedFetch(options: GuardOptions): GuardedFetch {
  const { maxBytes, timeoutMs, resolve = resolveHost } = options;
  const mayAsk = (address: string) => isPublicAddress(address) || options.allows(address);

  function checked(text: string): URL {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) throw refused('must be an http or https address');
    if (url.username !== '' || url.password !== '') throw refused('must hold no user name and no password');
    const host = hostOf(url);
    if (isIP(host) && !mayAsk(host)) throw notPublic();
    return url;
  }

  /** The host's addresses, every one of which may be asked: a name that also leads inside is refused whole. */
  async function addressesOf(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    if (isIP(host)) return [host];
    const addresses = await resolve(host).catch((cause) => {
      throw refused('has a host that is not known', cause);
    });
    if (addresses.length === 0) throw refused('has a host that is not known');
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
        if (timeout.aborted) throw refused(`was not answered in whole within ${timeoutMs} ms`, thrown);
        throw thrown instanceof GatewayError ? thrown : refused('could not be reached', thrown);
      }
    },
    async post(text, headers, body, signal) {
      const url = checked(text);
      const answer = await untilAborted(ask(url, await addressesOf(url), signal, { headers, body }), signal);
      answer.destroy();
      return answer.statusCode ?? 0;
    },
  };
}

interface Posted {
  headers: { [name: string]: string };
  body: string;
}

/** Asks one of these addresses for the URL: the host's name goes into the request and the handshake, never to a resolver again. */
async function ask(
  url: URL,
  addresses: readonly string[],
  signal: AbortSignal,
  post?: Posted,
): Promise<IncomingMessage> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = found;
  const known: LookupFunction = (_host, { all }, answer) => {
    if (all) answer(null, found);
    else answer(null, first?.address ?? '', first?.family);
  };
  const headers = { 'user-agent': 'modelport', accept: '*/*', 'accept-encoding': 'identity', connection: 'close' };
  // Loaded when it is needed: few gateways ever fetch, and it is an eighth of the start.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const method = post ? 'POST' : 'GET';
    const request = send(url, {
      method,
      lookup: known,
      headers: { ...headers, ...post?.headers },
      agent: false,
      signal,
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(post?.body);
  });
}

/** The body, unpacked where it was packed all the same; both are bounded. */
async function readBody(answer: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => refused(`holds more than ${maxBytes} bytes`);
  const packing = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unpack = packing in UNPACKERS ? UNPACKERS[packing as keyof typeof UNPACKERS] : undefined;
  try {
    if (!unpack && packing !== 'identity' && packing !== '') throw refused('is packed in an unknown way');
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

/** An IPv6 address stands in brackets in a URL; a name may end with the dot of the root. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

async function resolveHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

/** Rejects at once when the signal aborts, whatever the promise still waits for. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The sentence's end: the caller says what the address is one of. Never what stands behind it. */
function refused(why: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `The address ${why}.`, { cause });
}

function notPublic(): GatewayError {
  return refused('must lead to a public host: this one does not');
}
