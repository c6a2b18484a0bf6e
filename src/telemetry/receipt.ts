/**
 * The receipt of a call: what its record does not say, stored with the record in the same transaction.
 *
 * Every record is written three times: when the call ends, when it is filed, and into the database file. So a call with one successful
 * attempt stores an array that leaves out what its record says: 20 characters, where the members by name take 170.
 */
import { type Money, writeMoney } from '../canonical/money.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import type { AttemptRecord } from '../routing/tracked-attempt.ts';
import type { CallRow } from '../store/rows.ts';
import type { CallTrace } from './events.ts';

/** One attempt at a target, in milliseconds: `startedMs` since the start of the call, the others since the attempt started. */
export interface ReceiptAttempt {
  provider: string;
  target: string;
  /** The last four characters. */
  credential?: string;
  /** The HTTP status; absent: no response came. */
  status?: number;
  outcome: string;
  startedMs: number;
  /** Until the first token of a stream, or the whole response. */
  firstTokenMs?: number;
  durationMs?: number;
  error?: { code: string; message?: string };
}

export interface Receipt extends ReceiptDetails {
  /** In USD: what was held. */
  hold?: string;
  /** Until the hold was taken. */
  admittedMs?: number;
  attempts: readonly ReceiptAttempt[];
}

/** Members that most calls lack. */
export interface ReceiptDetails {
  /** The `x-request-id` that the client gave. */
  clientRequestId?: string;
  user?: string;
  metadata?: object;
  tags?: readonly string[];
  /** The targets in the order to try them, each with the reason of its place. */
  route?: readonly string[];
  /** What translation dropped or approximated. */
  losses?: readonly string[];
  /** What was left of the caller's rate limits. */
  limits?: RateLimits;
  /** Why it was refused or failed. */
  error?: { code: string; message: string; param?: string };
}

/** The last ones explain how a call ended. */
const MOST_ATTEMPTS = 32;
const MOST_LINES = 32;
const LONGEST_TEXT = 300;
const LONGEST_METADATA = 2048;

export function receiptOf(trace: CallTrace): Receipt {
  const { hold, admittedMs, attempts, at } = trace;
  const receipt: Receipt = { attempts: attempts.slice(-MOST_ATTEMPTS).map((attempt) => attemptOf(attempt, at)) };
  if (hold !== undefined) receipt.hold = writeMoney(hold);
  if (admittedMs !== undefined) receipt.admittedMs = tenths(admittedMs);
  return Object.assign(receipt, detailsOf(trace));
}

/** Member by member, only what there is: the text stays short. */
function detailsOf({ labels, error, warnings, route, limits }: CallTrace): ReceiptDetails {
  const details: ReceiptDetails = {};
  if (labels.clientRequestId !== undefined) details.clientRequestId = labels.clientRequestId;
  if (labels.user !== undefined) details.user = bounded(labels.user);
  const metadata = labels.metadata && boundedMetadata(labels.metadata);
  if (metadata) details.metadata = metadata;
  if (labels.tags) details.tags = labels.tags;
  if (route) details.route = route().slice(0, MOST_LINES);
  if (warnings.length > 0) details.losses = warnings.slice(0, MOST_LINES).map(bounded);
  if (limits) details.limits = limits;
  if (error) {
    details.error = { code: error.code, message: bounded(error.message) };
    if (error.param !== undefined) details.error.param = bounded(error.param);
  }
  return details;
}

/** Milliseconds, to the tenth. */
const tenths = (ms: number): number => Math.round(ms * 10) / 10;

function attemptOf(attempt: AttemptRecord, at: number): ReceiptAttempt {
  const { target, credential, status, outcome, startedAt, answeredAt, endedAt, errorCode, message } = attempt;
  const { provider, id } = target;
  const one: ReceiptAttempt = { provider, target: id, outcome, startedMs: Math.max(0, startedAt - at) };
  const last4 = lastFour(credential);
  if (last4 !== undefined) one.credential = last4;
  if (status > 0) one.status = status;
  if (answeredAt > 0) one.firstTokenMs = Math.max(0, answeredAt - startedAt);
  if (endedAt > 0) one.durationMs = Math.max(0, endedAt - startedAt);
  if (errorCode !== undefined) {
    one.error = { code: errorCode };
    if (message !== undefined) one.error.message = bounded(message);
  }
  return one;
}

