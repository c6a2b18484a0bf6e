import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bucket, startBucket } from '../test/helpers/bucket.ts';
import { callRow } from '../test/helpers/call-row.ts';
import { ENGINES, type Engine, freshStore } from '../test/helpers/engines.ts';
import { HOUR_MS, MINUTE_MS } from './canonical/time.ts';
import type { Files } from './files/files.ts';
import { openFiles } from './files/open-files.ts';
import {
  CATCH_UP_MS,
  createHourlyCalls,
  HOURLY_LEASE_MS,
  type HourlySettings,
  hourFileName,
  MARGIN_MS,
  startHourlyTimer,
} from './hourly-calls.ts';
import { callPieces, exportCalls } from './http/routes/admin/call-export.ts';
import { exportOf } from './http/routes/admin/call-routes.ts';
import { openStore } from './store/open-store.ts';
import type { LedgerStep } from './store/rows.ts';
import type { Store } from './store/store.ts';

const FOUR = Date.UTC(2026, 10, 23, 4);
/** The time at which the hour from four o'clock is due. */
const DUE = FOUR + HOUR_MS + MARGIN_MS;
/** How far the writers of most tests look back: a week of hours takes a second. */
const REACH_MS = 6 * HOUR_MS;
const FORMATS = ['ndjson', 'csv', 'parquet'] as const;

const TOP_UP: LedgerStep = {
  type: 'enter',
  account: 'acc_1',
  kind: 'top-up',
  amount: 1_000_000n,
  counter: 'cash',
  at: FOUR,
};

function ended(id: string, at: number): LedgerStep {
  const call = callRow({ id, at, cost: 5n, usage: { input: 10, output: 4, source: 'reported' } });
  return { type: 'resolve', callId: id, amount: 5n, call };
}

/** A database with these calls, by id and time. */
async function withCalls(engine: Engine, calls: readonly (readonly [string, number])[]) {
  const { store, settings } = await freshStore(engine);
  await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: FOUR });
  await store.tidy(FOUR);
  await store.ledger([TOP_UP, ...calls.map(([id, at]) => ended(id, at))]);
  return { store, settings };
}

/** Some more than two pages, and calls of the hours around it. */
const MANY = 1203;
const AROUND = [
  ['before', FOUR - 1],
  ...Array.from(
    { length: MANY },
    (_, place) => [`call_${String(place).padStart(4, '0')}`, FOUR + place * 2990] as const,
  ),
  ['after', FOUR + HOUR_MS],
] as const;

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'modelport-hourly-'));
  folders.push(made);
  return made;
}

/** One process, with a clock that the test sets. */
function writerOf(store: Store, files: Files, more: Partial<HourlySettings> = {}) {
  const clock = { now: DUE };
  const errors: string[] = [];
  const hourly = createHourlyCalls({
    store,
    files,
    format: 'ndjson',
    keepCallsMs: REACH_MS + HOUR_MS,
    now: () => clock.now,
    uptime: () => clock.now,
    reportError: (sentence) => errors.push(sentence),
    ...more,
  });
  const outcomes = () =>
    Object.fromEntries(hourly.families()[0]?.samples.map(({ labels, value }) => [labels[0], value]) ?? []);
  return { hourly, clock, errors, outcomes };
}

async function namesIn(files: Files): Promise<string[]> {
  const names: string[] = [];
  for await (const name of files.names('calls/')) names.push(name);
  return names;
}

async function bytesOf(files: Files, name: string): Promise<Uint8Array> {
  const size = await files.size(name);
  return new Response(files.read(name, { start: 0, end: size ?? 0 })).bytes();
}

const idsIn = async (files: Files, name: string) => {
  const text = new TextDecoder().decode(await bytesOf(files, name));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);
};

async function withBucket(run: (bucket: Bucket, files: Files) => Promise<void>): Promise<void> {
  const bucket = await startBucket();
  try {
    await run(bucket, openFiles({ ...bucket.settings, endpoint: bucket.endpoint }));
  } finally {
    await bucket.close();
  }
}

