/** Options for the limits of keys and accounts. */
import { readRange } from '../access/cidr.ts';
import { readScope, SCOPES } from '../access/scopes.ts';
import { CAPTURE_MODES, type CaptureMode } from '../canonical/capture-mode.ts';
import { type Money, readMoney, writeMoney } from '../canonical/money.ts';
import type { AccountChange, Budget, KeyChange } from '../store/rows.ts';
import { type Given, UsageError } from './command.ts';

const text = { type: 'string' } as const;

export const LIMIT_OPTIONS = {
  budget: text,
  'budget-day': text,
  'budget-month': text,
  'requests-per-minute': text,
  'tokens-per-minute': text,
  concurrency: text,
};
export const LIMIT_USAGE =
  '[--budget USD] [--budget-day USD] [--budget-month USD] [--requests-per-minute N] [--tokens-per-minute N] [--concurrency N]';

export const KEY_OPTIONS = {
  expires: text,
  models: text,
  aliases: text,
  'caller-routing': text,
  cache: text,
  capture: text,
  addresses: text,
  scopes: text,
  ...LIMIT_OPTIONS,
};
export const KEY_USAGE = `[--expires TIME] [--models A,B] [--aliases NAME=MODEL,NAME=MODEL] [--caller-routing on|off] [--cache on|SECONDS] [--capture none|hash|redacted|full|model] [--addresses CIDR,CIDR] [--scopes A,B] ${LIMIT_USAGE}`;

/** Removes a limit. */
const NONE = 'none';

type LimitChange = Pick<AccountChange, 'budget' | 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency'>;

/** A budget is replaced as a whole: a window without an option has no limit. */
export function readLimitChanges(given: Given): LimitChange {
  const change: LimitChange = {};
  const spans = { total: 'budget', day: 'budget-day', month: 'budget-month' } as const;
  const budget: Budget = {};
  let isGiven = false;
  for (const span of ['total', 'day', 'month'] as const) {
    const written = given.option(spans[span]);
    if (written === undefined) continue;
    isGiven = true;
    if (written !== NONE) budget[span] = readAmount(written, spans[span]);
  }
  if (isGiven) change.budget = Object.keys(budget).length > 0 ? budget : null;
  for (const [option, member] of COUNTS) {
    const written = given.option(option);
    if (written !== undefined) change[member] = written === NONE ? null : readCount(written, option);
  }
  return change;
}

export function readKeyChanges(given: Given): KeyChange {
  const change: KeyChange = readLimitChanges(given);
  const expires = given.option('expires');
  if (expires !== undefined) change.expiresAt = expires === NONE ? null : readTime(expires);
  const aliases = given.option('aliases');
  if (aliases !== undefined) change.aliases = aliases === NONE ? null : readAliases(aliases);
  const routing = given.option('caller-routing');
  if (routing !== undefined) change.callerRouting = readSwitch(routing, 'caller-routing');
  const cache = given.option('cache');
  if (cache !== undefined) change.cacheSeconds = cache === NONE ? null : readCacheSeconds(cache);
  const capture = given.option('capture');
  if (capture !== undefined) change.capture = readCapture(capture);
  for (const [option, wrong] of LISTS) {
    const written = given.option(option);
    if (written === undefined) continue;
    const items = written.split(',').map((item) => item.trim());
    const list = items.filter((item) => item !== '');
    const fault = written === NONE ? undefined : list.map(wrong).find((sentence) => sentence !== undefined);
    if (fault !== undefined) throw new UsageError(fault);
    change[option] = written === NONE ? null : list;
  }
  return change;
}

/** "none" stores nothing of the key's calls, whatever their models say; "model" leaves it to them. */
function readCapture(written: string): CaptureMode | null {
  if (written === 'model') return null;
  const mode = CAPTURE_MODES.find((one) => one === written);
  if (mode === undefined) throw new UsageError(`--capture must be ${CAPTURE_MODES.join(', ')}, or model.`);
  return mode;
}

function readSwitch(written: string, option: string): boolean | null {
  if (written === NONE) return null;
  if (written !== 'on' && written !== 'off') throw new UsageError(`--${option} must be on or off.`);
  return written === 'on';
}

/** An hour. */
const CACHE_SECONDS = 3600;

function readCacheSeconds(written: string): number {
  const seconds = written === 'on' ? CACHE_SECONDS : Number(written);
  if (!Number.isSafeInteger(seconds) || seconds < 1)
    throw new UsageError('--cache must be on (for an hour), none, or a number of seconds.');
  return seconds;
}

function readAliases(written: string): { [name: string]: string } {
  const pairs = written.split(',').map((pair) => pair.split('=').map((word) => word.trim()));
  if (pairs.some((pair) => pair.length !== 2 || pair.includes('')))
    throw new UsageError('--aliases must be names and the models they mean, such as gpt-4o=claude-sonnet-4-5.');
  return Object.fromEntries(pairs);
}

/** The change in the form of the admin API. */
export function changeBody({ budget, expiresAt, ...change }: KeyChange): object {
  const amounts = Object.entries(budget ?? {}).map(([span, amount]) => [span, writeMoney(amount)]);
  return {
    ...change,
    ...(budget !== undefined && { budget: budget && Object.fromEntries(amounts) }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt && new Date(expiresAt).toISOString() }),
  };
}

/** A new key or account has nothing to remove. */
export function withoutNulls<Change extends object>(
  change: Change,
): { [member in keyof Change]: NonNullable<Change[member]> } {
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as { [member in keyof Change]: NonNullable<Change[member]> };
}

const COUNTS = [
  ['requests-per-minute', 'requestsPerMinute'],
  ['tokens-per-minute', 'tokensPerMinute'],
  ['concurrency', 'concurrency'],
] as const;

/** List options, each with the error for an invalid item. */
const LISTS: readonly (readonly ['models' | 'addresses' | 'scopes', (item: string) => string | undefined])[] = [
  ['models', () => undefined],
  [
    'addresses',
    (item) =>
      readRange(item) ? undefined : `"${item}" is not an address: write an address or a range such as 10.0.0.0/8.`,
  ],
  ['scopes', (item) => (readScope(item) ? undefined : `"${item}" is not a scope: use ${SCOPES.join(', ')}.`)],
];

function readTime(written: string): number {
  const time = Date.parse(written);
  if (Number.isNaN(time)) throw new UsageError('--expires must be a time such as 2027-01-31T12:00:00Z.');
  return time;
}

function readAmount(written: string, option: string): Money {
  const amount = readMoney(written);
  if (amount === undefined || amount < 0n) throw new UsageError(`--${option} must be an amount in USD such as 5.00.`);
  return amount;
}

function readCount(written: string, option: string): number {
  const count = Number(written);
  if (!Number.isSafeInteger(count) || count < 1) throw new UsageError(`--${option} must be a whole number above zero.`);
  return count;
}
