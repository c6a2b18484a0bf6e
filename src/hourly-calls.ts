/**
 * Files of calls: one for each hour that has ended, in the storage of results, written once over all processes. An hour has the calls that
 * began in it, as lists and exports have. It is written when none of them is in progress any more, so no call comes late.
 */
import { newId } from './canonical/id.ts';
import { HOUR_MS, settledWithin } from './canonical/time.ts';
import type { Config } from './config.ts';
import type { Files } from './files/files.ts';
import { type CallFormat, callPieces } from './http/routes/admin/call-export.ts';
import { exportOf } from './http/routes/admin/call-routes.ts';
import type { Store } from './store/store.ts';
import { Counter, type MetricFamily } from './telemetry/metrics/family.ts';
import type { Metrics } from './telemetry/metrics/metrics.ts';

export interface HourlyCalls {
  /** Writes what is due. Never throws; a turn during another is that one. */
  turn(): Promise<void>;
  /** Begins no further file, and waits for one that is being written for so long. */
  stop(boundMs: number): Promise<void>;
  families(): MetricFamily[];
}

export interface HourlySettings {
  store: Store;
  files: Files;
  format: CallFormat;
  /** Records of older calls are removed. Absent: never. */
  keepCallsMs?: number | undefined;
  now(): number;
  /** Milliseconds of a monotonic clock. */
  uptime?(): number;
  reportError(sentence: string, cause: unknown): void;
  /** Storage that takes no byte for so long has failed. */
  stallMs?: number;
}

/** How often it is looked for hours whose calls have no file yet. */
const EVERY_MS = 60_000;
/** Earlier hours are not made up for after a downtime. */
export const CATCH_UP_MS = 7 * 24 * HOUR_MS;
/** A call is held some time after it began. Clocks of machines differ too. */
export const MARGIN_MS = 600_000;
/** A clock that is set more than this between two turns was changed, not corrected. */
const STEADY_MS = 60_000;
/** A process that does not renew its lease for so long was killed: another takes the hour over. */
export const HOURLY_LEASE_MS = 600_000;
const RENEW_MS = 60_000;
const STALL_MS = 300_000;
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 900_000;
/** Rows of hours are kept so much longer than the hours are looked at: clocks differ. */
const KEPT_HOURS = 24;

/** `undefined`: switched off. */
export function openHourlyCalls(
  { kept, keepCallsDays }: Config,
  metrics: Metrics,
  { store, files, now, reportError }: Pick<HourlySettings, 'store' | 'files' | 'now' | 'reportError'>,
): HourlyCalls | undefined {
  if (kept.hourlyCalls === 'off') return undefined;
  const keepCallsMs = keepCallsDays > 0 ? keepCallsDays * 24 * HOUR_MS : undefined;
  const hourly = createHourlyCalls({ store, files, now, reportError, format: kept.hourlyCalls, keepCallsMs });
  metrics.add(hourly.families);
  return hourly;
}

/** Looks at once, because a process may never run for long, and then again and again. Returns what ends it. */
export function startHourlyTimer(hourly: Pick<HourlyCalls, 'turn'> | undefined, everyMs = EVERY_MS): () => void {
  if (!hourly) return () => {};
  void hourly.turn();
  const timer = setInterval(() => void hourly.turn(), everyMs);
  return () => clearInterval(timer);
}

