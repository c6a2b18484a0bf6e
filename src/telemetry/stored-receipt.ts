/**
 * The receipt as the record of a call stores it. Every record is written three times: when the call ends, when it is filed, and into the
 * database file. So a call with one successful attempt stores an array that leaves out what its record says: 20 characters, where the
 * members by name take 170.
 */
import { type Money, writeMoney } from '../canonical/money.ts';
import type { AttemptRecord } from '../routing/tracked-attempt.ts';
import type { CallRow } from '../store/store.ts';
import type { CallTrace } from './events.ts';
import { detailsOf, lastFour, type Receipt, type ReceiptDetails, receiptOf, tenths } from './receipt.ts';

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

/** Whether the record says what the attempt came to. */
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

/** Most calls have none: those are recognised without making an object. */
function hasDetails({ labels, warnings, route, limits, error }: CallTrace): boolean {
  if (warnings.length > 0 || route || limits || error) return true;
  const { clientRequestId, user, metadata, tags } = labels;
  return clientRequestId !== undefined || user !== undefined || metadata !== undefined || tags !== undefined;
}