describe.each(ENGINES)('$name:', (engine) => {
  test('a file has what the export of its hour has, in each format, in a folder and a bucket', async () => {
    const { store } = await withCalls(engine, AROUND);
    const filter = { from: FOUR, to: FOUR + HOUR_MS };
    await withBucket(async (bucket, inBucket) => {
      for (const format of FORMATS) {
        const name = `calls/2026-11-23T04.${format}`;
        const exported = await (await exportCalls(exportOf(store, filter), format, {})).bytes();
        expect(exported.length).toBeGreaterThan(MANY * 20);
        const place = folder();
        for (const files of [openFiles({ folder: place }), inBucket]) {
          const { hourly, errors, outcomes } = writerOf(store, files, { format });
          await hourly.turn();
          expect(errors).toEqual([]);
          // The call before four o'clock has a file of its own; the hours without calls have none.
          expect(outcomes()).toEqual({ written: 2, empty: 3 });
          expect(Buffer.compare(await bytesOf(files, name), exported)).toBe(0);
          await store.hourlyFiles.forgetHours(Number.MAX_SAFE_INTEGER);
        }
        expect(readdirSync(join(place, 'calls')).sort()).toEqual([
          `2026-11-23T03.${format}`,
          `2026-11-23T04.${format}`,
        ]);
      }
      expect(bucket.openUploads).toBe(0);
      expect(await idsIn(inBucket, 'calls/2026-11-23T04.ndjson')).toHaveLength(MANY);
    });
    await store.close();
  });

  test('two processes write each hour once, and no hour before its calls are over', async () => {
    const { store, settings } = await withCalls(engine, [
      ['call_2', FOUR - 2 * HOUR_MS],
      ['call_3', FOUR - HOUR_MS],
      ['call_4', FOUR],
      ['call_5', FOUR + HOUR_MS],
    ]);
    const hold = { callId: 'call_open', account: 'acc_1', key: 'key_1', amount: 5n, model: 'm', priceId: 'p' };
    await store.ledger([{ type: 'hold', hold: { ...hold, at: FOUR - HOUR_MS + 7, owner: 'proc_1' } }]);
    const other = await openStore(settings);
    await withBucket(async (bucket, files) => {
      const one = writerOf(store, files);
      const two = writerOf(other, files);
      const both = (at: number) => {
        one.clock.now = at;
        two.clock.now = at;
        return Promise.all([one.hourly.turn(), two.hourly.turn(), one.hourly.turn()]);
      };
      const puts = () => bucket.journal.filter(({ method }) => method === 'PUT').map(({ path }) => path.split('?')[0]);
      await both(DUE - 1);
      expect(await namesIn(files)).toEqual(['calls/2026-11-23T02.ndjson']);
      await both(DUE);
      expect(await namesIn(files)).toEqual(['calls/2026-11-23T02.ndjson', 'calls/2026-11-23T04.ndjson']);
      await store.ledger([ended('call_open', FOUR - HOUR_MS + 7)]);
      await both(DUE + MINUTE_MS);
      await both(DUE + HOUR_MS);
      await both(DUE + HOUR_MS + MINUTE_MS);
      const hours = ['02', '03', '04', '05'].map((hour) => `calls/2026-11-23T${hour}.ndjson`);
      expect(await namesIn(files)).toEqual(hours);
      expect(puts().sort()).toEqual(hours.map((name) => `/${bucket.settings.bucket}/${name}`));
      expect((await idsIn(files, 'calls/2026-11-23T03.ndjson')).sort()).toEqual(['call_3', 'call_open']);
      expect((one.outcomes().written ?? 0) + (two.outcomes().written ?? 0)).toBe(4);
      expect([...one.errors, ...two.errors]).toEqual([]);
    });
    await other.close();
    await store.close();
  });

  test('the hour of a killed process is taken over when its lease has ended, with the same content', async () => {
    const { store } = await withCalls(engine, [['call_4', FOUR]]);
    const files = openFiles({ folder: folder() });
    const hour = FOUR / HOUR_MS;
    const name = hourFileName(hour, 'ndjson');
    expect(await store.hourlyFiles.takeHour(hour, 'killed', DUE, DUE + HOURLY_LEASE_MS)).toBe(1);
    // It was killed after the file was complete and before that was recorded.
    await files.write(name, exportOfHour(store), Number.MAX_SAFE_INTEGER);
    const before = await bytesOf(files, name);
    const { hourly, clock, errors, outcomes } = writerOf(store, files);
    await hourly.turn();
    clock.now = DUE + HOURLY_LEASE_MS - 1;
    await hourly.turn();
    expect(outcomes()).not.toHaveProperty('written');
    clock.now = DUE + HOURLY_LEASE_MS;
    await hourly.turn();
    expect(outcomes()).toMatchObject({ written: 1 });
    expect(errors).toEqual([]);
    expect(await bytesOf(files, name)).toEqual(before);
    // What was thought to be killed changes nothing any more, unless its write fails: then the file is written again.
    expect(await store.hourlyFiles.hourWritten(hour, 'killed', { calls: 0, bytes: 0, at: DUE })).toBe(false);
    expect(await store.hourlyFiles.takeHour(hour, 'late', clock.now, clock.now + HOURLY_LEASE_MS)).toBeUndefined();
    await files.remove(name);
    await store.hourlyFiles.hourFailed(hour, 'broken off', clock.now);
    await hourly.turn();
    expect(await bytesOf(files, name)).toEqual(before);
    await store.close();
  });

  test('a bucket that fails is tried again after a pause; missed hours are written later, up to a week', async () => {
    const week = CATCH_UP_MS / HOUR_MS;
    const hourAgo = (hours: number) => FOUR - hours * HOUR_MS;
    const calls = [0, 1, week - 2, week - 1].map((hours) => [`call_${hours}`, hourAgo(hours)] as const);
    const { store } = await withCalls(engine, calls);
    await withBucket(async (bucket, files) => {
      const { hourly, clock, errors, outcomes } = writerOf(store, files, { keepCallsMs: undefined });
      bucket.fail(500);
      await hourly.turn();
      expect(errors).toEqual(['The calls of an hour could not be written to calls/2026-11-16T06.ndjson.']);
      expect(outcomes()).toEqual({ failed: 1 });
      bucket.fail(undefined);
      await hourly.turn();
      // The one that has failed waits.
      expect(await namesIn(files)).toEqual(['calls/2026-11-23T03.ndjson', 'calls/2026-11-23T04.ndjson']);
      clock.now += MINUTE_MS;
      await hourly.turn();
      expect((await namesIn(files))[0]).toBe('calls/2026-11-16T06.ndjson');
      expect(outcomes()).toEqual({ failed: 1, written: 3, empty: week - 1 - 3 });
      expect(errors).toHaveLength(1);
      const requestCount = bucket.journal.length;
      await hourly.turn();
      expect(bucket.journal.length).toBe(requestCount);
    });
    await store.close();
  });
});

