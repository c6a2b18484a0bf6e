/**
 * What belongs to the operator is struck from everything a provider says, by its value: a provider that repeats a credential of no
 * known form, the host it was asked at or the operator's account tells nobody.
 */
import { GatewayError } from './errors.ts';

/** What an attempt was made with. */
export interface AttemptedWith {
  /** Of the provider, all of them. */
  readonly credentials: readonly string[];
  /** Where it was asked; the first is the operator's own, if any is. */
  readonly addresses: readonly (string | undefined)[];
  /** Of the provider (`project`, `tenantId` …). */
  readonly settings: { readonly [name: string]: string };
  /** What was sent beside the body: tokens and signatures are made of the credential. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/** What is looked for, and what stands in its place. */
interface Struck {
  find: RegExp;
  put: string;
}

/** Shorter ones are words that sentences are made of. */
const SHORTEST = 6;
const KEY = '[key]';
const HOST = '[host]';
const ACCOUNT = '[account]';

/** The error without what it was made with, causes included; the very same where there is nothing of it. */
export function withoutSecrets(error: GatewayError, attempted: AttemptedWith): GatewayError {
  const all = struckOf(attempted);
  const message = strike(error.message, all);
  const param = error.param === undefined ? undefined : strike(error.param, all);
  const isKept = (word: string | undefined) => word === undefined || strike(word, all) === word;
  const cause = struckCause(error.cause, all);
  const words = isKept(error.vendorCode) && isKept(error.vendorType);
  if (words && message === error.message && param === error.param && cause === error.cause) return error;
  const { status, retryable, unsent, inDoubt, retryAfterSeconds, rateLimits, vendorCode, vendorType } = error;
  return new GatewayError(error.code, message, {
    status,
    retryable,
    unsent,
    inDoubt,
    cause,
    ...(param !== undefined && { param }),
    ...(vendorCode !== undefined && isKept(vendorCode) && { vendorCode }),
    ...(vendorType !== undefined && isKept(vendorType) && { vendorType }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(rateLimits && { rateLimits }),
  });
}

/** The text without what it was made with. */
export function textWithoutSecrets(text: string, attempted: AttemptedWith): string {
  return strike(text, struckOf(attempted));
}

function strike(text: string, all: readonly Struck[]): string {
  let left = text;
  for (const { find, put } of all) left = left.replace(find, put);
  return left;
}

/** Causes are for the log, where a key is as wrong as in a reply. */
function struckCause(cause: unknown, all: readonly Struck[]): unknown {
  if (typeof cause === 'string') return strike(cause, all);
  if (typeof cause !== 'object' || cause === null) return cause;
  if (cause instanceof Error) {
    const inner = struckCause(cause.cause, all);
    const message = strike(cause.message, all);
    if (message === cause.message && inner === cause.cause) return cause;
    const struck = new Error(message, { cause: inner });
    struck.name = cause.name;
    return struck;
  }
  const before = JSON.stringify(cause);
  const after = before === undefined ? before : strike(before, all);
  return after === before ? cause : after;
}

function struckOf({ credentials, addresses, settings, headers = {} }: AttemptedWith): Struck[] {
  const keys = [...credentials.flatMap(partsOf), ...Object.entries(headers).flatMap(secretsIn)];
  const accounts = Object.entries(settings).flatMap(([name, value]) => (isPublic(name) ? [] : partsOf(value)));
  const hosts = addresses.flatMap(hostsOf);
  return [
    ...keys.flatMap(formsOf).flatMap((text) => struck(text, KEY)),
    ...keys.flatMap(maskedForm),
    ...hosts.flatMap((text) => struck(text, HOST)),
    ...[...accounts, ...accountsIn(addresses[0])].flatMap((text) => struck(text, ACCOUNT)),
  ].sort((a, b) => b.find.source.length - a.find.source.length);
}

function struck(text: string, put: string): Struck[] {
  return text.length < SHORTEST ? [] : [{ find: new RegExp(escaped(text), 'gi'), put }];
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Settings that say where, not who. */
const isPublic = (name: string) => /^(region|location|apiVersion|api_version|version|format)$/i.test(name);

/** The whole, and what it is made of: `id:secret`, the members of an account's JSON, the lines of a private key. */
function partsOf(secret: string): string[] {
  const parts = secret.trimStart().startsWith('{') ? jsonTexts(secret) : secret.split(':');
  const lines = parts.flatMap((part) => part.split(/\r?\n/)).filter((line) => !line.startsWith('-----'));
  return [...new Set([secret, ...parts, ...lines])].filter((part) => !PUBLIC_TEXT.test(part));
}

/** What an account's JSON holds beside secrets: addresses of its issuer, and what kind of account it is. */
const PUBLIC_TEXT =
  /^(https?:\/\/.*googleapis\.com.*|https:\/\/accounts\.google\.com.*|service_account|authorized_user|googleapis\.com)$/;

function jsonTexts(json: string): string[] {
  try {
    return Object.values(JSON.parse(json) as object).filter((value): value is string => typeof value === 'string');
  } catch {
    return [];
  }
}

const SECRET_HEADER = /auth|key|token|signature|secret|credential|date/i;

/** What follows a scheme (`Bearer`, `AWS4-HMAC-SHA256 Credential=…, Signature=…`). */
function secretsIn([name, value]: [string, string]): string[] {
  if (!SECRET_HEADER.test(name)) return [];
  return [value, ...value.split(/[\s,]+/).flatMap((part) => [part, part.slice(part.indexOf('=') + 1)])].filter(
    (part) => part.length >= SHORTEST && !/^(bearer|basic|aws4-hmac-sha256|hmac-sha256)$/i.test(part),
  );
}

/** As it is, escaped for addresses and JSON, and within base64 wherever it begins there. */
function formsOf(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last character hold bits of their neighbours.
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [
    ...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...base64, ...urlSafe, hex]),
  ];
}

/** Providers show a key's beginning, and its end behind stars or dots. */
function maskedForm(secret: string): Struck[] {
  if (secret.length < SHORTEST) return [];
  const stars = `${escaped(secret.slice(0, 4))}[\\w-]*[*•]{2,}[\\w-]*`;
  const dots = `${escaped(secret.slice(0, SHORTEST))}[\\w-]*(?:…|\\.{3})[.…]*[\\w-]*`;
  return [{ find: new RegExp(`${stars}|${dots}`, 'g'), put: KEY }];
}

function hostsOf(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  return url ? [...new Set([url.host, url.hostname])] : [];
}

/** Names that every address of a kind has. */
const COMMON_LABEL = /^(api|apis|www|models|inference|openai|chat|gateway|localhost|bedrock[\w-]*|[\d.]+)$/i;
const COMMON_SEGMENT = /^[a-z]{1,12}$|^v\d\w*$/i;

/** Clouds name an account's resources in its address: `my-resource.openai.azure.com`, `/accounts/0123abcd…/ai`. */
function accountsIn(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  if (!url) return [];
  const labels = url.hostname.split('.');
  const first = labels.length > 2 ? (labels[0] ?? '') : '';
  const segments = url.pathname.split('/').filter((segment) => !COMMON_SEGMENT.test(segment));
  return [...(COMMON_LABEL.test(first) ? [] : [first]), ...segments].filter((text) => text.length >= SHORTEST);
}
