/**
 * Runs several processes that share one port: starts them, replaces dead ones, stops them together, and merges their output and metrics.
 */
import { availableParallelism } from 'node:os';
import { answerWithin } from './access/answer-within.ts';
import { cannotListen, SettingError } from './config/setting-error.ts';
import type { Config } from './config.ts';
import type { Ports } from './greeting.ts';
import { errorMembers, type Log } from './log.ts';
import { ALIVE_MS, type FromSupervisor, type FromWorker } from './process-messages.ts';
import { type ScrapedProcess, writeMetrics } from './telemetry/metrics/exposition.ts';

export interface ProcessesOptions {
  /** The command that runs this program. */
  command: readonly string[];
  env: { readonly [variable: string]: string | undefined };
  log: Log;
  /** Writes complete lines of a worker to the terminal. */
  write(lines: string): void;
  /** Called when every process listens on these ports. */
  ready(ports: Ports): void;
  /** Sets the function that reads the configuration again. */
  onReload(reload: () => void): void;
  /** Resolves when the service must stop. */
  stopRequested(): Promise<void>;
}

/** If a process has run this long, its replacement is started at once. */
const WELL_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** How long a metrics request waits for processes that do not answer. */
const SCRAPE_MS = 1000;
/** Added to the drain time, for settling and closing. */
const STOP_SLACK_MS = 5000;

type Child = ReturnType<typeof Bun.spawn>;

interface Worker {
  number: number;
  child: Child;
  startedMs: number;
  pauseMs: number;
  /** Checks since its last sign of life; absent before the first one. */
  silentLooks?: number | undefined;
}

export function processCount(count: number | 'auto'): number {
  return count === 'auto' ? availableParallelism() : count;
}

