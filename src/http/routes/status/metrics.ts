/** Metrics for Prometheus: counters that edge and gateway increase, and gauges read on each request. */
import type { Catalog } from '../../../catalog/catalog.ts';
import type { Gateway } from '../../../gateway/gateway.ts';
import type { CallOutcome, CallRow, Store } from '../../../store/store.ts';

/** The sources of the gauges. */
export interface Measured {
  gateway: Gateway;
  store: Store;
  catalog: Catalog;
}

export interface Metrics {
  /** Called when a response was sent. */
  answered(status: number): void;
  /** Called when a call has ended and is recorded. */
  called(call: CallRow): void;
  /** Returns the Prometheus text format, version 0.0.4. */
  write(measured: Measured): Promise<string>;
}

/** Counters of one model. */
interface ModelCounts {
  outcomes: Map<CallOutcome, number>;
  milliseconds: number;
  /** A metric needs no exact arithmetic; the ledger has the exact amounts. */
  nanoUsd: number;
  cacheHits: number;
}

type Labels = { readonly [name: string]: string };

/** A line each for so many models; what is beyond is counted together. */
const MOST_MODELS = 1000;
const OTHERS = 'others';

export function createMetrics(startedAt: number): Metrics {
  const answers = new Map<number, number>();
  const models = new Map<string, ModelCounts>();
  const errors = new Map<string, number>();
  const attempts = new Map<string, number>();

  function countsOf(model: string): ModelCounts {
    let counts = models.get(model);
    // Of a wildcard callers make up the names.
    if (!counts && models.size >= MOST_MODELS && model !== OTHERS) return countsOf(OTHERS);
    if (!counts) {
      counts = { outcomes: new Map(), milliseconds: 0, nanoUsd: 0, cacheHits: 0 };
      models.set(model, counts);
    }
    return counts;
  }

  return {
    answered: (status) => add(answers, status, 1),
    called(call) {
      const counts = countsOf(call.model);
      add(counts.outcomes, call.outcome, 1);
      counts.milliseconds += call.durationMs;
      counts.nanoUsd += Number(call.cost);
      if (call.usage?.source === 'cached') counts.cacheHits++;
      if (call.errorCode !== undefined) add(errors, call.errorCode, 1);
      add(attempts, call.provider, call.attempts);
    },
    async write(measured) {
      const counters = [
        counter('http_answers', 'Responses by HTTP status.', linesOf(answers, 'status')),
        counter('calls', 'Admitted calls by model and outcome.', outcomeLines(models)),
        counter(
          'disputed_calls',
          'Calls whose provider reported implausible usage, by model: the hold was charged.',
          disputedLines(models),
        ),
        counter(
          'cache_hits',
          'Calls answered with a stored reply, by model.',
          modelLines(models, (of) => of.cacheHits).filter(isAboveZero),
        ),
        counter('errors', 'Failed calls by error code.', linesOf(errors, 'code')),
        counter('attempts', 'Attempts at upstreams, by provider of the last attempt.', linesOf(attempts, 'provider')),
        counter(
          'call_seconds',
          'Duration of calls in total, by model.',
          modelLines(models, (of) => of.milliseconds / 1000),
        ),
        counter(
          'charged_usd',
          'Money charged, by model.',
          modelLines(models, (of) => of.nanoUsd / 1e9).filter(isAboveZero),
        ),
      ];
      return `${counters.join('')}${(await figures(measured, startedAt)).map(writeFigure).join('')}`;
    },
  };
}

function add<Key>(values: Map<Key, number>, key: Key, amount: number): void {
  values.set(key, (values.get(key) ?? 0) + amount);
}

type MetricLine = readonly [labels: Labels, value: number];

function linesOf(values: ReadonlyMap<string | number, number>, label: string): MetricLine[] {
  return [...values].map(([key, value]) => [{ [label]: String(key) }, value]);
}

function modelLines(models: ReadonlyMap<string, ModelCounts>, figure: (counts: ModelCounts) => number): MetricLine[] {
  return [...models].map(([model, counts]) => [{ model }, figure(counts)]);
}

function outcomeLines(models: ReadonlyMap<string, ModelCounts>): MetricLine[] {
  return [...models].flatMap(([model, { outcomes }]) =>
    [...outcomes].map(([outcome, value]): MetricLine => [{ model, outcome }, value]),
  );
}

function disputedLines(models: ReadonlyMap<string, ModelCounts>): MetricLine[] {
  return modelLines(models, ({ outcomes }) => outcomes.get('disputed') ?? 0).filter(([, calls]) => calls > 0);
}

const isAboveZero = ([, value]: MetricLine) => value > 0;

type Metric = readonly [name: string, type: 'gauge' | 'counter', help: string, value: number];

async function figures({ gateway, store, catalog }: Measured, startedAt: number): Promise<Metric[]> {
  const lagSeconds = await eventLoopLag();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const holds = await store.holds().catch(() => undefined);
  return [
    ['modelport_calls_active', 'gauge', 'Active calls.', gateway.active],
    ['modelport_database_up', 'gauge', '1 if the database answers.', holds ? 1 : 0],
    ...(holds ? ([['modelport_holds_open', 'gauge', 'Holds not yet resolved.', holds.length]] as const) : []),
    ['modelport_models', 'gauge', 'Models available.', catalog.list().length],
    ['modelport_event_loop_lag_seconds', 'gauge', 'Current lag of the event loop.', lagSeconds],
    ['process_start_time_seconds', 'gauge', 'When the process started.', startedAt / 1000],
    ['process_cpu_seconds_total', 'counter', 'Processor time used.', (user + system) / 1e6],
    ['process_resident_memory_bytes', 'gauge', 'Memory in use.', rss],
    ['modelport_heap_used_bytes', 'gauge', 'JavaScript memory in use.', heapUsed],
  ];
}

/** Seconds until a task queued now runs. */
async function eventLoopLag(): Promise<number> {
  const queued = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  return (performance.now() - queued) / 1000;
}

function counter(name: string, help: string, lines: readonly MetricLine[]): string {
  const whole = `modelport_${name}_total`;
  let text = `# HELP ${whole} ${help}\n# TYPE ${whole} counter\n`;
  for (const [labels, value] of lines) {
    const written = Object.entries(labels).map(([label, said]) => `${label}="${escapeLabel(said)}"`);
    text += `${whole}{${written.join(',')}} ${value}\n`;
  }
  return text;
}

function writeFigure([name, type, help, value]: Metric): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
