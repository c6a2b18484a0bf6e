/** What an operator's Prometheus reads: counters fed by edge and gateway, and figures taken when it asks. */
import type { CallRow } from '../store/store.ts';
import type { Rooms } from './rooms.ts';

export interface Metrics {
  /** An answer has left the edge. */
  answered(status: number): void;
  /** A call has ended and is on record: the gateway's log says so. */
  called(call: CallRow): void;
  /** The text form, version 0.0.4. */
  write(rooms: Rooms): Promise<string>;
}

interface Counter {
  name: string;
  help: string;
  labels: readonly string[];
  /** Label values joined by a character that no label holds. */
  values: Map<string, number>;
}

/** A counter is no ledger: nano-USD as USD, near enough. */
const NANO = 1e9;
/** Joins label values into one key. */
const JOINT = '\u0000';

export function createMetrics(startedAt: number): Metrics {
  const counter = (name: string, help: string, ...labels: string[]): Counter => ({
    name: `modelport_${name}_total`,
    help,
    labels,
    values: new Map(),
  });
  const answers = counter('http_answers', 'Answers by HTTP status.', 'status');
  const calls = counter('calls', 'Calls that were admitted, by model and outcome.', 'model', 'outcome');
  const errors = counter('errors', 'Calls that ended in an error, by its code.', 'code');
  const attempts = counter('attempts', 'Attempts at upstreams, by provider of the last one.', 'provider');
  const seconds = counter('call_seconds', 'Time spent in calls, by model.', 'model');
  const charged = counter('charged_usd', 'Money charged, by model.', 'model');

  return {
    answered: (status) => add(answers, String(status), 1),
    called(call) {
      add(calls, call.model + JOINT + call.outcome, 1);
      if (call.errorCode !== undefined) add(errors, call.errorCode, 1);
      add(attempts, call.provider, call.attempts);
      add(seconds, call.model, call.durationMs / 1000);
      if (call.cost > 0n) add(charged, call.model, Number(call.cost) / NANO);
    },
    async write(rooms) {
      const counters = [answers, calls, errors, attempts, seconds, charged].map(writeCounter);
      return `${counters.join('')}${(await figures(rooms, startedAt)).map(writeFigure).join('')}`;
    },
  };
}

function add({ values }: Counter, key: string, amount: number): void {
  values.set(key, (values.get(key) ?? 0) + amount);
}

type Figure = readonly [name: string, type: 'gauge' | 'counter', help: string, value: number];

async function figures({ gateway, store, catalog }: Rooms, startedAt: number): Promise<Figure[]> {
  const lagSeconds = await eventLoopLag();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const holds = await store.holds().catch(() => undefined);
  return [
    ['modelport_calls_active', 'gauge', 'Calls under way.', gateway.active],
    ['modelport_database_up', 'gauge', '1 where the database answers.', holds ? 1 : 0],
    ...(holds ? ([['modelport_holds_open', 'gauge', 'Holds not yet resolved.', holds.length]] as const) : []),
    ['modelport_models', 'gauge', 'Models on sale.', catalog.list().length],
    ['modelport_event_loop_lag_seconds', 'gauge', 'How long a turn of the event loop takes now.', lagSeconds],
    ['process_start_time_seconds', 'gauge', 'When the process started.', startedAt / 1000],
    ['process_cpu_seconds_total', 'counter', 'Processor time spent.', (user + system) / 1e6],
    ['process_resident_memory_bytes', 'gauge', 'Memory in use.', rss],
    ['modelport_heap_used_bytes', 'gauge', 'JavaScript memory in use.', heapUsed],
  ];
}

/** Seconds until a task queued now has its turn. */
async function eventLoopLag(): Promise<number> {
  const queued = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  return (performance.now() - queued) / 1000;
}

function writeCounter({ name, help, labels, values }: Counter): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} counter\n`;
  for (const [key, value] of values) {
    const parts = key.split(JOINT).map((part, at) => `${labels[at]}="${escapeLabel(part)}"`);
    text += `${name}{${parts.join(',')}} ${value}\n`;
  }
  return text;
}

function writeFigure([name, type, help, value]: Figure): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
