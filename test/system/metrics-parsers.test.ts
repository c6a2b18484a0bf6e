/** The text of a scrape, read by Prometheus' own Python library and by promtool, where they can be had. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type MetricsFormat, writeMetrics } from '../../src/telemetry/metrics/exposition.ts';
import { createMetrics } from '../../src/telemetry/metrics/metrics.ts';
import { installPython } from '../clients/python/install.ts';
import { callRow } from '../helpers/call-row.ts';
import { readScrape } from '../helpers/scraped.ts';

const { program: python } = await installPython('libraries');
const promtool = Bun.which('promtool');
const BOUND_MS = 60_000;

/** Prints every series as JSON. The parser of OpenMetrics is strict: it refuses what the format forbids. */
const READ = `
import json, sys
if sys.argv[1] == 'openmetrics':
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
else:
    from prometheus_client.parser import text_string_to_metric_families as read
families = list(read(sys.stdin.read()))
series = [[s.name, s.labels, float(s.value)] for f in families for s in f.samples]
print(json.dumps({'types': {f.name: f.type for f in families}, 'series': series}))
`;

const SOURCES = {
  gateway: { active: 1 },
  store: { heldSum: () => Promise.resolve({ open: 1, amount: 5n }) },
  catalog: { list: () => [], routing: { targetState: () => undefined as never } },
};
const texts = {} as { [format in MetricsFormat]: string };

beforeAll(async () => {
  const all = [createMetrics(0), createMetrics(0)];
  const usage = { input: 10, output: 20, source: 'reported' } as const;
  for (const metrics of all) {
    metrics.called(callRow({ id: 'req_1', at: 0, model: 'a "b"\\\n{c}', firstByteMs: 2, usage, cost: 5n }));
    metrics.ledgerBatch(2, 1.5);
    metrics.redisIsUp(true);
    metrics.answered(200);
  }
  const scraped = await Promise.all(
    all.map(async (metrics, index) => ({ process: index + 1, families: await metrics.collect(SOURCES) })),
  );
  for (const format of ['prometheus', 'openmetrics'] as const) texts[format] = writeMetrics(scraped, format);
});

async function run(command: string[], input: string): Promise<{ status: number; out: string; err: string }> {
  const child = Bun.spawn(command, { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe', timeout: BOUND_MS });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, out, err };
}

describe.if(python !== undefined)("Prometheus' Python library", () => {
  test.each(['prometheus', 'openmetrics'] as const)(
    'reads %s as it was written',
    async (format) => {
      const { status, out, err } = await run([python ?? '', '-c', READ, format], texts[format]);
      expect({ status, err }).toEqual({ status: 0, err: '' });
      const { types, series } = JSON.parse(out);
      expect(types.modelport_request_duration_seconds).toBe('histogram');
      expect(types.modelport_calls).toBe('counter');
      const ours = readScrape(texts[format]).map(({ name, labels, value }) => [name, labels, value]);
      const sorted = (all: unknown[]) => all.map((one) => Bun.deepEquals(one, one) && JSON.stringify(one)).sort();
      const plain = (all: [string, { [label: string]: string }, number][]) =>
        sorted(all.map(([name, labels, value]) => [name, Object.entries(labels).sort(), value]));
      expect(plain(series)).toEqual(plain(ours as Parameters<typeof plain>[0]));
    },
    BOUND_MS,
  );
});

describe.if(promtool !== null)('promtool', () => {
  test(
    'finds nothing to say of the metrics and the alert rules',
    async () => {
      expect(await run([promtool ?? '', 'check', 'metrics'], texts.prometheus)).toEqual({
        status: 0,
        out: '',
        err: '',
      });
      const rules = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus', 'alerts.yaml');
      expect(await run([promtool ?? '', 'check', 'rules', rules], '')).toMatchObject({ status: 0 });
    },
    BOUND_MS,
  );
});
