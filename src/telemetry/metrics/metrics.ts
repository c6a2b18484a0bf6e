/** The metrics of this process: a sink of the events, timers that other modules report to, and figures read on each scrape. */
import type { CallRow } from '../../store/rows.ts';
import type { EventSink } from '../events.ts';
import { createCallMetrics } from './call-metrics.ts';
import { type MetricsFormat, writeMetrics } from './exposition.ts';
import { Counter, Histogram, type MetricFamily } from './family.ts';
import { gauges, type MetricSources } from './gauges.ts';

export interface Metrics {
  readonly sink: EventSink;
  /** Called when a response was sent. */
  answered(status: number): void;
  /** Called when a call or task has ended and is recorded. */
  called(call: CallRow): void;
  /** A batch of ledger steps was committed or has failed. */
  ledgerBatch(steps: number, ms: number): void;
  /** A small query to the database took so long. */
  databaseAnswered(ms: number): void;
  /** A script in Redis took so long. */
  redisAnswered(ms: number): void;
  redisIsUp(isUp: boolean): void;
  /** A timer fired so much later than it should. */
  eventLoopDelayed(ms: number): void;
  /** Adds families that another part of the program counts. */
  add(families: () => MetricFamily[]): void;
  /** The metrics of this process as data. */
  collect(sources: MetricSources): Promise<MetricFamily[]>;
  /** Returns the text of a scrape. */
  write(sources: MetricSources, format: MetricsFormat): Promise<string>;
}

const FAST = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const LATENCIES = Float64Array.of(...FAST);
const DELAYS = Float64Array.of(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5);
/** The ledger commits 512 steps at once at most. */
const BATCH_SIZES = Float64Array.of(1, 2, 4, 8, 16, 32, 64, 128, 256, 512);

/**
 * `startedAt`: milliseconds since 1970. `configured`: the configured name of a model, which for a wildcard is not the name that a client
 * made up; absent: every name is one.
 *
 * @example
 * const metrics = createMetrics(Date.now());
 * metrics.answered(200);
 * const text = await metrics.write(app, 'openmetrics');
 */
export function createMetrics(
  startedAt: number,
  configured: (model: string) => string | undefined = (model) => model,
): Metrics {
  const calls = createCallMetrics(configured);
  const answers = new Map<number, number>();
  const cooldowns = new Map<string, Counter>();
  const batchSize = new Histogram(BATCH_SIZES);
  const batchDuration = new Histogram(LATENCIES);
  const database = new Histogram(LATENCIES);
  const loop = new Histogram(DELAYS);
  let redis: Histogram | undefined;
  let redisUp = true;
  const others: (() => MetricFamily[])[] = [];

  const collect = async (sources: MetricSources): Promise<MetricFamily[]> => [
    counter('modelport_http_answers_total', 'Responses by HTTP status.', ['status'], numbered(answers)),
    ...calls.families(),
    counter(
      'modelport_cooldowns_total',
      'Cooldowns that began, of targets and credentials, by provider and reason (failing, refused, limited, admin).',
      ['provider', 'reason'],
      [...cooldowns].flatMap(([provider, reasons]) =>
        reasons.samples().map((one) => ({ ...one, labels: [provider, ...one.labels] })),
      ),
    ),
    timing('modelport_ledger_batch_size', 'Ledger steps committed together.', batchSize),
    timing(
      'modelport_ledger_batch_duration_seconds',
      'Duration of the commit of a batch of ledger steps.',
      batchDuration,
    ),
    timing('modelport_database_latency_seconds', 'Duration of a small query, asked about once a second.', database),
    timing(
      'modelport_event_loop_delay_seconds',
      'How much later than planned a timer fires, measured twice a second.',
      loop,
    ),
    ...(redis
      ? [
          timing('modelport_redis_latency_seconds', 'Duration of a script in Redis.', redis),
          gaugeOf('modelport_redis_up', '1 if Redis answers this process.', redisUp ? 1 : 0),
        ]
      : []),
    ...others.flatMap((families) => families()),
    ...(await gauges(sources, startedAt)),
  ];

  return {
    sink: {
      refused: ({ error }) => calls.refused(error?.code ?? 'internal_error'),
      attemptEnded: (_, attempt) => calls.attempted(attempt),
      ended: (_, record) => calls.called(record),
      taskEnded: (_, record) => calls.called(record),
      cooldown({ provider, reason }) {
        if (reason === 'recovered') return;
        let of = cooldowns.get(provider);
        if (!of) {
          of = new Counter();
          cooldowns.set(provider, of);
        }
        of.add(reason);
      },
    },
    answered: (status) => void answers.set(status, (answers.get(status) ?? 0) + 1),
    called: calls.called,
    ledgerBatch(steps, ms) {
      batchSize.observe(steps);
      batchDuration.observe(ms / 1000);
    },
    databaseAnswered: (ms) => database.observe(ms / 1000),
    redisAnswered(ms) {
      redis ??= new Histogram(LATENCIES);
      redis.observe(ms / 1000);
    },
    redisIsUp(isUp) {
      redis ??= new Histogram(LATENCIES);
      redisUp = isUp;
    },
    eventLoopDelayed: (ms) => loop.observe(Math.max(0, ms) / 1000),
    add: (families) => void others.push(families),
    collect,
    write: async (sources, format) => writeMetrics([{ families: await collect(sources) }], format),
  };
}

function counter(
  name: string,
  help: string,
  labels: readonly string[],
  samples: MetricFamily['samples'],
): MetricFamily {
  return { name, type: 'counter', help, labels, samples };
}

function numbered(values: ReadonlyMap<number, number>): MetricFamily['samples'] {
  return [...values].map(([label, value]) => ({ labels: [String(label)], value }));
}

function timing(name: string, help: string, histogram: Histogram): MetricFamily {
  return { name, type: 'histogram', help, labels: [], samples: [histogram.sample([])] };
}

function gaugeOf(name: string, help: string, value: number): MetricFamily {
  return { name, type: 'gauge', help, labels: [], samples: [{ labels: [], value }] };
}
