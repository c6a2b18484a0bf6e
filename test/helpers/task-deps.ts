/** For tests: the modules of tasks with a real database and folder, and a clock that the test advances. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, createAccess } from '../../src/access/access.ts';
import { issueKey } from '../../src/access/key.ts';
import { newId } from '../../src/canonical/id.ts';
import { DAY_MS } from '../../src/canonical/time.ts';
import { applyCatalogue } from '../../src/catalog/apply.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { folderFiles } from '../../src/files/folder-files.ts';
import { createSigning } from '../../src/gateway/attempt/tokens.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { providerOf } from '../../src/providers/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { CallRow } from '../../src/store/rows.ts';
import { holding, LEASE_MS } from '../../src/tasks/held-task.ts';
import { step } from '../../src/tasks/step.ts';
import { readTask, type Task } from '../../src/tasks/task.ts';
import type { TaskDeps } from '../../src/tasks/task-deps.ts';
import { createVideoTasks, type Submission, type VideoTasks } from '../../src/tasks/video-tasks.ts';
import { createEvents, type EventSink } from '../../src/telemetry/events.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics/metrics.ts';
import { createSampler } from '../../src/telemetry/traces/sampler.ts';
import { createTraceSink } from '../../src/telemetry/traces/trace-sink.ts';
import { createGuardedFetch } from '../../src/transport/guarded-fetch.ts';
import { createTransport } from '../../src/transport/transport.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';
import { whenGone } from './postgres.ts';
import { SECOND_PRICE } from './videos.ts';

export interface TaskBench {
  readonly deps: TaskDeps;
  readonly videos: VideoTasks;
  readonly caller: Caller;
  readonly upstream: ScriptedUpstream;
  readonly dataFolder: string;
  readonly calls: CallRow[];
  /** Calls whose usage report was not believed. */
  readonly disputes: CallRow[];
  readonly metrics: Metrics;
  /** In OTLP's JSON. */
  readonly spans: string[];
  readonly troubles: string[];
  /** Resolves the host `hook.test` to this address. */
  hookLeadsTo(address: string): void;
  now(): number;
  turn(ms: number): void;
  /** A task of four seconds of video, 0.40 USD, at the provider below `/NAME/v1`. */
  create(name: string, more?: Partial<Submission['ask']>, headers?: { [name: string]: string }): Promise<Task>;
  task(id: string): Promise<Task>;
  /** Processes due tasks for this time on the clock, as a runner would. */
  lookAfter(ms: number): Promise<void>;
  /** Of the account, in nano-USD. */
  held(): Promise<bigint>;
  spent(): Promise<bigint>;
  close(): Promise<void>;
}

const NOON = Date.UTC(2026, 4, 5, 12);
const SETTINGS: TaskDeps['settings'] = {
  defaultModel: undefined,
  taskMs: DAY_MS,
  pollMs: 0,
  keepMs: 7 * DAY_MS,
  maxResultBytes: 1_000_000,
  unpricedExtras: 'refuse',
};
const BALANCE = 10_000_000_000n;

