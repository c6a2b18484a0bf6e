/**
 * Images of the dashboard in `deploy/grafana/modelport.json` with real data: `node bin/bun.mjs scripts/dashboard-images.ts FOLDER [DATA]`.
 * Needs Prometheus, Chromium and Redis (Debian: `apt-get install prometheus chromium redis-server`). Starts a gateway, calls it for
 * two minutes, and asks Prometheus the queries of every panel. The answers are written to DATA; if that file exists, they are read from it.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import dashboard from '../deploy/grafana/modelport.json' with { type: 'json' };
import { openBrowser, openPage } from '../test/helpers/browser.ts';
import { freePort } from '../test/helpers/free-port.ts';
import { type GatewayProcess, startGateway } from '../test/helpers/gateway-process.ts';
import { startRedis } from '../test/helpers/redis-server.ts';
import { dashboardPage, type Panel, type Period, type Series, WIDTH } from './dashboard-page.ts';

const LOAD_SECONDS = 120;
const CALLERS = 8;
/** Grafana computes `$__rate_interval` from the scrape interval, a second here. */
const RATE_INTERVAL_SECONDS = 10;
/** Rows of the dashboard's grid in one image. */
const IMAGE_ROWS = 27;

interface Answers {
  period: Period;
  panels: { [title: string]: Series[] };
}

const panels = dashboard.panels as Panel[];

/** How much of the load is over: the provider fails in a part of it. */
let part = () => 0;
const between = (from: number, to: number) => part() >= from && part() < to;

