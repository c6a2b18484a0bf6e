/**
 * Removes the operator's secrets from all texts of a provider, by value: credentials, the host that was called, and the operator's
 * account.
 */
import { GatewayError } from './errors.ts';

/** What a request to a provider was made with. */
export interface AttemptedWith {
  /** All credentials of the provider. */
  readonly credentials: readonly string[];
  /** The URLs that were called; the first is the operator's own, if there is one. */
  readonly addresses: readonly (string | undefined)[];
  /** The provider's settings (`project`, `tenantId` …). */
  readonly settings: { readonly [name: string]: string };
  /** Headers that were sent: tokens and signatures are derived from the credential. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/** Names of provider settings that are secrets. */
export const SECRET_SETTING = /secret|password|(session|access|refresh)Token$/i;

/** The last four characters: enough to recognise a secret, too few to guess it. */
export function lastFour(secret: string): string {
  return secret.length < 12 ? '…' : `…${secret.slice(-4)}`;
}

/** A text to find and its replacement. */
interface Struck {
  find: RegExp;
  put: string;
}

/** Shorter values could be ordinary words. */
const SHORTEST = 6;
const KEY = '[key]';
const HOST = '[host]';
const ACCOUNT = '[account]';

/** The error with all secrets removed, causes included. The same object if it contains none. */
export function withoutSecrets(error: GatewayError, attempted: AttemptedWith): GatewayError {
  const all = struckOf(attempted);
  const message = strike(error.message, all);
  const param = error.param === undefined ? undefined : strike(error.param, all);
  const isKept = (word: string | undefined) => word === undefined || strike(word, all) === word;
  const cause = struckCause(error.cause, all);
  const words = isKept(error.providerCode) && isKept(error.providerErrorType);
  if (words && message === error.message && param === error.param && cause === error.cause) return error;
  const { status, retryable, unsent, inDoubt, retryAfterSeconds, rateLimits, providerCode, providerErrorType } = error;
  return new GatewayError(error.code, message, {
    status,
    retryable,
    unsent,
    inDoubt,
    cause,
    ...(param !== undefined && { param }),
    ...(providerCode !== undefined && isKept(providerCode) && { providerCode }),
    ...(providerErrorType !== undefined && isKept(providerErrorType) && { providerErrorType }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(rateLimits && { rateLimits }),
  });
}

/** The text with all secrets removed. */
export function textWithoutSecrets(text: string, attempted: AttemptedWith): string {
  return strike(text, struckOf(attempted));
}

function strike(text: string, all: readonly Struck[]): string {
  let left = text;
  for (const { find, put } of all) left = left.replace(find, put);
  return left;
}

/** Causes are logged, and a secret must not be in the log either. */
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

/** Settings that are not secret: region, version and the like. */
const isPublic = (name: string) => /^(region|location|apiVersion|api_version|version|format)$/i.test(name);

/** A secret and its parts: `id:secret`, members of an account's JSON, lines of a private key. */
function partsOf(secret: string): string[] {
  const parts = secret.trimStart().startsWith('{') ? jsonTexts(secret) : secret.split(':');
  const lines = parts.flatMap((part) => part.split(/\r?\n/)).filter((line) => !line.startsWith('-----'));
  return [...new Set([secret, ...parts, ...lines])].filter((part) => !PUBLIC_TEXT.test(part));
}

/** Public texts in an account's JSON: URLs of the issuer and the kind of account. */
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

/** The parameters after a scheme (`Bearer`, `AWS4-HMAC-SHA256 Credential=…, Signature=…`). */
function secretsIn([name, value]: [string, string]): string[] {
  if (!SECRET_HEADER.test(name)) return [];
  return [value, ...value.split(/[\s,]+/).flatMap((part) => [part, part.slice(part.indexOf('=') + 1)])].filter(
    (part) => part.length >= SHORTEST && !/^(bearer|basic|aws4-hmac-sha256|hmac-sha256)$/i.test(part),
  );
}

/** The secret as it is, escaped for URLs and JSON, and inside base64 at each of the three alignments. */
function formsOf(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last character contain bits of neighbouring bytes.
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [
    ...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...base64, ...urlSafe, hex]),
  ];
}

/**
 * Providers show the beginning and end of a key with asterisks or dots between them. The beginning is bounded: many of them, one after
 * another, must not cost more than their length.
 */
function maskedForm(secret: string): Struck[] {
  if (secret.length < SHORTEST) return [];
  const stars = `${escaped(secret.slice(0, 4))}[\\w-]{0,64}[*•]{2,}[\\w-]*`;
  const dots = `${escaped(secret.slice(0, SHORTEST))}[\\w-]{0,64}(?:…|\\.{3})[.…]*[\\w-]*`;
  return [{ find: new RegExp(`${stars}|${dots}`, 'g'), put: KEY }];
}

function hostsOf(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  return url ? [...new Set([url.host, url.hostname])] : [];
}

/** Labels that occur in every URL of a kind. */
const COMMON_LABEL = /^(api|apis|www|models|inference|openai|chat|gateway|localhost|bedrock[\w-]*|[\d.]+)$/i;
const COMMON_SEGMENT = /^[a-z]{1,12}$|^v\d\w*$/i;

/** Clouds have the account's resource names in the URL: `my-resource.openai.azure.com`, `/accounts/0123abcd…/ai`. */
function accountsIn(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  if (!url) return [];
  const labels = url.hostname.split('.');
  const first = labels.length > 2 ? (labels[0] ?? '') : '';
  const segments = url.pathname.split('/').filter((segment) => !COMMON_SEGMENT.test(segment));
  return [...(COMMON_LABEL.test(first) ? [] : [first]), ...segments].filter((text) => text.length >= SHORTEST);
}