/** Resolves with the exit code when all have ended. Throws an Error if one could not start. */
export async function serveProcesses(config: Config, count: number, options: ProcessesOptions): Promise<number> {
  const { log } = options;
  const { adminListen } = config;
  const port = exclusivePort(config);
  const adminPort = adminListen && exclusivePort(adminListen);
  const workers = new Map<number, Worker>();
  const scrapes = new Map<number, (scraped: ScrapedProcess & { process: number }) => void>();
  let stopping = false;
  let scrapeCount = 0;
  const started = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  const readyNumbers = new Set<number>();

  function start(number: number, pauseMs: number): void {
    let child: Child;
    try {
      child = spawn(number);
    } catch (thrown) {
      if (readyNumbers.has(number)) {
        // The program is missing while another version is put in its place.
        log.error('a process could not be started', { process: number, pauseMs, ...errorMembers(thrown) });
        startLater(number, pauseMs);
      } else failed.reject(thrown);
      return;
    }
    workers.set(number, { number, child, startedMs: performance.now(), pauseMs });
    void copyLines(child.stdout as ReadableStream<Uint8Array>, options.write);
  }

  function startLater(number: number, pauseMs: number): void {
    const nextPauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    setTimeout(() => !stopping && start(number, nextPauseMs), pauseMs);
  }

  /** Throws if the program cannot be run. */
  function spawn(number: number): Child {
    return Bun.spawn([...options.command, 'serve'], {
      env: {
        ...options.env,
        PORT: String(port),
        ...(adminListen && { MODELPORT_ADMIN_LISTEN: `[${adminListen.host}]:${adminPort}` }),
        MODELPORT_PROCESSES: '1',
        MODELPORT_WORKER: String(number),
        MODELPORT_WORKERS: String(count),
        MODELPORT_LAUNCHER: String(process.pid),
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
      ipc: (message: FromWorker) => void received(number, message),
      onExit: (_, code, signal) => void ended(number, code, signal),
    });
  }

  function ended(number: number, code: number | null, signal: number | string | null): void {
    const worker = workers.get(number);
    workers.delete(number);
    if (stopping || !worker) return;
    if (!readyNumbers.has(number)) {
      const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      failed.reject(new SettingError(`Process ${number} could not start, it ${how}: see above.`));
      return;
    }
    const livedMs = performance.now() - worker.startedMs;
    const pauseMs = livedMs > WELL_MS ? 0 : worker.pauseMs;
    log.warn('a process died and is replaced', { process: number, code, signal, pauseMs });
    startLater(number, pauseMs);
  }

  /** Checks are counted instead of time: if this process itself was stopped, it has checked less often. */
  function watch(): void {
    for (const worker of workers.values()) {
      if (config.stallMs === 0 || worker.silentLooks === undefined || ++worker.silentLooks * ALIVE_MS < config.stallMs)
        continue;
      log.error('a process with a blocked event loop is ended', { process: worker.number });
      worker.silentLooks = undefined;
      worker.child.kill('SIGKILL');
    }
  }

  async function received(number: number, message: FromWorker): Promise<void> {
    const worker = workers.get(number);
    // A process that is still starting is not watched: it may be migrating a large database.
    if (worker && (message.type === 'ready' || message.type === 'alive')) worker.silentLooks = 0;
    if (message.type === 'ready') {
      readyNumbers.add(number);
      if (readyNumbers.size === count) started.resolve();
    } else if (message.type === 'scraped') {
      scrapes.get(message.scrape)?.({ process: number, families: message.families });
    } else if (message.type === 'gather') {
      const text = writeMetrics(await scrapeAll(), message.format);
      tell(worker, { type: 'gathered', scrape: message.scrape, text });
    }
  }

  function tell(worker: Worker | undefined, message: FromSupervisor): void {
    try {
      worker?.child.send(message);
    } catch (thrown) {
      log.warn('a message to a process failed', { process: worker?.number, ...errorMembers(thrown) });
    }
  }

  async function scrapeAll(): Promise<ScrapedProcess[]> {
    const scrape = ++scrapeCount;
    const scraped = [...workers.values()];
    const found: (ScrapedProcess & { process: number })[] = [];
    const all = Promise.withResolvers<void>();
    scrapes.set(scrape, (one) => {
      if (found.push(one) === scraped.length) all.resolve();
    });
    for (const worker of scraped) tell(worker, { type: 'scrape', scrape });
    // If this process itself was stopped meanwhile, the answers are there and only unread.
    await answerWithin(all.promise, SCRAPE_MS);
    scrapes.delete(scrape);
    return found.sort((a, b) => a.process - b.process);
  }

  async function stopAll(): Promise<number> {
    stopping = true;
    clearInterval(watching);
    const children = [...workers.values()].map(({ child }) => child);
    for (const child of children) child.kill('SIGTERM');
    const late = setTimeout(() => {
      for (const child of children) child.kill('SIGKILL');
    }, config.drainMs + STOP_SLACK_MS);
    await Promise.all(children.map((child) => child.exited));
    clearTimeout(late);
    // A process that was still starting had nothing to settle and did not handle the signal yet.
    return children.every(({ exitCode, signalCode }) => exitCode === 0 || signalCode === 'SIGTERM') ? 0 : 1;
  }

  options.onReload(() => {
    for (const worker of workers.values()) tell(worker, { type: 'reload' });
  });
  const stopped = options.stopRequested();
  const watching = setInterval(watch, ALIVE_MS);
  for (let number = 1; number <= count; number++) start(number, FIRST_PAUSE_MS);
  try {
    await Promise.race([started.promise, failed.promise, stopped]);
    if (readyNumbers.size === count) options.ready({ main: port, admin: adminPort });
    await Promise.race([stopped, failed.promise]);
  } catch (thrown) {
    await stopAll();
    throw thrown;
  }
  log.info('stopping', { processes: workers.size });
  return stopAll();
}

/** Reserves the port: processes with a shared port would share it with any other program that asks for it. */
function exclusivePort({ host, port }: { host: string; port: number }): number {
  try {
    const server = Bun.serve({ hostname: host, port, fetch: () => new Response() });
    const free = server.port ?? port;
    void server.stop(true);
    return free;
  } catch (thrown) {
    throw cannotListen({ host, port }, thrown);
  }
}

/** Lines of different processes are not mixed. */
async function copyLines(stream: ReadableStream<Uint8Array>, write: (lines: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const end = rest.lastIndexOf('\n') + 1;
    if (end === 0) continue;
    write(rest.slice(0, end));
    rest = rest.slice(end);
  }
  if (rest !== '') write(`${rest}\n`);
}
