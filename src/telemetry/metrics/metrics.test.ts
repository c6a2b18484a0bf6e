import { describe, expect, test } from 'bun:test';
import { callRow } from '../../../test/helpers/call-row.ts';
import { readScrape, sumOf } from '../../../test/helpers/scraped.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { AttemptRecord } from '../../routing/tracked-attempt.ts';
import type { CallRow } from '../../store/rows.ts';
import type { CallTrace } from '../events.ts';
import { formatFor, writeMetrics } from './exposition.ts';
import type { MetricSources } from './gauges.ts';
import { createMetrics } from './metrics.ts';

const TARGET = { id: 'main/gpt', provider: 'main', model: 'gpt' };
const SOURCES = {
  gateway: { active: 2 },
  store: { heldSum: () => Promise.resolve({ open: 2, amount: 2_000_000_000n }) },
  catalog: {
    list: () => [{ targets: [TARGET] }],
    routing: {
      targetState: () => ({
        ...TARGET,
        phase: 'open',
        calls: 4,
        errorRate: 0.5,
        inFlight: 1,
        queued: 3,
        coolingCredentials: [{ place: 1, until: 0, reason: 'refused' }],
      }),
    },
  },
} as unknown as MetricSources;

const row = (members: Partial<CallRow> = {}) => callRow({ id: 'req_1', at: 0, provider: 'main', ...members });
const call = (members: object) => members as unknown as CallTrace;
const attempt = (members: Partial<AttemptRecord>) => ({ target: TARGET, ...members }) as AttemptRecord;

async function scrape(metrics: ReturnType<typeof createMetrics>) {
  return readScrape(await metrics.write(SOURCES, 'prometheus'));
}

test('the duration of a call is in one bucket and in all above it', async () => {
  const metrics = createMetrics(0);
  metrics.called(row({ stream: false, durationMs: 300 }));
  metrics.called(row({ stream: false, durationMs: 320 }));
  metrics.called(row({ stream: false, durationMs: 999_000 }));
  const series = await scrape(metrics);
  const upTo = (le: string) => sumOf(series, 'modelport_request_duration_seconds_bucket', { model: 'm', le });
  expect([upTo('0.16'), upTo('0.32'), upTo('0.64'), upTo('327.68'), upTo('+Inf')]).toEqual([0, 2, 2, 2, 3]);
  expect(sumOf(series, 'modelport_request_duration_seconds_count', { model: 'm', provider: 'main' })).toBe(3);
  expect(sumOf(series, 'modelport_request_duration_seconds_sum')).toBeCloseTo(999.62);
  expect(series.some(({ name }) => name.startsWith('modelport_time_to_first_token'))).toBe(false);
});

test('a stream has a time to its first token and a time per token after it', async () => {
  const metrics = createMetrics(0);
  const usage = { input: 3, output: 11, source: 'reported' } as const;
  metrics.called(row({ firstByteMs: 400, durationMs: 2400, usage }));
  // An interrupted stream, and one of a single token, have no time per token.
  metrics.called(row({ firstByteMs: 400, durationMs: 9000, usage, outcome: 'broken' }));
  metrics.called(row({ firstByteMs: 400, durationMs: 9000, usage: { ...usage, output: 1 } }));
  const series = await scrape(metrics);
  expect(sumOf(series, 'modelport_time_to_first_token_seconds_count')).toBe(3);
  expect(sumOf(series, 'modelport_time_per_output_token_seconds_count')).toBe(1);
  expect(sumOf(series, 'modelport_time_per_output_token_seconds_sum')).toBeCloseTo(0.2);
});

