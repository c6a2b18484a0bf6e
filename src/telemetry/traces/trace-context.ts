/** W3C Trace Context: which trace a call belongs to, from the client's headers and to the provider's. */

export interface TraceParent {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them: the span of the caller. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** As it was received; empty: none. */
  readonly state: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;

/** W3C: at least so much of `tracestate` is passed on, and a list has at most so many members. */
const MOST_STATE = 512;
const MOST_MEMBERS = 32;
const STATE_MEMBER =
  /^[a-z0-9][a-z0-9_\-*/]{0,240}(?:@[a-z][a-z0-9_\-*/]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;

/** `undefined`: there is no valid `traceparent`, so the call begins a trace of its own. */
export function readParent(headers: { get(name: string): string | null | undefined }): TraceParent | undefined {
  const text = headers.get('traceparent');
  if (!text) return undefined;
  const [, version, traceId, spanId, flags = '', more] = TRACEPARENT.exec(text.trim()) ?? [];
  // Later versions may add members at the end; version 00 has none, and ff is forbidden.
  if (traceId === undefined || spanId === undefined || version === 'ff' || (version === '00' && more)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, spanId, isSampled, state: readState(headers.get('tracestate')) };
}

/** A list with an invalid member is dropped whole, as W3C allows. */
function readState(text: string | null | undefined): string {
  if (!text || text.length > MOST_STATE) return '';
  const members = text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const isValid = members.length <= MOST_MEMBERS && members.every((one) => STATE_MEMBER.test(one));
  return isValid ? members.join(',') : '';
}

export function writeParent(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Random bytes are drawn for many identifiers at once: a system call for each costs more than the rest of a span. */
const POOL = Buffer.alloc(4096);
let used = POOL.length;

function randomHex(bytes: number): string {
  if (used + bytes > POOL.length) {
    crypto.getRandomValues(POOL);
    used = 0;
  }
  used += bytes;
  return POOL.toString('hex', used - bytes, used);
}

export const newTraceId = (): string => randomHex(16);
export const newSpanId = (): string => randomHex(8);
