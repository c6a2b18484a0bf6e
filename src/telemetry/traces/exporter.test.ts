import { describe, expect, test } from 'bun:test';
import { createExporter, type ExportAnswer } from './exporter.ts';

interface Timer {
  at: number;
  over(): void;
}

/** An exporter with a clock that the test moves, and an endpoint with answers of the test. */
function scene(answers: (ExportAnswer | Error | Promise<ExportAnswer>)[] = []) {
  let now = 0;
  let timers: Timer[] = [];
  const bodies: string[][] = [];
  const lost: string[] = [];
  const exporter = createExporter({
    resource: '[]',
    version: '1',
    random: () => 1,
    lost: (sentence) => void lost.push(sentence),
    post(body) {
      bodies.push(JSON.parse(body).resourceSpans[0].scopeSpans[0].spans);
      const next = answers.shift() ?? answer(200);
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    wait(ms, over) {
      const timer = { at: now + ms, over };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  });
  /** Lets everything that is due happen. */
  async function pass(ms: number): Promise<void> {
    const end = now + ms;
    for (;;) {
      await settled();
      const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      now = due.at;
      timers = timers.filter((one) => one !== due);
      due.over();
    }
    now = end;
  }
  const value = (name: string, label = '') =>
    exporter
      .families()
      .find((family) => family.name === `modelport_${name}`)
      ?.samples.find(({ labels }) => (labels[0] ?? '') === label)?.value ?? 0;
  return { exporter, bodies, lost, pass, value };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

function answer(status: number, headers: { [name: string]: string } = {}, body = '{}'): ExportAnswer {
  return { status, header: (name) => headers[name], body };
}

test('spans are gathered for a second and sent together', async () => {
  const { exporter, bodies, pass, value } = scene();
  exporter.add('1');
  exporter.add('2');
  await pass(999);
  expect(bodies).toEqual([]);
  expect(value('span_queue_length')).toBe(2);
  await pass(1);
  expect(bodies as unknown).toEqual([[1, 2]]);
  expect(value('spans_exported_total')).toBe(2);
  exporter.add('3');
  await pass(1000);
  expect(bodies as unknown).toEqual([[1, 2], [3]]);
});

test('a full batch is sent at once, and only one request is under way', async () => {
  const slow = Promise.withResolvers<ExportAnswer>();
  const { exporter, bodies, pass } = scene([slow.promise]);
  for (let one = 0; one < 1200; one++) exporter.add('0');
  await pass(10_000);
  expect(bodies.map(({ length }) => length)).toEqual([512]);
  slow.resolve(answer(200));
  await pass(0);
  expect(bodies.map(({ length }) => length)).toEqual([512, 512]);
  await pass(1000);
  expect(bodies.map(({ length }) => length)).toEqual([512, 512, 176]);
});

describe('an endpoint that fails', () => {
  test('for a while is tried again, after longer and longer pauses', async () => {
    const { exporter, bodies, lost, pass, value } = scene([answer(503), new Error('reset'), answer(429)]);
    exporter.add('1');
    await pass(1000);
    expect(bodies).toHaveLength(1);
    await pass(999);
    expect(bodies).toHaveLength(1);
    await pass(1);
    expect(bodies).toHaveLength(2);
    await pass(2000);
    expect(bodies).toHaveLength(3);
    await pass(4000);
    expect(bodies).toHaveLength(4);
    expect(value('spans_exported_total')).toBe(1);
    expect(lost).toEqual([]);
  });

  test('states the retry time', async () => {
    const { exporter, bodies, pass } = scene([answer(429, { 'retry-after': '7' })]);
    exporter.add('1');
    await pass(1000);
    await pass(6999);
    expect(bodies).toHaveLength(1);
    await pass(1);
    expect(bodies).toHaveLength(2);
  });

  test('is given up after five tries: the batch is dropped and counted, and reported once', async () => {
    const { exporter, bodies, lost, pass, value } = scene(Array.from({ length: 10 }, () => answer(502)));
    exporter.add('1');
    exporter.add('2');
    await pass(60_000);
    expect(bodies).toHaveLength(5);
    expect(value('spans_dropped_total', 'failed')).toBe(2);
    exporter.add('3');
    await pass(60_000);
    expect(value('spans_dropped_total', 'failed')).toBe(3);
    expect(lost).toHaveLength(1);
  });

  test('refuses for good: nothing is tried again', async () => {
    const { exporter, bodies, lost, pass, value } = scene([answer(401)]);
    exporter.add('1');
    await pass(100_000);
    expect(bodies).toHaveLength(1);
    expect(value('spans_dropped_total', 'refused')).toBe(1);
    expect(lost).toEqual(['The OTLP endpoint refused spans with HTTP 401.']);
  });

  test('keeps a part of a batch: the rest is counted', async () => {
    const { exporter, pass, value } = scene([answer(200, {}, '{"partialSuccess":{"rejectedSpans":"2"}}')]);
    for (const span of ['1', '2', '3']) exporter.add(span);
    await pass(1000);
    expect(value('spans_exported_total')).toBe(1);
    expect(value('spans_dropped_total', 'rejected')).toBe(2);
  });

  test.each([
    ['"1e9"', 0],
    ['-5', 3],
    ['"0.5"', 3],
    ['1e999', 0],
    ['"many"', 3],
    ['{}', 3],
  ])('says that it keeps all but %s: counters only grow, and not beyond what was sent', async (rejected, exported) => {
    const { exporter, pass, value } = scene([answer(200, {}, `{"partialSuccess":{"rejectedSpans":${rejected}}}`)]);
    for (const span of ['1', '2', '3']) exporter.add(span);
    await pass(1000);
    expect(value('spans_exported_total')).toBe(exported);
    expect(value('spans_dropped_total', 'rejected')).toBe(3 - exported);
  });

  test('does not answer: the queue has a bound, and what is beyond is dropped', async () => {
    const { exporter, lost, value } = scene([new Promise<ExportAnswer>(() => {})]);
    for (let one = 0; one < 10_000; one++) exporter.add('0');
    await settled();
    expect(value('span_queue_length')).toBe(8192);
    expect(value('spans_dropped_total', 'queue_full')).toBe(10_000 - 512 - 8192);
    expect(lost).toHaveLength(1);
  });
});

describe('at the end', () => {
  test('everything that is queued is sent without waiting', async () => {
    const { exporter, bodies } = scene();
    for (let one = 0; one < 600; one++) exporter.add('0');
    await exporter.drain(5000);
    expect(bodies.flat()).toHaveLength(600);
  });

  test('a pause is ended, and an endpoint that still fails is tried once more', async () => {
    const { exporter, bodies, pass, value } = scene([answer(503), answer(503)]);
    exporter.add('1');
    await pass(1000);
    await exporter.drain(5000);
    expect(bodies).toHaveLength(2);
    expect(value('spans_dropped_total', 'failed')).toBe(1);
  });

  test('an endpoint that does not answer is waited for so long', async () => {
    const { exporter, pass } = scene([new Promise<ExportAnswer>(() => {})]);
    exporter.add('1');
    let isOver = false;
    const draining = exporter.drain(5000).then(() => {
      isOver = true;
    });
    await pass(4999);
    expect(isOver).toBe(false);
    await pass(1);
    await draining;
  });
});
