/** The operator's own address: only it serves the admin API and the metrics, under the operator's host names; what metrics and traces say. */
import { afterAll, describe, expect, test } from 'bun:test';
import { request } from 'node:http';
import { freePort } from '../helpers/free-port.ts';
import { startGateway } from '../helpers/gateway-process.ts';
import { startCollector } from '../helpers/otlp-collector.ts';
import { readScrape, sumOf } from '../helpers/scraped.ts';

/** The status of a request with this host header. */
function statusAs(host: string, port: number, path: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers: { host, authorization: `Bearer ${key}` } };
    const pending = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    pending.on('error', reject);
    pending.end();
  });
}

describe.each([['1'], ['2']])('with %s processes', (processes) => {
  const collector = startCollector();
  const started = (async () => {
    const port = await freePort();
    const gateway = await startGateway({
      environment: {
        MODELPORT_PROCESSES: processes,
        MODELPORT_ADMIN_LISTEN: `127.0.0.1:${port}`,
        MODELPORT_ADMIN_HOSTS: 'admin.example.test',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url,
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
    });
    return { gateway, port, main: Number(new URL(gateway.url).port) };
  })();
  afterAll(async () => {
    await (await started).gateway.stop();
    await collector.stop();
  });

  test('the admin API and the metrics are served there, and not on the main address', async () => {
    const { gateway, port, main } = await started;
    const { adminKey, apiKey } = gateway;
    for (const path of ['/admin/v1/accounts', '/metrics']) {
      expect(await statusAs('localhost', port, path, adminKey)).toBe(200);
      expect(await statusAs('localhost', main, path, adminKey)).toBe(404);
    }
    for (const at of [port, main])
      for (const path of ['/', '/health', '/ready']) expect(await statusAs('localhost', at, path, '')).toBe(200);
    expect(await statusAs('localhost', main, '/v1/models', apiKey)).toBe(200);
    expect(await statusAs('localhost', port, '/v1/models', apiKey)).toBe(404);
    await gateway.printed(`The admin API and the metrics are on http://127.0.0.1:${port}`);
  }, 60_000);

  test('a call is counted in both formats of the metrics and exported as a trace', async () => {
    const { gateway, port, main } = await started;
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const answer = await fetch(`http://127.0.0.1:${main}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
      body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
    for (const accept of ['text/plain', 'application/openmetrics-text']) {
      const headers = { authorization: `Bearer ${gateway.adminKey}`, accept };
      const scraped = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
      expect(scraped.headers.get('content-type')).toStartWith(accept);
      const series = readScrape(await scraped.text());
      const called = { model: 'sandbox-chat', provider: 'sandbox' };
      expect(sumOf(series, 'modelport_calls_total', { ...called, outcome: 'ok' })).toBe(1);
      expect(sumOf(series, 'modelport_request_duration_seconds_count', called)).toBe(1);
      expect(sumOf(series, 'modelport_attempts_total', { provider: 'sandbox', outcome: 'ok' })).toBe(1);
      expect(sumOf(series, 'modelport_ledger_batch_size_sum')).toBeGreaterThanOrEqual(2);
      expect(series.filter(({ name }) => name === 'modelport_models')).toHaveLength(1);
      expect(series.filter(({ name }) => name === 'modelport_calls_active')).toHaveLength(Number(processes));
    }
    while (collector.spans.length < 2) await Bun.sleep(20);
    expect(collector.spans.map(({ name, traceId: of }) => [name, of])).toEqual([
      ['chat sandbox-chat', traceId],
      ['chat sandbox-chat', traceId],
    ]);
    expect(collector.resource).toMatchObject({ 'service.name': 'modelport', 'deployment.environment.name': 'test' });
  }, 60_000);

  test('only the operator’s host names are accepted', async () => {
    const { gateway, port } = await started;
    const named = (host: string) => statusAs(host, port, '/admin/v1/accounts', gateway.adminKey);
    for (const host of [
      `localhost:${port}`,
      '127.0.0.1',
      '[::1]:80',
      'Admin.Example.test',
      `admin.example.test:${port}`,
    ])
      expect(await named(host)).toBe(200);
    for (const host of ['page.invalid', `page.invalid:${port}`, 'localhost.page.invalid'])
      expect(await named(host)).toBe(403);
    const preflight = await fetch(`http://127.0.0.1:${port}/admin/v1/accounts`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.invalid', 'access-control-request-method': 'GET' },
    });
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }, 60_000);
});