/** For stored rows: all but the last four characters are replaced. */
export function maskedCredential(credential: string | undefined): string | undefined {
  const last = lastFour(credential);
  return last === undefined ? undefined : `${'*'.repeat(8)}${last}`;
}

/** Of a short secret they would reveal too much. */
function lastFour(credential: string | undefined): string | undefined {
  return credential === undefined || credential.length < 12 ? undefined : credential.slice(-4);
}

const bounded = (text: string) => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);

/** Its first members, as many as fit. */
function boundedMetadata(metadata: object): object | undefined {
  const kept: [string, unknown][] = [];
  let left = LONGEST_METADATA;
  for (const [name, value] of Object.entries(metadata)) {
    left -= name.length + JSON.stringify(value).length;
    if (left < 0) break;
    kept.push([name, value]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** `[hold, admittedMs, startedMs, firstTokenMs, durationMs, credential, details]`. The hold in nano-USD, or a text in USD. */
type Short = readonly [number | string, number, number, number, number, (string | null)?, ReceiptDetails?];

type AnsweredCall = Pick<CallRow, 'provider' | 'targetModel' | 'status'>;

/** The text for `CallRow.receipt`. */
export function writeReceipt(trace: CallTrace, record: AnsweredCall): string {
  const { attempts, hold, admittedMs } = trace;
  const [only] = attempts;
  if (!only || attempts.length > 1 || hold === undefined || admittedMs === undefined || !isPlain(only, record)) {
    return JSON.stringify(receiptOf(trace));
  }
  const { startedAt, answeredAt, endedAt, credential } = only;
  const started = Math.max(0, startedAt - trace.at);
  const answered = Math.max(0, answeredAt - startedAt);
  const ended = Math.max(0, endedAt - startedAt);
  const times = `[${writeHold(hold)},${tenths(admittedMs)},${started},${answered},${ended}`;
  const details = hasDetails(trace) ? detailsOf(trace) : undefined;
  const last4 = lastFour(credential);
  if (details) return `${times},${JSON.stringify(last4 ?? null)},${JSON.stringify(details)}]`;
  return last4 === undefined ? `${times}]` : `${times},${JSON.stringify(last4)}]`;
}

/** The receipt of a recorded call. Calls that were refused, or failed over, have it as it is. */
export function readReceipt({
  receipt,
  provider,
  targetModel,
  status,
}: AnsweredCall & Pick<CallRow, 'receipt'>): Receipt {
  if (receipt === undefined) return { attempts: [] };
  const stored = JSON.parse(receipt) as Short | Receipt;
  if (!isShort(stored)) return stored;
  const [hold, admittedMs, startedMs, firstTokenMs, durationMs, credential, details] = stored;
  const attempt = { provider, target: `${provider}/${targetModel}`, outcome: 'ok', startedMs };
  return {
    ...details,
    hold: typeof hold === 'number' ? writeMoney(BigInt(hold)) : hold,
    admittedMs,
    attempts: [{ ...attempt, ...(credential && { credential }), status, firstTokenMs, durationMs }],
  };
}

const isShort = (stored: Short | Receipt): stored is Short => Array.isArray(stored);

/** Whether the record has the result of the attempt. */
function isPlain(
  { outcome, status, answeredAt, endedAt, errorCode, target }: AttemptRecord,
  record: AnsweredCall,
): boolean {
  if (outcome !== 'ok' || status !== record.status || status === 0 || answeredAt === 0 || endedAt === 0) return false;
  return errorCode === undefined && target.provider === record.provider && isNamed(target.id, record);
}

/** Whether the target has the name that its provider and model make: without making it. */
function isNamed(id: string, { provider, targetModel }: AnsweredCall): boolean {
  if (id.length !== provider.length + 1 + targetModel.length) return false;
  return id[provider.length] === '/' && id.startsWith(provider) && id.endsWith(targetModel);
}

/** As a number while JSON has it exactly. */
function writeHold(hold: Money): string {
  const number = Number(hold);
  return Number.isSafeInteger(number) ? String(number) : `"${writeMoney(hold)}"`;
}

/** Most calls have none; this is cheaper than making the object to see that it is empty. */
function hasDetails({ labels, warnings, route, limits, error }: CallTrace): boolean {
  if (warnings.length > 0 || route || limits || error) return true;
  const { clientRequestId, user, metadata, tags } = labels;
  return clientRequestId !== undefined || user !== undefined || metadata !== undefined || tags !== undefined;
}