export async function startTaskBench(names: readonly string[]): Promise<TaskBench> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'modelport-tasks-'));
  whenGone(`rm -rf ${dataFolder}`);
  let clock = NOON;
  let hookAddress = '127.0.0.1';
  const now = () => clock;
  const store = await openStore({ dataDir: dataFolder });
  await store.migrate();
  const upstream = await startScriptedUpstream();
  const providers = names.map((name) => ({
    name,
    type: 'openai',
    baseUrl: `${upstream.url}/${name}/v1`,
    credential: 'sk',
  }));
  const models = names.map((name) => ({
    name,
    kind: 'video',
    price: SECOND_PRICE,
    targets: [{ provider: name, model: 'm' }],
  }));
  await applyCatalogue(store, { providers, models }, clock);
  const catalog = createCatalog({ store, now });
  await catalog.reload();
  const access = createAccess({ store });
  const account = newId('acct_');
  await store.createAccount({ id: account, name: 'default', balance: 0n, held: 0n, createdAt: clock });
  const { key, hash, last4 } = issueKey('caller');
  await store.createKey({ id: newId('key_'), account, kind: 'caller', name: 'test', hash, last4, createdAt: clock });
  const ledger = createLedger({ store, owner: 'bench', now });
  await ledger.topUp(account, BALANCE, { at: clock });
  const caller = await access.authenticate({ key, address: '127.0.0.1' }, clock);
  const transport = createTransport();
  const telemetry = taskTelemetry(clock);
  const troubles: string[] = [];
  const deps: TaskDeps = {
    access,
    catalog,
    ledger,
    store,
    transport,
    files: folderFiles(join(dataFolder, 'files')),
    signing: createSigning(transport, now),
    guard: createGuardedFetch({
      allows: (address) => address === '127.0.0.1',
      maxBytes: 1000,
      timeoutMs: 5000,
      resolve: async () => [hookAddress],
    }),
    provider: providerOf,
    settings: SETTINGS,
    worker: 'bench',
    inHand: new Set(),
    processStatusOf: () => 'unknown',
    now,
    random: () => 0.5,
    events: telemetry.events,
    reportError: (sentence) => void troubles.push(sentence),
  };
  const videos = createVideoTasks(deps);
  const balance = async () => (await ledger.balance(account)) ?? { available: 0n, held: 0n };
  const every = async () => (await store.tasks.tasks(account, { limit: 1000 })).map((row) => row.dueAt ?? Infinity);

  async function lookAfter(ms: number): Promise<void> {
    const end = clock + ms;
    for (;;) {
      const rows = await store.tasks.claim(deps.worker, clock, clock + LEASE_MS, 100);
      await Promise.all(
        rows.map((row) => {
          const held = { task: readTask(row), lost: false };
          return holding(deps, held, () => step(deps, held));
        }),
      );
      if (rows.length > 0) continue;
      const next = Math.min(...(await every()));
      // A due task with a lease waits for the end of the lease.
      clock = next > clock ? next : clock + 1000;
      if (clock > end) break;
    }
    clock = end;
  }

  return {
    deps,
    videos,
    caller,
    upstream,
    dataFolder,
    ...telemetry,
    troubles,
    hookLeadsTo(address) {
      hookAddress = address;
    },
    now,
    turn(ms) {
      clock += ms;
    },
    create: (model, more = {}, headers = {}) =>
      videos.create({
        caller,
        format: 'openai-videos',
        strict: false,
        headers: new Headers(headers),
        ask: { model, prompt: 'A cat', seconds: 4, n: 1, images: [], metadata: {}, ...more },
      }),
    async task(id) {
      const row = await store.tasks.task(id);
      if (!row) throw new Error(`There is no task ${id}.`);
      return readTask(row);
    },
    lookAfter,
    held: async () => (await balance()).held,
    async spent() {
      const { available, held } = await balance();
      return BALANCE - available - held;
    },
    async close() {
      access.close();
      await store.close();
      await upstream.close();
    },
  };
}

/** Everything that listens to events of tasks. */
function taskTelemetry(startedAt: number) {
  const calls: CallRow[] = [];
  const disputes: CallRow[] = [];
  const spans: string[] = [];
  const metrics = createMetrics(startedAt);
  const traces = createTraceSink({
    sampler: createSampler('parentbased_always_on', 1),
    slowMs: 0,
    export: (span) => void spans.push(span),
  });
  const own: EventSink = {
    taskEnded: (_, call) => void calls.push(call),
    disputed: (call) => void disputes.push(call),
  };
  const sinks = [own, metrics.sink, traces];
  const events = createEvents(sinks, (thrown) => {
    throw thrown;
  });
  return { calls, disputes, spans, metrics, events };
}