const exportOfHour = (store: Store) => callPieces(exportOf(store, { from: FOUR, to: FOUR + HOUR_MS }), 'ndjson');

/** A process that kills itself before the given piece of the file, after its last piece, or when the whole file is there. */
const KILLED = `
  import { createHourlyCalls } from ${JSON.stringify(join(import.meta.dir, 'hourly-calls.ts'))};
  import { openFiles } from ${JSON.stringify(join(import.meta.dir, 'files/open-files.ts'))};
  import { openStore } from ${JSON.stringify(join(import.meta.dir, 'store/open-store.ts'))};
  const [dataDir, folder, point, now] = process.argv.slice(2);
  const kill = (at) => at === point && process.kill(process.pid, 'SIGKILL');
  const files = openFiles({ folder });
  async function* dying(pieces) {
    let piece = 0;
    for await (const bytes of pieces) {
      kill(String(++piece));
      yield bytes;
    }
    kill('last');
  }
  const write = async (name, pieces, most) => {
    const bytes = await files.write(name, dying(pieces), most);
    kill('whole');
    return bytes;
  };
  const store = await openStore({ dataDir });
  const clock = () => Number(now);
  const settings = { store, files: { ...files, write }, format: 'csv', keepCallsMs: ${3 * HOUR_MS}, now: clock, uptime: clock, reportError: console.error };
  await createHourlyCalls(settings).turn();
`;

test.each(['2', 'last', 'whole'])(
  'killed at %p, no half file is seen, and the next process completes the hour',
  async (point) => {
    const [sqlite] = ENGINES;
    if (!sqlite) throw new Error('There is no engine.');
    const { store, settings } = await withCalls(sqlite, AROUND.slice(1));
    const place = folder();
    const files = openFiles({ folder: place });
    const program = join(place, 'killed.ts');
    await Bun.write(program, KILLED);
    const argv = [process.execPath, program, settings.dataDir, place, point, String(DUE)];
    const { signalCode, stderr } = Bun.spawnSync(argv, { stderr: 'pipe' });
    expect([signalCode, stderr.toString()]).toEqual(['SIGKILL', '']);
    const name = hourFileName(FOUR / HOUR_MS, 'csv');
    const filter = { from: FOUR, to: FOUR + HOUR_MS };
    const exported = await (await exportCalls(exportOf(store, filter), 'csv', {})).bytes();
    expect(await files.size(name)).toBe(point === 'whole' ? exported.length : undefined);
    const { hourly, clock, errors, outcomes } = writerOf(store, files, { format: 'csv', keepCallsMs: 3 * HOUR_MS });
    await hourly.turn();
    expect(outcomes().written ?? 0).toBe(0);
    clock.now += HOURLY_LEASE_MS;
    await hourly.turn();
    expect(errors).toEqual([]);
    expect(outcomes().written).toBe(1);
    expect(Buffer.compare(await bytesOf(files, name), exported)).toBe(0);
    expect(readdirSync(join(place, 'calls'))).toEqual([
      `${hourFileName(FOUR / HOUR_MS, 'csv').slice('calls/'.length)}`,
    ]);
    await store.close();
  },
);