test('each token is counted under one type, and money and outcomes by model and provider', async () => {
  const metrics = createMetrics(0);
  const usage = { input: 100, cachedInput: 60, cacheWrite: 10, output: 50, reasoning: 20, source: 'reported' } as const;
  metrics.called(row({ usage, cost: 2_500_000_000n }));
  metrics.called(row({ outcome: 'disputed', errorCode: 'upstream_failed' }));
  metrics.called(row({ usage: { ...usage, source: 'cached' } }));
  const series = await scrape(metrics);
  const tokens = (type: string) => sumOf(series, 'modelport_tokens_total', { type });
  const types = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'];
  expect(types.map(tokens)).toEqual([30, 60, 10, 30, 20]);
  expect(sumOf(series, 'modelport_charged_usd_total', { model: 'm', provider: 'main' })).toBe(2.5);
  expect(sumOf(series, 'modelport_calls_total', { outcome: 'ok' })).toBe(2);
  expect(sumOf(series, 'modelport_disputed_calls_total')).toBe(1);
  expect(sumOf(series, 'modelport_cache_hits_total')).toBe(1);
  expect(sumOf(series, 'modelport_errors_total', { code: 'upstream_failed' })).toBe(1);
});

test('attempts, refusals and cooldowns are counted from the events', async () => {
  const { sink, ...metrics } = createMetrics(0);
  const { refused, attemptEnded, cooldown } = sink;
  attemptEnded?.(call({}), attempt({ outcome: 'ok' }));
  attemptEnded?.(call({}), attempt({ outcome: 'failed', errorCode: 'rate_limited' }));
  attemptEnded?.(call({}), attempt({ outcome: 'failed', errorCode: 'upstream_timeout' }));
  refused?.(call({ error: new GatewayError('invalid_api_key', 'no') }));
  cooldown?.({ provider: 'main', target: 'main/gpt', reason: 'failing', seconds: 1 });
  cooldown?.({ provider: 'main', target: 'main/gpt', reason: 'recovered', seconds: 0 });
  const series = readScrape(await metrics.write(SOURCES, 'prometheus'));
  const attempts = (labels: { [name: string]: string }) => sumOf(series, 'modelport_attempts_total', labels);
  expect(attempts({ provider: 'main', outcome: 'ok' })).toBe(1);
  expect(attempts({ provider: 'main', outcome: 'failed' })).toBe(2);
  expect(attempts({ outcome: 'failed', error: 'rate_limited' })).toBe(1);
  expect(sumOf(series, 'modelport_refusals_total', { reason: 'invalid_api_key' })).toBe(1);
  expect(sumOf(series, 'modelport_cooldowns_total')).toBe(1);
  expect(sumOf(series, 'modelport_cooldowns_total', { reason: 'failing' })).toBe(1);
});

