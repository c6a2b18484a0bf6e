/** Client of the admin API for commands: paths below `/admin/v1`, complete lists, errors as sentences. */
import { type Money, readMoney } from '../canonical/money.ts';
import type { CliServer, SendRequest } from './cli-deps.ts';
import { UsageError } from './command.ts';

export interface AdminClientOptions {
  server: CliServer;
  /** The version of this command line. */
  version: string;
  ask: SendRequest;
  /** Writes a warning, separate from the command's output. */
  warn(sentence: string): void;
  /** The time limit for the server's greeting in milliseconds; 10 s by default. */
  greetingMs?: number;
}

export type Query = { readonly [name: string]: string | number | undefined };

/** Responses have the members that the admin API describes. */
export interface AdminClient {
  get<Reply>(path: string, query?: Query): Promise<Reply>;
  /** All rows of a paged list. */
  list<Row>(path: string, query?: Query): Promise<Row[]>;
  send<Reply>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    more?: SendOptions,
  ): Promise<Reply>;
}

interface SendOptions {
  query?: Query;
  idempotencyKey?: string | undefined;
}

/** The server cannot answer now: it restarts, or its database does not answer. */
export class UnavailableError extends UsageError {}

/** The server refused the request; its sentence is printed. */
class RefusedError extends UsageError {}

interface SentRequest {
  body?: object | undefined;
  timeoutMs?: number;
}

const PAGE_LIMIT = 1000;
const GREETING_MS = 10_000;

/** The first request is sent without the key, to check that the server is Modelport: no other server gets the key. */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const { server, version, ask, warn, greetingMs = GREETING_MS } = options;
  const { url, key, certificate } = server;
  let greeted: Promise<string> | undefined;

  async function exchange(method: string, path: string, headers: { [name: string]: string }, more: SentRequest = {}) {
    const { body, timeoutMs } = more;
    try {
      const text = body && JSON.stringify(body);
      return await ask({ method, url: `${url}${path}`, headers, ...(text && { body: text }), certificate, timeoutMs });
    } catch (thrown) {
      throw unreachable(url, thrown);
    }
  }

  /** Returns the server's version. */
  async function greet(): Promise<string> {
    const { status, text, header } = await exchange(
      'GET',
      '/',
      { accept: 'application/json' },
      { timeoutMs: greetingMs },
    );
    const members = status === 200 ? membersOf(text) : undefined;
    if (members?.name !== 'modelport' || typeof members.version !== 'string')
      throw stranger(url, status, header('location'));
    if (members.version !== version) warn(skew(url, members.version, version));
    return members.version;
  }

  async function request<Reply>(method: string, path: string, body?: object, more: SendOptions = {}): Promise<Reply> {
    greeted ??= greet();
    const serverVersion = await greeted;
    const { idempotencyKey, query = {} } = more;
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const { status, text } = await exchange(
      method,
      `/admin/v1${path}${search.size > 0 ? `?${search}` : ''}`,
      {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      { body },
    );
    const members = membersOf(text);
    // 202: the rest is still being computed; the reply has the progress.
    if ((status === 200 || status === 202) && members) return members as Reply;
    throw refusal(server, { status, path, members }, { here: version, there: serverVersion });
  }

  return {
    get: (path, query = {}) => request('GET', path, undefined, { query }),
    async list<Row>(path: string, query: Query = {}) {
      const rows: Row[] = [];
      for (let after: string | undefined; ; ) {
        const asked = { query: { ...query, limit: PAGE_LIMIT, after } };
        const page = await request<{ data: Row[]; next: string | null }>('GET', path, undefined, asked);
        rows.push(...page.data);
        if (page.next === null) return rows;
        after = page.next;
      }
    },
    send: (method, path, body, more) => request(method, path, body, more),
  };
}

function membersOf(text: string): { [member: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as { [member: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}

const START_OR_NAME = 'Start one with "modelport serve", or name its address with --url or MODELPORT_URL.';

function unreachable(url: string, thrown: unknown): UnavailableError {
  const { code = '', message, name } = thrown as Error & { code?: string };
  if (name === 'TimeoutError')
    return new UnavailableError(`The server at ${url} does not answer: is the URL right?`, { cause: thrown });
  if (code === 'ENOTFOUND') return new UnavailableError(`There is no such host: ${url}. ${START_OR_NAME}`);
  if (code === 'ECONNREFUSED') return new UnavailableError(`No server answers at ${url}. ${START_OR_NAME}`);
  const reason = /CERT|SELF_SIGNED|ALTNAME|ISSUER/.test(code)
    ? `its certificate is not trusted here (${code}); NODE_EXTRA_CA_CERTS names a file of your own authority`
    : message.replace(/^\w+: /, '').replace(/\.$/, '');
  return new UnavailableError(`The server at ${url} cannot be reached: ${reason}.`, { cause: thrown });
}

function stranger(url: string, status: number, location: string | null): UsageError {
  const answered = location === null ? `status ${status}` : `status ${status}, to ${location}`;
  return new UsageError(
    `The server at ${url} is not Modelport (${answered}). Name the URL of one with --url or MODELPORT_URL.`,
  );
}

const skew = (url: string, there: string, here: string): string =>
  `The server at ${url} is Modelport ${there}, this command line is ${here}: what only one of them supports will fail.`;

interface Refused {
  status: number;
  path: string;
  members: { [member: string]: unknown } | undefined;
}

function refusal(
  { url, keyFrom }: CliServer,
  { status, path, members }: Refused,
  version: { here: string; there: string },
) {
  const error = (members?.error ?? {}) as { code?: unknown; message?: unknown; param?: unknown };
  // A proxy before a server that restarts.
  if (typeof error.message !== 'string' && status >= 500)
    return new UnavailableError(`The server at ${url} answered with status ${status}.`);
  if (typeof error.message !== 'string') return misunderstood(url, `status ${status}`);
  if (status === 401) return new RefusedError(`${url} refuses the admin key of ${keyFrom}: ${error.message}`);
  if (status === 403) return new RefusedError(`${url} refuses the key of ${keyFrom}: ${error.message}`);
  // A missing account, key or model is reported with a member.
  if (status === 404 && error.param == null) return new RefusedError(nothingThere(url, path, version));
  if (status >= 500) return new UnavailableError(error.message);
  return new RefusedError(`${error.message}${hintFor(status, path, error.param)}`);
}

function nothingThere(url: string, path: string, { here, there }: { here: string; there: string }): string {
  const why =
    here === there
      ? 'its admin API may be at another address (MODELPORT_ADMIN_LISTEN)'
      : `it is Modelport ${there}, and this command is of ${here}: use the same version`;
  return `The server at ${url} has nothing at /admin/v1${path}: ${why}.`;
}

function hintFor(status: number, path: string, param: unknown): string {
  if (status !== 404) return '';
  if (param === 'account') return ' "modelport accounts list" lists them.';
  return path.startsWith('/keys/') ? ' "modelport keys list" lists them.' : '';
}

const misunderstood = (url: string, what: string): UsageError =>
  new UsageError(`The response of the server at ${url} is not understood by this version (${what}).`);

/** Parses an amount of the admin API. */
export function moneyIn(text: string): Money {
  const amount = readMoney(text);
  if (amount === undefined) throw new UsageError(`The server returned "${text}" instead of an amount.`);
  return amount;
}

/** Encodes a name or id as part of a path. */
export const part = (name: string): string => encodeURIComponent(name);
