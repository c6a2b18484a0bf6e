/**
 * Measures what the events of a call cost with every sink but traces: node bin/bun.mjs bench/events.ts [--blocks 50] [--calls 20000]. Blocks
 * with and without them alternate in one process; the figures are processor time of this thread.
 */
import { openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { parseArgs } from 'node:util';
import { createAlertSink } from '../src/alerts/alert-sink.ts';
import { createLog } from '../src/log.ts';
import type { AttemptRecord } from '../src/routing/tracked-attempt.ts';
import type { CallRow } from '../src/store/rows.ts';
import { CallTrace, createEvents, type EventSink, type Events } from '../src/telemetry/events.ts';
import { createLiveCalls } from '../src/telemetry/live-calls.ts';
import { createLogSink } from '../src/telemetry/log-sink.ts';
import { createMetrics } from '../src/telemetry/metrics/metrics.ts';
import { writeReceipt } from '../src/telemetry/receipt.ts';
import { createRefusedCalls } from '../src/telemetry/refused-calls.ts';
import { wholeAnswer } from '../test/helpers/chat-answers.ts';
import { startGatewayBench } from '../test/helpers/gateway-bench.ts';

const { values } = parseArgs({
  options: { blocks: { type: 'string', default: '50' }, calls: { type: 'string', default: '20000' } },
});

const nowhere = openSync(devNull, 'w');
const log = createLog('info', (lines) => writeSync(nowhere, lines), Date.now);
const failed = (thrown: unknown): never => {
  throw thrown;
};
const never = () => Promise.reject(new Error('Nothing is raised.'));
const alerts = createAlertSink({
  now: Date.now,
  isOn: () => true,
  soon: () => {},
  alertOf: () => failed(new Error('Nothing is raised.')),
  store: { raise: never, rearm: never, budgetUse: never },
});
const refusals = createRefusedCalls({ store: { refused: async () => {} }, now: Date.now, reportError: failed });
const others: EventSink[] = [
  createMetrics(Date.now(), (name) => name).sink,
  alerts,
  refusals.sink,
  createLiveCalls().sink,
];
const withLog = createEvents([createLogSink(log), ...others], failed);
const withoutLog = createEvents(others, failed);
const withNone = createEvents([], failed);

const headers = new Headers({ 'content-type': 'application/json' });
const target = { id: 'main/gpt-4o', provider: 'main', type: 'openai', model: 'gpt-4o' };

/** What a call has whether or not anybody is told of it. */
function recordOf(index: number): CallRow {
  return {
    id: `req_${index}`,
    account: 'acct_1',
    key: 'key_1',
    at: Date.now(),
    model: 'gpt-4o',
    provider: 'main',
    targetModel: 'gpt-4o',
    dialect: 'openai-chat',
    upstreamDialect: 'openai-chat',
    stream: true,
    status: 200,
    outcome: 'ok',
    attempts: 1,
    cost: BigInt(index % 1000),
    priceId: 'price_1',
    usage: { input: 100 + (index % 7), output: 50, source: 'reported' },
    durationMs: 812.5 + (index % 90),
    firstByteMs: 211.25,
  };
}

const attemptOf = (at: number): AttemptRecord => ({
  target,
  credential: 'sk-0123456789abcdef',
  startedAt: at,
  answeredAt: at + 211,
  endedAt: at + 812,
  status: 200,
  outcome: 'ok',
  errorCode: undefined,
  message: undefined,
});

function callWith(events: Events | undefined, index: number): void {
  const record = recordOf(index);
  const attempt = attemptOf(record.at);
  if (!events) return;
  const trace = new CallTrace(events, record.id, record.at, record.dialect);
  trace.sentBy(record);
  trace.asks({ model: record.model, stream: record.stream }, headers, false);
  trace.admitted(5000n);
  trace.attemptStarted(attempt);
  trace.attemptAnswered(attempt);
  trace.attemptEnded(attempt);
  if (events !== withNone) record.receipt = writeReceipt(trace, record);
  trace.ended(record);
}

/** Processor time of each of these, in µs a call, of blocks in turn. */
async function inTurn(
  modes: { readonly [mode: string]: (index: number) => void | Promise<void> },
  { blocks, calls }: { blocks: number; calls: number },
): Promise<void> {
  const times = new Map<string, number[]>(Object.keys(modes).map((mode) => [mode, []]));
  for (let block = -blocks / 5; block < blocks; block++) {
    for (const [mode, call] of Object.entries(modes)) {
      const before = process.threadCpuUsage();
      for (let index = 0; index < calls; index++) {
        const called = call(index);
        if (called) await called;
      }
      log.flush();
      const { user, system } = process.threadCpuUsage(before);
      if (block >= 0) times.get(mode)?.push((user + system) / calls);
      await Bun.sleep(0);
    }
  }
  const base = mean([...times.values()][0] ?? []);
  for (const [mode, all] of times)
    console.log(
      `${mode.padEnd(30)} ${mean(all).toFixed(2)} µs a call, ${(mean(all) - base).toFixed(2)} more than the first`,
    );
}

/** Not the median: the system counts processor time in ticks, and a block may be shorter than one. */
const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;

await inTurn(
  {
    'in a loop: no events': (index) => callWith(undefined, index),
    'a trace that nobody is told of': (index) => callWith(withNone, index),
    'all sinks but the log': (index) => callWith(withoutLog, index),
    'with the log': (index) => callWith(withLog, index),
  },
  { blocks: Number(values.blocks), calls: Number(values.calls) },
);

const bench = await startGatewayBench();
const served = async (events: Events) => {
  const at = await bench.open({ deps: { events }, balance: 10n ** 15n });
  return async (index: number) => {
    // As every few seconds: without it no call is admitted after a while.
    if (index === 0) await at.deps.ledger.renew();
    at.transport.script(wholeAnswer('Hello.'));
    const { status } = await at.serve({ model: at.model, messages: [{ role: 'user', content: 'Say hello.' }] });
    if (status !== 200) throw new Error(`The call was answered with ${status}.`);
  };
};
await inTurn(
  {
    'in whole calls: no sinks': await served(withNone),
    'whole calls, without the log': await served(withoutLog),
    'whole calls, with the log': await served(withLog),
  },
  { blocks: 6 * Number(values.blocks), calls: 100 },
);
await bench.close();