export function createHourlyCalls(settings: HourlySettings): HourlyCalls {
  const { store, now, reportError, keepCallsMs = Number.POSITIVE_INFINITY } = settings;
  const { uptime = () => performance.now() } = settings;
  const { hourlyFiles } = store;
  const outcomes = new Counter();
  // Calls that are about to be removed are left out: a file must not have a part of its hour.
  const reachMs = Math.min(CATCH_UP_MS, keepCallsMs - HOUR_MS);
  let running: Promise<void> | undefined;
  let forgottenBefore = 0;
  let isStopping = false;
  const clockSet = () => now() - uptime();
  let setBefore = clockSet();

  /** A clock that was set is believed when it has stayed so until the next turn: an hour that is closed too early would lose its later calls. */
  function isSteady(): boolean {
    const set = clockSet();
    const isSame = Math.abs(set - setBefore) < STEADY_MS;
    setBefore = set;
    return isSame;
  }

  async function writeDue(): Promise<void> {
    if (!isSteady()) return;
    const first = Math.ceil((now() - reachMs) / HOUR_MS);
    const end = Math.floor((now() - MARGIN_MS) / HOUR_MS);
    await forget(first - KEPT_HOURS);
    const others = await Promise.all([
      hourlyFiles.takenHours(first, now()),
      hourlyFiles.unfinishedHours(end * HOUR_MS),
    ]);
    const skipped = new Set(others.flat());
    for (let hour = first; hour < end && !isStopping; hour++) {
      if (skipped.has(hour)) continue;
      // Storage that has failed is tried again in the next turn.
      if (!(await writeHour(hour))) return;
    }
  }

  async function forget(before: number): Promise<void> {
    if (before <= forgottenBefore) return;
    const unwritten = await hourlyFiles.forgetHours(before);
    forgottenBefore = before;
    for (const hour of unwritten) {
      outcomes.add('lost', 1);
      reportError(
        `The calls of an hour are not written to a file any more: ${hourFileName(hour, settings.format)}.`,
        undefined,
      );
    }
  }

  /** `false`: it has failed. */
  async function writeHour(hour: number): Promise<boolean> {
    // Of this try, not of this process: a try that has stalled may go on beside the next.
    const writer = newId('writer_', 12);
    const tries = await hourlyFiles.takeHour(hour, writer, now(), now() + HOURLY_LEASE_MS);
    if (tries === undefined) return true;
    try {
      const file = await writeFile(settings, hour, writer);
      const isMine = await hourlyFiles.hourWritten(hour, writer, { ...file, at: now() });
      if (isMine) outcomes.add(file.calls > 0 ? 'written' : 'empty', 1);
      return true;
    } catch (thrown) {
      outcomes.add('failed', 1);
      reportError(`The calls of an hour could not be written to ${hourFileName(hour, settings.format)}.`, thrown);
      await hourlyFiles.hourFailed(hour, messageOf(thrown), now() + pauseAfter(tries));
      return false;
    }
  }

  return {
    turn() {
      running ??= writeDue()
        .catch((thrown) => reportError('Hourly files of calls could not be looked after.', thrown))
        .finally(() => {
          running = undefined;
        });
      return running;
    },
    async stop(boundMs) {
      isStopping = true;
      if (running) await settledWithin([running], boundMs);
    },
    families: () => hourlyFamilies(outcomes),
  };
}

export const hourlyFamilies = (outcomes = new Counter()): MetricFamily[] => [
  {
    name: 'modelport_hourly_files_total',
    type: 'counter',
    help: 'Hours of calls by what became of their file: written, empty (no calls, no file), failed (tried again), lost (given up after a week).',
    labels: ['outcome'],
    samples: outcomes.samples(),
  },
];

/** In UTC, so that names sort by time: `calls/2026-11-23T04.ndjson`. */
export const hourFileName = (hour: number, format: CallFormat): string =>
  `calls/${new Date(hour * HOUR_MS).toISOString().slice(0, '2026-11-23T04'.length)}.${format}`;

/** Throws if the storage or the database fails, or the storage takes nothing for some time. */
async function writeFile(
  { store, files, format, now, stallMs = STALL_MS }: HourlySettings,
  hour: number,
  writer: string,
): Promise<{ calls: number; bytes: number }> {
  const filter = { from: hour * HOUR_MS, to: (hour + 1) * HOUR_MS };
  if ((await store.calls({ ...filter, limit: 1 })).length === 0) return { calls: 0, bytes: 0 };
  let calls = 0;
  let renewedAt = now();
  const stall = stallTimer(stallMs);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const counted: Store['callPage'] = async (filter, examined) => {
      const page = await store.callPage(filter, examined);
      calls += page.calls.length;
      return page;
    };
    for await (const piece of callPieces({ ...exportOf(store, filter), store: { callPage: counted } }, format)) {
      stall.restart();
      // A lost lease ends nothing: the same bytes are written again, and to break off would remove what another has written.
      if (now() - renewedAt >= RENEW_MS) {
        renewedAt = now();
        await store.hourlyFiles.renewHour(hour, writer, renewedAt + HOURLY_LEASE_MS);
      }
      yield piece;
    }
  }
  const name = hourFileName(hour, format);
  const writing = files.write(name, pieces(), Number.MAX_SAFE_INTEGER);
  try {
    const bytes = await Promise.race([writing, stall.stalled]);
    return { calls, bytes };
  } catch (thrown) {
    // If it fails later, it may remove what the next try has written.
    if (stall.hasStalled())
      writing.catch(() => store.hourlyFiles.hourFailed(hour, messageOf(thrown), now())).catch(() => {});
    throw thrown;
  } finally {
    stall.stop();
  }
}

/** Rejects `stalled` unless it is restarted or stopped in time. */
function stallTimer(ms: number) {
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  let isOver = false;
  const fire = () => {
    isOver = true;
    reject(new Error('The storage of files takes no more bytes.'));
  };
  let timer = setTimeout(fire, ms);
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    if (!isOver) timer = setTimeout(fire, ms);
  };
  return { stalled, hasStalled: () => isOver, restart, stop };
}

const pauseAfter = (tries: number) => Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown));
