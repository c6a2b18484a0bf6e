/** Verifies calls by the hour: each call with a cost has a charge, and the sums of hours, also by provider and tag, match their calls. */
import { HOUR_MS } from '../../canonical/time.ts';
import type { BooksReader, Verification, VerifyProgress } from './books-reader.ts';
import { type HourTotals, isSameHour } from './checkpoint.ts';
import type { SumLine } from './sums-reader.ts';
import { differencesOf, nameOfSum } from './wrong-sum.ts';

/** Calls that the database checks in one statement; a single hour may have more. */
const CALLS = 200_000;

/** Above the largest time that a column holds exactly. */
const LAST_HOUR = Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS);

/** Some hours, without the last one. */
export interface HourSpan {
  from: number;
  to: number;
}

/** The hours that were read now, and those whose sums are wrong. */
export interface VerifiedHours {
  windows: readonly HourSpan[];
  wrong: ReadonlySet<number>;
}

/** Hours verified together. */
interface HourRange extends HourSpan {
  calls: number;
  totals: HourTotals[];
}

export async function verifyHours(
  verification: Verification,
  totals: readonly HourTotals[],
  state: VerifyProgress,
): Promise<VerifiedHours> {
  const windows = windowsOf(verification, totals);
  const wrong = new Set<number>();
  for (const { calls } of windows) state.total += calls;
  for (const window of windows) {
    for (const hour of await verifyWindow(verification, window)) wrong.add(hour);
    verification.read.calls += window.calls;
    verification.advance(window.calls);
  }
  return { windows, wrong };
}

/** All hours in windows, or those that have changed since they were verified. */
function windowsOf({ known, full, keptFrom }: Verification, totals: readonly HourTotals[]): HourRange[] {
  const first = Math.ceil(keptFrom / HOUR_MS);
  const byHour = new Map(totals.map((one) => [one.hour, one]));
  const hours = [...new Set([...byHour.keys(), ...known.hours.keys()])].filter((hour) => hour >= first);
  hours.sort((a, b) => a - b);
  const isIncremental = !full && known.hours.size > 0;
  const windows: HourRange[] = [];
  let open: HourRange | undefined = isIncremental ? undefined : { from: first, to: first, calls: 0, totals: [] };
  for (const hour of hours) {
    const now = byHour.get(hour);
    if (isIncremental && isSameHour(now, known.hours.get(hour))) {
      close(hour);
      continue;
    }
    if (open && open.calls > 0 && open.calls + (now?.calls ?? 0) > CALLS) {
      close(hour);
      open = undefined;
    }
    open ??= { from: hour, to: hour, calls: 0, totals: [] };
    open.calls += now?.calls ?? 0;
    if (now) open.totals.push(now);
  }
  close(LAST_HOUR);
  return windows;

  function close(to: number): void {
    if (open) windows.push({ ...open, to });
    open = undefined;
  }
}

/** Returns the hours whose sums are wrong. */
async function verifyWindow(
  { books, findings, older, reached }: Verification,
  window: HourRange,
): Promise<ReadonlySet<number>> {
  const { from, to, totals } = window;
  const { byModel, olderCalls, hasDoubtful, ...lines } = await books.hours(from, to);
  const byProvider: SumLine[] = [];
  for (const line of lines.byProvider) if (!(await isOfReplaced(books, line))) byProvider.push(line);
  const byTag = await books.tags(from, to);
  older.withoutProvider += olderCalls;
  // Old calls are removed by whole days while this runs.
  const first = Math.ceil((await books.keptFrom()) / HOUR_MS);
  const wrong = new Set<number>();
  const places = new Set<string>();
  for (const line of [...byModel, ...byProvider, ...byTag]) {
    const { account, key, model, hour = 0, provider } = line;
    if (hour < first) continue;
    wrong.add(hour);
    const place = JSON.stringify([account, key, model, hour]);
    // A call that was altered is in all three.
    if (provider !== undefined && places.has(place)) continue;
    if (provider === undefined) places.add(place);
    findings.add(provider === undefined ? 'hour-sum' : 'usage-sum', faultOf(line), { account, key, model, hour });
  }
  let isCharged = true;
  if (hasDoubtful || wrong.size > 0) {
    for (const call of await books.wrongCalls(Math.max(from, first), to)) {
      isCharged = false;
      const charged = call.charged === 0n ? 'no entry charges it' : `its entries charge ${call.charged}`;
      const of = { account: call.account, callId: call.id };
      findings.add('call', `Call ${call.id} cost ${call.cost} but ${charged}.`, of);
    }
  }
  if (isCharged) reached(totals.filter(({ hour }) => !wrong.has(hour)).map((hour) => ({ hour })));
  return wrong;
}

/**
 * A provisional record has no provider. If one of two releases made it and the other replaced it, the sum without a provider still has it, or
 * lacks a call that it never had. Reports are right: there such a sum is what the other sums of the hour leave.
 */
async function isOfReplaced(books: BooksReader, line: SumLine): Promise<boolean> {
  const { calls } = line.wrong;
  if (line.provider !== '' || line.hour === undefined || !calls) return false;
  if (calls.kept < 0n) return true;
  const many = Math.abs(Number(calls.made - calls.kept));
  return many <= (await books.olderCalls(line, line.hour, line.hour + 1));
}

const faultOf = (line: SumLine): string =>
  `The ${nameOfSum(line)} in the hour of ${new Date((line.hour ?? 0) * HOUR_MS).toISOString()} is wrong: ${differencesOf(line)}.`;