test('the state of targets, the queue, holds, the ledger and latencies', async () => {
  const metrics = createMetrics(1_000_000);
  metrics.ledgerBatch(3, 4);
  metrics.databaseAnswered(2);
  metrics.redisAnswered(0.3);
  metrics.redisIsUp(false);
  metrics.eventLoopDelayed(30);
  const series = await scrape(metrics);
  const value = (name: string, labels = {}) => sumOf(series, `modelport_${name}`, labels);
  expect(value('target_state', { target: 'main/gpt', state: 'open' })).toBe(1);
  expect(value('target_state')).toBe(1);
  expect(value('target_attempts_active')).toBe(1);
  expect(value('target_error_ratio')).toBe(0.5);
  expect(value('queue_length', { provider: 'main' })).toBe(3);
  expect(value('credentials_cooling', { provider: 'main' })).toBe(1);
  expect(value('holds_open')).toBe(2);
  expect(value('holds_usd')).toBe(2);
  expect(value('ledger_batch_size_bucket', { le: '4.0' })).toBe(1);
  expect(value('ledger_batch_duration_seconds_sum')).toBeCloseTo(0.004);
  expect(value('database_latency_seconds_sum')).toBeCloseTo(0.002);
  expect(value('redis_latency_seconds_count')).toBe(1);
  expect(value('redis_up')).toBe(0);
  expect(value('event_loop_delay_seconds_bucket', { le: '0.05' })).toBe(1);
  expect(sumOf(series, 'process_start_time_seconds')).toBe(1000);
  expect(sumOf(series, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
});

describe('labels', () => {
  test('a model is named as it is configured: a client that makes names up adds no series', async () => {
    const metrics = createMetrics(0, (name) => (name.startsWith('any-') ? 'any-*' : undefined));
    for (let one = 0; one < 50; one++) metrics.called(row({ model: `any-${one}` }));
    metrics.called(row({ model: 'removed' }));
    const series = await scrape(metrics);
    expect(sumOf(series, 'modelport_calls_total', { model: 'any-*' })).toBe(50);
    expect(sumOf(series, 'modelport_calls_total', { model: 'other' })).toBe(1);
  });

  test('above a bound one value counts the rest', async () => {
    const metrics = createMetrics(0);
    for (let one = 0; one < 1000; one++) {
      metrics.called(row({ model: `m${one}`, errorCode: `e${one}` }));
      const target = { id: 't', provider: `p${one}` };
      metrics.sink.attemptEnded?.(call({}), attempt({ target, outcome: 'ok' }));
    }
    const series = await scrape(metrics);
    const named = (name: string) => series.filter((one) => one.name === name);
    expect(named('modelport_calls_total')).toHaveLength(301);
    expect(sumOf(series, 'modelport_calls_total')).toBe(1000);
    expect(sumOf(series, 'modelport_calls_total', { model: 'other' })).toBe(700);
    expect(named('modelport_errors_total')).toHaveLength(201);
    expect(named('modelport_attempts_total').length).toBeLessThan(310);
    expect(sumOf(series, 'modelport_attempts_total')).toBe(1000);
  });

  test('quotes, backslashes and line ends are escaped', async () => {
    const metrics = createMetrics(0);
    const model = 'a"b\\c\nd{e}';
    metrics.called(row({ model }));
    expect(sumOf(await scrape(metrics), 'modelport_calls_total', { model })).toBe(1);
  });
});

describe('several processes', () => {
  test('every series has a label of its process, and what processes share is written once', async () => {
    const [one, two] = [createMetrics(0), createMetrics(0)];
    one.called(row({ durationMs: 100 }));
    two.called(row({ durationMs: 200 }));
    two.called(row({ model: 'only here' }));
    const scraped = [
      { process: 1, families: await one.collect(SOURCES) },
      { process: 2, families: await two.collect(SOURCES) },
    ];
    // As it is sent from one process to another.
    const series = readScrape(writeMetrics(JSON.parse(JSON.stringify(scraped)), 'prometheus'));
    const calls = (process: string) => sumOf(series, 'modelport_calls_total', { process });
    expect([calls('1'), calls('2')]).toEqual([1, 2]);
    expect(sumOf(series, 'modelport_request_duration_seconds_sum', { process: '2', model: 'm' })).toBe(0.2);
    expect(series.filter(({ name }) => name === 'modelport_holds_open')).toEqual([
      { name: 'modelport_holds_open', labels: {}, value: 2 },
    ]);
  });
});

describe('formats', () => {
  test.each([
    [null, 'prometheus'],
    ['*/*', 'prometheus'],
    ['text/plain', 'prometheus'],
    ['application/openmetrics-text', 'openmetrics'],
    ['application/openmetrics-text; version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 'openmetrics'],
    ['text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.4', 'prometheus'],
    ['application/openmetrics-text;q=0, text/plain', 'prometheus'],
    ['application/openmetrics-text; version=2.0.0, text/plain;q=0.3', 'prometheus'],
    [
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
      'openmetrics',
    ],
  ] as const)('accept %p: %s', (accept, format) => {
    expect(formatFor(accept)).toBe(format);
  });

  test('OpenMetrics names counters without their suffix, gives units, and ends with a line of its own', async () => {
    const metrics = createMetrics(0);
    metrics.called(row());
    const text = await metrics.write(SOURCES, 'openmetrics');
    expect(readScrape(text).length).toBeGreaterThan(50);
    expect(text).toContain('# TYPE modelport_calls counter\n');
    expect(text).toContain('\nmodelport_calls_total{model="m",provider="main",outcome="ok"} 1\n');
    expect(text).toContain('# UNIT modelport_request_duration_seconds seconds\n');
    expect(text.endsWith('\n# EOF\n')).toBe(true);
  });
});
