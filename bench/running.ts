/** The benchmark's processes: started in front of the mock upstream, awaited until their first answer, and always ended. */
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Load, LoadEvent, LoadReport } from './load.ts';
import type { Peer, Place } from './peer.ts';
import { processRows, treeOf } from './processes.ts';
import { CHAT_PATH, writeRequest } from './workload.ts';

/** Something that answers chat requests: a gateway, or the upstream itself. */
export interface Endpoint {
  /** 127.0.0.1 unless set. */
  host?: string;
  port: number;
  path: string;
  headers: { readonly [name: string]: string };
}

/** An endpoint whose processor time can be read. */
export interface Target extends Endpoint {
  pid: number;
}

export interface Running extends Target {
  host: string;
  /** From the start of the process to its first successful answer. */
  coldStartSeconds: number;
  stop(): Promise<void>;
}

/** LiteLLM needs 40 s on a quiet machine with 2 cores, and more than 2 minutes on a busy one. */
const START_BOUND_MS = 300_000;
const POLL_MS = 3;
const STOP_BOUND_MS = 10_000;

export async function startUpstream(host = '127.0.0.1'): Promise<Target & { stop(): Promise<void> }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'mock-upstream.ts'), host], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  if (!(port > 0)) throw new Error('the mock upstream did not start');
  return { host, port, path: CHAT_PATH, headers: {}, pid: child.pid, stop: () => endTree(child.pid, child.exited) };
}

/** Another machine: the command that runs a program there, its address, and how it reaches the upstream. */
export interface Where {
  under: readonly string[];
  host: string;
  upstreamHost: string;
}

export async function startPeer(peer: Peer, upstreamPort: number, folder: string, where?: Where): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const { under = [], host = '127.0.0.1', upstreamHost } = where ?? {};
  const place: Place = { port: await freePort(), upstreamPort, folder, host, upstreamHost };
  const { command, environment, headers, path = CHAT_PATH, prepare } = peer.launch(place);
  const log = join(folder, 'log');
  const logFile = openSync(log, 'a');
  const started = performance.now();
  const child = Bun.spawn([...under, ...command], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: logFile,
    stderr: logFile,
  });
  const stop = () => endTree(child.pid, child.exited);
  const endpoint = { host, port: place.port, path, headers };
  for (let answer = await ask(endpoint); answer !== GOOD; answer = await ask(endpoint)) {
    if (child.exitCode !== null || performance.now() - started > START_BOUND_MS) {
      await stop();
      throw new Error(
        `${peer.title} did not answer well (${answer}); its log:\n${readFileSync(log, 'utf8').slice(-2000)}`,
      );
    }
    await Bun.sleep(POLL_MS);
  }
  const coldStartSeconds = (performance.now() - started) / 1000;
  await prepare?.(`http://${host}:${place.port}`);
  return { ...endpoint, pid: child.pid, coldStartSeconds, stop };
}

const GOOD = 'good';

const RECOVERY_BOUND_MS = 120_000;

/** Resolves when it answers a request within 2 s: a slow gateway works on after its clients have gone, and would answer nothing of the next measurement. */
export async function untilAnswers(endpoint: Endpoint): Promise<void> {
  const until = performance.now() + RECOVERY_BOUND_MS;
  for (let answer = await ask(endpoint); answer !== GOOD; answer = await ask(endpoint)) {
    if (performance.now() > until) throw new Error(`it did not recover from the load (${answer})`);
    await Bun.sleep(POLL_MS);
  }
}

/** Sends one request: returns GOOD, or what came instead. */
async function ask({ host = '127.0.0.1', port, path, headers }: Endpoint): Promise<string> {
  try {
    const response = await fetch(`http://${host}:${port}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: writeRequest(),
      signal: AbortSignal.timeout(2000),
    });
    const text = await response.text();
    return response.status === 200 ? GOOD : `status ${response.status}: ${text.slice(0, 300)}`;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Runs the load generator in its own process and returns its report. */
export async function load(request: Load, boundSeconds: number): Promise<LoadReport> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(request)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: boundSeconds * 1000,
  });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error('the load generator failed or ran out of time');
  return readReport(text);
}

/** JSON has no NaN: a percentile of no answers is written as null. */
export function readReport<Report = LoadReport>(text: string): Report {
  return JSON.parse(text, (_, value) => (value === null ? Number.NaN : value));
}

/** Runs the load generator and passes on the report of each interval. Resolves when it ends. */
export async function watchLoad(
  request: Load & { everySeconds: number },
  boundSeconds: number,
  report: (interval: LoadReport) => void,
): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(request)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: boundSeconds * 1000,
  });
  for await (const line of linesOf(child.stdout)) report(readReport(line));
  if ((await child.exited) !== 0) throw new Error('the load generator failed or ran out of time');
}

/** A load generator that runs one load after the other and keeps its connections, so that a short window has neither its start nor theirs. */
export interface LoadSession {
  pid: number;
  run(request: Load, onInterval?: (interval: LoadReport) => void): Promise<LoadReport>;
  stop(): Promise<void>;
}

export function startLoadSession(): LoadSession {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines = linesOf(child.stdout);
  return {
    pid: child.pid,
    async run(request, onInterval) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      await child.stdin.flush();
      for (let next = await lines.next(); !next.done; next = await lines.next()) {
        const event: LoadEvent = readReport(next.value);
        if ('report' in event) return event.report;
        onInterval?.(event.interval);
      }
      throw new Error('the load generator ended');
    },
    stop: () => endTree(child.pid, child.exited),
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let carry = '';
  for await (const bytes of stream) {
    const lines = (carry + decoder.decode(bytes, { stream: true })).split('\n');
    carry = lines.pop() ?? '';
    yield* lines;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no free port');
  return address.port;
}

/** Ends a process, with all its descendants if it does not end by itself. */
async function endTree(pid: number, exited: Promise<number>): Promise<void> {
  const tree = treeOf(pid, processRows()).map((row) => row.pid);
  signal(pid, 'SIGTERM');
  const ended = await Promise.race([exited.then(() => true), Bun.sleep(STOP_BOUND_MS).then(() => false)]);
  if (!ended) for (const one of tree) signal(one, 'SIGKILL');
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended by itself
  }
}