/** A provider that fails and limits, one with few places, and an endpoint for traces that refuses some. */
async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/otlp')) return Response.json({}, { status: between(0.55, 0.65) ? 400 : 200 });
  if (pathname.startsWith('/cloud')) {
    if (between(0.35, 0.5)) return Response.json({ error: { message: 'overloaded' } }, { status: 503 });
    if (Math.random() < 0.05) return Response.json({ error: { message: 'internal error' } }, { status: 500 });
  }
  const { stream } = (await request.json()) as { stream?: boolean };
  const words = Array.from({ length: 20 + Math.floor(Math.random() * 60) }, (_, word) => `word${word} `);
  await Bun.sleep(100 + Math.random() * 200);
  const base = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'assistant' };
  const usage = {
    prompt_tokens: 60,
    completion_tokens: words.length * 2,
    total_tokens: 60 + words.length * 2,
    prompt_tokens_details: { cached_tokens: Math.random() < 0.5 ? 40 : 0 },
  };
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' }];
    return Response.json({ ...base, object: 'chat.completion', choices, usage });
  }
  const event = (value: object) =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...value })}\n\n`;
  async function* events() {
    for (const content of words) {
      yield new TextEncoder().encode(event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
      await Bun.sleep(10 + Math.random() * 20);
    }
    const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    yield new TextEncoder().encode(`${end}${event({ choices: [], usage })}data: [DONE]\n\n`);
  }
  return new Response(events(), { headers: { 'content-type': 'text/event-stream' } });
}

function setupFor(provider: string, redis: string) {
  const price = { input: 2.5, cachedInput: 1.25, output: 10 };
  const model = (name: string, targets: { provider: string; model: string; priority?: number }[]) =>
    ({ name, kind: 'chat', price, maxOutputTokens: 500, targets }) as const;
  return {
    providers: [
      { name: 'cloud', type: 'openai-compatible', baseUrl: `${provider}/cloud/v1`, credential: 'sk-cloud' },
      {
        ...{ name: 'own-server', type: 'openai-compatible', baseUrl: `${provider}/own/v1`, credential: 'sk-own' },
        ...{ concurrency: 2, queueMs: 10_000 },
      },
    ],
    models: [
      model('assistant', [
        { provider: 'cloud', model: 'large' },
        { provider: 'sandbox', model: 'sandbox-chat', priority: 1 },
      ]),
      model('summary', [{ provider: 'own-server', model: 'small' }]),
    ],
    environment: { REDIS_URL: redis, OTEL_EXPORTER_OTLP_ENDPOINT: `${provider}/otlp`, MODELPORT_LOG_LEVEL: 'error' },
  };
}

async function startPrometheus(gateway: GatewayProcess) {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-prometheus-'));
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [
      {
        job_name: 'modelport',
        authorization: { credentials: gateway.adminKey },
        static_configs: [{ targets: [new URL(gateway.url).host] }],
      },
    ],
  };
  // JSON is valid YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const files = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn('prometheus', [...files, `--web.listen-address=${address}`, '--log.level=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = `http://${address}`;
  const isReady = async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true;
  for (let attempt = 0; attempt < 300 && child.exitCode === null && !(await isReady()); attempt++) await Bun.sleep(100);
  return {
    url,
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function callOften(gateway: GatewayProcess, until: number): Promise<void> {
  const { account, key } = await gateway.newCaller();
  const limits = { account, name: 'limited', requestsPerMinute: 20 };
  const { key: limited } = await gateway.admin<{ key: string }>('POST', '/keys', limits);
  const pick = <T>(...choices: T[]) => choices[Math.floor(Math.random() * choices.length)] as T;
  async function caller(): Promise<void> {
    while (Date.now() < until) {
      const content = `[[delay ${pick(40, 80, 160)}]] [[pace ${pick(5, 10)}]] Is tomorrow a good day to sail? ${pick('', '[[long 60]]')}`;
      const model = pick('assistant', 'assistant', 'assistant', 'summary', 'sandbox-chat', 'sandbox-reasoner');
      const failing = Math.random();
      const body = {
        model,
        stream: Math.random() < 0.6,
        messages: [{ role: 'user', content: failing > 0.98 && model.startsWith('sandbox') ? '[[cut]]' : content }],
      };
      const authorization = `Bearer ${failing > 0.03 ? pick(key, key, key, limited) : 'sk-unknown'}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify(body) };
      // A reply that breaks off is part of the load.
      const reply = await fetch(`${gateway.url}/v1/chat/completions`, sent);
      await reply.text().catch(() => '');
      await Bun.sleep(300 + 500 * (1 + Math.cos(part() * 6 * Math.PI)));
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

async function collect(): Promise<Answers> {
  const provider = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer });
  const redis = await startRedis();
  const gateway = await startGateway(setupFor(`http://127.0.0.1:${provider.port}`, redis.url));
  const prometheus = await startPrometheus(gateway);
  try {
    const began = Date.now();
    part = () => (Date.now() - began) / 1000 / LOAD_SECONDS;
    await callOften(gateway, began + LOAD_SECONDS * 1000);
    const end = Math.floor(Date.now() / 1000);
    const period = { start: end - LOAD_SECONDS + RATE_INTERVAL_SECONDS, end, step: 1 };
    const answers: Answers = { period, panels: {} };
    for (const panel of panels) answers.panels[panel.title] = await seriesOf(panel, prometheus.url, period);
    return answers;
  } finally {
    await prometheus.stop();
    await gateway.stop();
    await redis.stop();
    await provider.stop(true);
  }
}

/** The interval of rates is ours; every other variable takes all values. */
const withVariables = (query: string) =>
  query.replaceAll('$__rate_interval', `${RATE_INTERVAL_SECONDS}s`).replaceAll(/\$\w+/g, '.*');

async function seriesOf({ targets = [] }: Panel, url: string, period: Period): Promise<Series[]> {
  const found: Series[] = [];
  for (const { expr, legendFormat } of targets) {
    const { start, end, step } = period;
    const query = new URLSearchParams({
      query: withVariables(expr),
      start: `${start}`,
      end: `${end}`,
      step: `${step}`,
    });
    const response = await fetch(`${url}/api/v1/query_range?${query}`);
    const { data, error } = (await response.json()) as {
      data?: { result: { metric: { [label: string]: string }; values: [number, string][] }[] };
      error?: string;
    };
    if (data === undefined) throw new Error(`${expr}: ${error}`);
    for (const { metric, values } of data.result) {
      const points = values.map(([second, value]) => [second, Number(value)] as [number, number]);
      const name = legendFormat.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '').trim();
      // A quantile of nothing is NaN.
      const known = points.filter(([, value]) => Number.isFinite(value));
      if (known.length > 0) found.push({ name, points: known });
    }
  }
  return found;
}

/** Rows of panels with their titles, as many in one image as there is space for. */
function images(): Panel[][] {
  const rows: Panel[][] = [];
  for (const panel of panels) panel.type === 'row' ? rows.push([panel]) : rows.at(-1)?.push(panel);
  const found: Panel[][] = [];
  const bottom = (panel: Panel | undefined) => (panel ? panel.gridPos.y + panel.gridPos.h : 0);
  for (const row of rows) {
    const last = found.at(-1);
    if (last && bottom(row.at(-1)) - (last[0]?.gridPos.y ?? 0) <= IMAGE_ROWS) last.push(...row);
    else found.push([...row]);
  }
  return found;
}

const [folder, file] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Name the folder for the images.');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const stored = file !== undefined && existsSync(file);
const answers = stored ? ((await Bun.file(file).json()) as Answers) : await collect();
if (file !== undefined && !stored) writeFileSync(file, JSON.stringify(answers));
const browser = await openBrowser();
try {
  const viewport = { width: WIDTH, height: 400 };
  const { page } = await openPage(browser, { viewport, deviceScaleFactor: 1.25 });
  for (const group of images()) {
    const html = dashboardPage(group, new Map(Object.entries(answers.panels)), answers.period);
    await page.setContent(html);
    const name = group[0]?.title.toLowerCase().replaceAll(' ', '-');
    await page.screenshot({ path: join(folder, `dashboard-${name}.png`), fullPage: true });
    for (const { title, type } of group)
      if (type !== 'row' && answers.panels[title]?.length === 0) console.log(`No data: ${title}`);
  }
} finally {
  await browser.close();
}
