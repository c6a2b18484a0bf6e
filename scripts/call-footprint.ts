/**
 * Prints how many files and functions of `src/` one call runs through: how much a reader has to follow.
 *
 *   node bin/bun.mjs scripts/call-footprint.ts [--list]
 *
 * Starts the service with `count-functions.ts` before it and an upstream of literal answers behind it, and repeats each kind of
 * call. A function counts if every repetition called it, so that timers and the once-only work of a first call do not count.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { streamAnswer, wholeAnswer } from '../test/helpers/chat-answers.ts';

const WARM_UPS = 3;
const REPEATS = 5;
const FILING_BOUND_MS = 60_000;
const KEY = 'sk-footprint-caller-key-of-this-script';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Case {
  name: string;
  path: string;
  body: object;
}

const messages = [{ role: 'user', content: 'Say hello.' }];
const CASES: readonly Case[] = [
  { name: 'non-streaming, same format', path: '/v1/chat/completions', body: { model: 'chat', messages } },
  { name: 'streaming, same format', path: '/v1/chat/completions', body: { model: 'chat', messages, stream: true } },
  {
    name: 'streaming, translated',
    path: '/v1/messages',
    body: { model: 'chat', max_tokens: 50, messages, stream: true },
  },
  { name: 'images', path: '/v1/images/generations', body: { model: 'image', prompt: 'A cat.' } },
];

/** Answers every request as a provider of OpenAI's formats would. */
function startUpstream() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { stream } = (await request.json()) as { stream?: boolean };
      if (request.url.endsWith('/images/generations'))
        return Response.json({ created: 1, data: [{ b64_json: PNG }], usage: { input_tokens: 5, output_tokens: 9 } });
      if (!stream) return Response.json(wholeAnswer('Hello').json);
      const events = streamAnswer(['Hel', 'lo']).events ?? [];
      const lines = [...events.map((event) => JSON.stringify(event)), '[DONE]'];
      return new Response(lines.map((line) => `data: ${line}\n\n`).join(''), {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
}

/** A service whose functions are counted. */
async function startCounted(upstream: string, folder: string) {
  const provider = { name: 'p', type: 'openai-compatible', baseUrl: `${upstream}/v1`, credential: 'sk-upstream' };
  const target = { provider: 'p', model: 'upstream-model' };
  const models = [
    { name: 'chat', kind: 'chat', price: { input: 1, output: 4 }, maxOutputTokens: 1000, targets: [target] },
    { name: 'image', kind: 'image', price: { input: 1, output: 4 }, maxOutputTokens: 1000, targets: [target] },
  ];
  const config = join(folder, 'modelport.yaml');
  await Bun.write(config, JSON.stringify({ providers: [provider], models }));
  let hear: (places: string[]) => void = () => {};
  const root = new URL('..', import.meta.url).pathname;
  const child = Bun.spawn({
    cmd: [process.execPath, '--preload', './scripts/count-functions.ts', 'src/main.ts', 'serve'],
    cwd: root,
    env: {
      PATH: Bun.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      MODELPORT_DATA_DIR: folder,
      MODELPORT_CONFIG: config,
      MODELPORT_API_KEY: KEY,
      MODELPORT_STARTING_CREDIT: '10',
    },
    stdout: 'pipe',
    stderr: 'inherit',
    ipc: (message) => hear(message as string[]),
  });
  const ask = (message: 'forget' | 'report') =>
    new Promise<string[]>((resolve) => {
      hear = resolve;
      child.send(message);
    });
  // Nothing of it is kept, and a stop in order waits for connections that `fetch` keeps open.
  return { url: await addressIn(child.stdout), ask, stop: () => child.kill('SIGKILL') };
}

/** The address that the service prints once it listens. What it prints later is read too, so that it never waits. */
function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const readAll = async () => {
    let text = '';
    for await (const chunk of output) {
      text += Buffer.from(chunk).toString();
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (url) resolve(url);
    }
    reject(new Error('The service ended before it listened.'));
  };
  void readAll();
  return promise;
}

async function call(url: string, { path, body, name }: Case): Promise<void> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
  };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The call "${name}" was answered ${response.status}: ${text}`);
}

/** The functions that every repetition calls. */
async function footprint(service: Awaited<ReturnType<typeof startCounted>>, one: Case): Promise<string[]> {
  for (let i = 0; i < WARM_UPS; i++) await call(service.url, one);
  let common: Set<string> | undefined;
  for (let i = 0; i < REPEATS; i++) {
    await service.ask('forget');
    await call(service.url, one);
    const places = new Set(await service.ask('report'));
    common = common ? common.intersection(places) : places;
  }
  return [...(common ?? [])].toSorted();
}

/** The thread that files calls starts after some hundred writes. Calls before that are recorded in another way. */
async function untilFiled(service: Awaited<ReturnType<typeof startCounted>>, one: Case): Promise<void> {
  for (const end = performance.now() + FILING_BOUND_MS; performance.now() < end; ) {
    await service.ask('forget');
    await call(service.url, one);
    const places = await service.ask('report');
    if (places.some((place) => fileOf(place) === 'store/sqlite/unfiled-calls.ts')) return;
  }
  throw new Error('No thread of the service files calls.');
}

const fileOf = (place: string) => place.slice(0, place.lastIndexOf(':'));

function sizeOf(places: readonly string[]): string {
  return `${new Set(places.map(fileOf)).size} files, ${places.length} functions`;
}

/** Module by module, each file with the lines of its functions. */
function print(places: readonly string[]): void {
  for (const [module, inModule] of Map.groupBy(places, (place) => place.slice(0, place.search(/[/.]/)))) {
    process.stdout.write(`  ${module}: ${sizeOf(inModule)}\n`);
    for (const [file, found] of Map.groupBy(inModule, fileOf))
      process.stdout.write(`    ${file} ${found.map((place) => place.slice(file.length + 1)).join(' ')}\n`);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
  const folder = mkdtempSync(join(tmpdir(), 'modelport-footprint-'));
  const upstream = startUpstream();
  const service = await startCounted(upstream.url.origin, folder);
  try {
    await untilFiled(service, CASES[0]!);
    for (const one of CASES) {
      const places = await footprint(service, one);
      process.stdout.write(`${one.name.padEnd(30)} ${sizeOf(places)}\n`);
      if (values.list) print(places);
    }
  } finally {
    service.stop();
    await upstream.stop(true);
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