test('an hour that could not be written for a week is reported as lost; one that is about to be removed is not started', async () => {
  const [sqlite] = ENGINES;
  if (!sqlite) throw new Error('There is no engine.');
  const { store } = await withCalls(sqlite, [['call_4', FOUR]]);
  const files = openFiles({ folder: folder() });
  const { hourly, clock, errors, outcomes } = writerOf(store, files);
  await store.hourlyFiles.takeHour(FOUR / HOUR_MS, 'killed', DUE, DUE);
  clock.now = FOUR + CATCH_UP_MS + 25 * HOUR_MS;
  await hourly.turn();
  expect(errors).toEqual(['The calls of an hour are not written to a file any more: calls/2026-11-23T04.ndjson.']);
  expect(outcomes().lost).toBe(1);
  const short = writerOf(store, files, { keepCallsMs: 4 * HOUR_MS });
  short.clock.now = FOUR + 4 * HOUR_MS;
  await short.hourly.turn();
  expect(await namesIn(files)).toEqual([]);
  short.clock.now = FOUR + 3 * HOUR_MS;
  await store.hourlyFiles.forgetHours(Number.MAX_SAFE_INTEGER);
  await short.hourly.turn();
  expect(await namesIn(files)).toEqual(['calls/2026-11-23T04.ndjson']);
  await store.close();
});

test('storage that does not respond does not delay a run, and a write that fails later has its hour written again', async () => {
  const [sqlite] = ENGINES;
  if (!sqlite) throw new Error('There is no engine.');
  const { store } = await withCalls(sqlite, [['call_4', FOUR]]);
  const files = openFiles({ folder: folder() });
  const hanging = Promise.withResolvers<number>();
  const stuck = writerOf(store, { ...files, write: () => hanging.promise }, { stallMs: 1 });
  await stuck.hourly.turn();
  expect(stuck.outcomes()).toMatchObject({ failed: 1 });
  const { hourly, clock, outcomes } = writerOf(store, files);
  clock.now += MINUTE_MS;
  await hourly.turn();
  expect(outcomes()).toMatchObject({ written: 1 });
  await files.remove('calls/2026-11-23T04.ndjson');
  hanging.reject(new Error('reset'));
  for (const until = Date.now() + 30_000; Date.now() < until; await Bun.sleep(1)) {
    if (!(await store.hourlyFiles.takenHours(0, DUE + 2 * MINUTE_MS)).includes(FOUR / HOUR_MS)) break;
  }
  clock.now += MINUTE_MS;
  await hourly.turn();
  expect(await namesIn(files)).toEqual(['calls/2026-11-23T04.ndjson']);
  await store.close();
});

test('a clock that is an hour ahead for a moment does not close the current hour', async () => {
  const [sqlite] = ENGINES;
  if (!sqlite) throw new Error('There is no engine.');
  const { store } = await withCalls(sqlite, [['call_4', FOUR]]);
  const files = openFiles({ folder: folder() });
  let monotonic = 0;
  const { hourly, clock } = writerOf(store, files, { uptime: () => monotonic });
  const pass = (ms: number, jump = 0) => {
    clock.now += ms + jump;
    monotonic += ms;
    return hourly.turn();
  };
  clock.now = FOUR + 30 * MINUTE_MS;
  await pass(MINUTE_MS, HOUR_MS);
  await pass(MINUTE_MS, -HOUR_MS);
  expect(await namesIn(files)).toEqual([]);
  await store.ledger([ended('call_late', FOUR + 40 * MINUTE_MS)]);
  await pass(HOUR_MS);
  expect(await idsIn(files, 'calls/2026-11-23T04.ndjson')).toEqual(['call_late', 'call_4']);
  // A clock that was set and stays is believed at the second look.
  await store.ledger([ended('call_5', FOUR + HOUR_MS)]);
  await pass(MINUTE_MS, HOUR_MS);
  expect(await namesIn(files)).toHaveLength(1);
  await pass(MINUTE_MS);
  expect(await namesIn(files)).toHaveLength(2);
  await store.close();
});

test('the timer of a process runs at once, then repeatedly, and not after its end', async () => {
  let turns = 0;
  const looked = Promise.withResolvers<void>();
  const turn = async () => {
    if (++turns === 3) looked.resolve();
  };
  const stop = startHourlyTimer({ turn }, 1);
  expect(turns).toBe(1);
  await looked.promise;
  stop();
  const after = turns;
  // A timer of the same time that was set later fires later.
  await new Promise((resolve) => setTimeout(resolve, 1));
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(turns).toBe(after);
});
