/** Figures that are read when they are scraped. */
import { yieldToLoop } from '../../canonical/yield-to-loop.ts';
import type { RoutedTarget } from '../../routing/routed.ts';
import type { Routing } from '../../routing/routing.ts';
import type { MetricFamily, Sample } from './family.ts';

type ObservedTarget = RoutedTarget & { model: string };

/** Where the figures are read. */
export interface MetricSources {
  gateway: { readonly active: number };
  store: { heldSum(): Promise<{ open: number; amount: bigint }> };
  catalog: {
    list(): readonly { targets: readonly ObservedTarget[] }[];
    readonly routing: Pick<Routing<ObservedTarget>, 'targetState'>;
  };
}

const PHASES = ['closed', 'open', 'half-open', 'ramp'] as const;
/** Targets beyond so many are left out. */
const MOST_TARGETS = 500;

export async function gauges(sources: MetricSources, startedAt: number): Promise<MetricFamily[]> {
  const { gateway, store, catalog } = sources;
  const holds = await store.heldSum().catch(() => undefined);
  return [
    gauge('modelport_calls_active', 'Active calls.', gateway.active),
    gauge('modelport_database_up', '1 if the database answers.', holds ? 1 : 0),
    ...(holds
      ? [
          shared('modelport_holds_open', 'Holds not yet resolved, of all processes.', holds.open),
          shared('modelport_holds_usd', 'Money held for active calls, of all processes.', Number(holds.amount) / 1e9),
        ]
      : []),
    shared('modelport_models', 'Models available.', catalog.list().length),
    ...targetGauges(catalog),
    ...(await processFamilies(startedAt)),
  ];
}

function targetGauges({ list, routing }: MetricSources['catalog']): MetricFamily[] {
  const targets = [...new Map(list().flatMap((model) => model.targets.map((target) => [target.id, target]))).values()];
  const states = targets.slice(0, MOST_TARGETS).map((target) => routing.targetState(target));
  const queues = new Map(states.map(({ provider, queued }) => [provider, queued]));
  const cooling = new Map<string, Set<string>>();
  for (const { provider, coolingCredentials } of states) {
    const of = cooling.get(provider) ?? new Set();
    for (const one of coolingCredentials) of.add(String(one.place));
    cooling.set(provider, of);
  }
  const perTarget = (name: string, help: string, of: (state: (typeof states)[number]) => number): MetricFamily => ({
    name,
    type: 'gauge',
    help,
    labels: ['provider', 'target'],
    samples: states.map((state) => ({ labels: [state.provider, state.id], value: of(state) })),
  });
  const perProvider = (name: string, help: string, values: Iterable<readonly [string, number]>): MetricFamily => ({
    name,
    type: 'gauge',
    help,
    labels: ['provider'],
    samples: [...values].map(([provider, value]) => ({ labels: [provider], value })),
  });
  return [
    {
      name: 'modelport_target_state',
      type: 'gauge',
      help: 'The state of each target, 1 for the one it is in: closed (in use), open (cooling down), half-open (being tried), ramp (coming back).',
      labels: ['provider', 'target', 'state'],
      samples: states.flatMap(({ provider, id, phase }) =>
        PHASES.map((state): Sample => ({ labels: [provider, id, state], value: phase === state ? 1 : 0 })),
      ),
    },
    perTarget('modelport_target_attempts_active', 'Attempts under way at each target.', ({ inFlight }) => inFlight),
    perTarget(
      'modelport_target_error_ratio',
      'Failed share of the recent attempts at each target.',
      (s) => s.errorRate,
    ),
    perProvider('modelport_queue_length', 'Calls that wait for a place at the provider.', queues),
    perProvider(
      'modelport_credentials_cooling',
      'Credentials of the provider that are cooling down for at least one target.',
      [...cooling].map(([provider, places]) => [provider, places.size] as const),
    ),
  ];
}

async function processFamilies(startedAt: number): Promise<MetricFamily[]> {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge('modelport_event_loop_lag_seconds', 'Current lag of the event loop.', await eventLoopLag()),
    gauge('process_start_time_seconds', 'When the process started.', startedAt / 1000),
    { ...gauge('process_cpu_seconds_total', 'Processor time used.', (user + system) / 1e6), type: 'counter' },
    gauge('process_resident_memory_bytes', 'Memory in use.', rss),
    gauge('modelport_heap_used_bytes', 'JavaScript memory in use.', heapUsed),
  ];
}

/** Seconds until a task queued now runs. */
async function eventLoopLag(): Promise<number> {
  const queued = performance.now();
  await yieldToLoop();
  return (performance.now() - queued) / 1000;
}

function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, type: 'gauge', help, labels: [], samples: [{ labels: [], value }] };
}

/** Read from the database: the same in every process. */
const shared = (name: string, help: string, value: number): MetricFamily => ({
  ...gauge(name, help, value),
  isShared: true,
});
