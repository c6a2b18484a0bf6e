/** Verifies calls by the hour: each call with a cost has a charge, and the sums of hours match their calls. */
import { HOUR_MS } from '../call-sums.ts';
import type { HourLine, Verification, VerifyProgress } from './books-reader.ts';
import { type HourTotals, isSameHour } from './checkpoint.ts';

/** Calls that the database checks in one statement; a single hour may have more. */
const CALLS = 200_000;

/** Above the largest time that a column holds exactly. */
const LAST_HOUR = Math.floor(Number.MAX_SAFE_INTEGER / HOUR_MS);

/** Hours verified together, without the last one. */
interface HourRange {
  from: number;
  to: number;
  calls: number;
  totals: HourTotals[];
}

export async function verifyHours(
  verification: Verification,
  totals: readonly HourTotals[],
  state: VerifyProgress,
): Promise<void> {
  const windows = windowsOf(verification, totals);
  for (const { calls } of windows) state.total += calls;
  for (const window of windows) {
    await verifyWindow(verification, window);
    verification.read.calls += window.calls;
    verification.advance(window.calls);
  }
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

async function verifyWindow({ books, findings, reached }: Verification, window: HourRange): Promise<void> {
  const { from, to, totals } = window;
  const doubtful = await books.hours(from, to);
  // Old calls are removed by whole days while this runs.
  const first = Math.ceil((await books.keptFrom()) / HOUR_MS);
  const wrong = new Set<number>();
  for (const line of doubtful) {
    if (line.isSame || line.hour < first) continue;
    wrong.add(line.hour);
    const { account, key, model, hour } = line;
    findings.add('hour-sum', faultOf(line), { account, key, model, hour });
  }
  let isCharged = true;
  if (doubtful.some(({ isSame }) => isSame === true) || wrong.size > 0) {
    for (const call of await books.wrongCalls(Math.max(from, first), to)) {
      isCharged = false;
      const charged = call.charged === 0n ? 'no entry charges it' : `its entries charge ${call.charged}`;
      const of = { account: call.account, callId: call.id };
      findings.add('call', `Call ${call.id} cost ${call.cost} but ${charged}.`, of);
    }
  }
  if (isCharged) reached(totals.filter(({ hour }) => !wrong.has(hour)).map((hour) => ({ hour })));
}

function faultOf({ key, model, hour, calls, cost, keptCalls, keptCost }: HourLine): string {
  const name = `Key ${key} on ${model} in the hour of ${new Date(hour * HOUR_MS).toISOString()}`;
  if (keptCalls === 0) return `${name} has calls that are in no sum.`;
  return `${name} has ${keptCalls} calls for ${keptCost} in its sum, but the calls are ${calls} for ${cost}.`;
}
