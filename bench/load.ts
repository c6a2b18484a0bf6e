/**
 * The load generator, a separate process: keep-alive connections on raw sockets, limited in number and time. With a load as its argument it
 * runs that one and ends; without, it runs the loads that come as lines on its standard input, and keeps its connections between them.
 */
import { type Line, LinePool, type UsageCounter } from './lines.ts';
import { percentile } from './statistics.ts';

/** What to send and how: as fast as answers arrive, at a constant rate, or once on every connection. */
export interface Load {
  port: number;
  path: string;
  headers: { readonly [name: string]: string };
  body: string;
  shape: // `spreadSeconds`: the connections begin one after the other over this time.
    | { type: 'closed'; connections: number; seconds: number; spreadSeconds?: number }
    // `graceSeconds`: how long answers are awaited after the end, 5 s unless set.
    | { type: 'paced'; perSecond: number; seconds: number; graceSeconds?: number }
    | { type: 'once'; connections: number; boundSeconds: number; spreadSeconds?: number };
  /** A chunk counts as late if it arrives longer than this after it was sent. */
  lateMs: number;
  /** Reports each interval of this length by itself. Absent: one report at the end. */
  everySeconds?: number;
}

export interface LoadReport {
  answers: number;
  failures: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  firstByteP50Ms: number;
  firstByteP99Ms: number;
  chunks: number;
  lateChunks: number;
  /** The most streams that were open at the same time, from the first byte to the end. */
  mostStreams: number;
}

/** What a load generator that runs several loads prints: reports of intervals, and at the end of each load the last one. */
export type LoadEvent = { interval: LoadReport } | { report: LoadReport };

function writeHttp({ port, path, headers, body }: Load): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: */*\r\n` +
      `${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Resolves with the report of the last interval; `report` is called with those before it. Connections of `kept` stay open. */
export async function runLoad(
  load: Load,
  report: (interval: LoadReport) => void = () => {},
  kept?: LinePool,
): Promise<LoadReport> {
  const usageCounter: UsageCounter = {
    latencies: [],
    firstBytes: [],
    failures: 0,
    chunks: 0,
    lateChunks: 0,
    openStreams: 0,
    mostStreams: 0,
  };
  const request = { bytes: writeHttp(load), usageCounter, lateMs: load.lateMs };
  const pool = kept ?? new LinePool();
  const used = new Set<Line>();
  const lines: Lines = {
    async open() {
      const line = await pool.take(load.port);
      used.add(line);
      return line;
    },
    ask: (line, done) => line.ask(request, done),
  };
  const { shape } = load;
  let since = performance.now();
  const next = (): LoadReport => {
    const now = performance.now();
    const interval = takeReport(usageCounter, (now - since) / 1000);
    since = now;
    return interval;
  };
  const intervals = load.everySeconds && setInterval(() => report(next()), load.everySeconds * 1000);
  if (shape.type === 'closed') await runClosed(lines, shape, usageCounter);
  else if (shape.type === 'paced') await runPaced(lines, shape, usageCounter);
  else await runOnce(lines, shape, usageCounter);
  if (intervals) clearInterval(intervals);
  const last = next();
  for (const line of used) pool.give(line);
  if (!kept) pool.close();
  return last;
}

/** The report of what was counted, which begins at zero again. */
function takeReport(usageCounter: UsageCounter, seconds: number): LoadReport {
  const report = {
    answers: usageCounter.latencies.length,
    failures: usageCounter.failures,
    seconds,
    p50Ms: percentile(usageCounter.latencies, 0.5),
    p99Ms: percentile(usageCounter.latencies, 0.99),
    firstByteP50Ms: percentile(usageCounter.firstBytes, 0.5),
    firstByteP99Ms: percentile(usageCounter.firstBytes, 0.99),
    chunks: usageCounter.chunks,
    lateChunks: usageCounter.lateChunks,
    mostStreams: usageCounter.mostStreams,
  };
  const { openStreams } = usageCounter;
  Object.assign(usageCounter, { latencies: [], firstBytes: [], failures: 0, chunks: 0, lateChunks: 0 });
  usageCounter.mostStreams = openStreams;
  return report;
}

type Shape<Type> = Extract<Load['shape'], { type: Type }>;

/** The connections of one load. */
interface Lines {
  open(): Promise<Line>;
  /** Sends the load's request. */
  ask(line: Line, done: (ok: boolean) => void): void;
}

const OPENING_AT_ONCE = 50;

async function openLines({ open }: Lines, count: number): Promise<Line[]> {
  const lines: Line[] = [];
  while (lines.length < count) {
    const size = Math.min(OPENING_AT_ONCE, count - lines.length);
    lines.push(...(await Promise.all(Array.from({ length: size }, open))));
  }
  return lines;
}

/** After this many failures a run ends early: the gateway is gone. */
const MAX_FAILURES = 1000;
/** How long answers are awaited after the end of the run. */
const GRACE_SECONDS = 5;

/** Every connection sends the next request when it has its answer. */
async function runClosed(
  lines: Lines,
  { connections, seconds, spreadSeconds = 0 }: Shape<'closed'>,
  usageCounter: UsageCounter,
): Promise<void> {
  const until = performance.now() + seconds * 1000;
  const going = () => performance.now() < until && usageCounter.failures < MAX_FAILURES;
  const runLine = async (first: Line, index: number) => {
    let line = first;
    if (spreadSeconds > 0) await Bun.sleep((spreadSeconds * 1000 * index) / connections);
    for (;;) {
      await new Promise<void>((resolve) => {
        const again = () => (line.alive && going() ? lines.ask(line, again) : resolve());
        lines.ask(line, again);
      });
      if (!going()) return;
      line = await lines.open();
    }
  };
  const opened = await openLines(lines, connections);
  await within(seconds + GRACE_SECONDS, Promise.allSettled(opened.map(runLine)));
}

/** Requests are sent at a constant rate, whatever comes back, on a free connection or a new one. */
async function runPaced(
  lines: Lines,
  { perSecond, seconds, graceSeconds = GRACE_SECONDS }: Shape<'paced'>,
  usageCounter: UsageCounter,
): Promise<void> {
  const free = await openLines(lines, 16);
  const total = Math.floor(perSecond * seconds);
  const started = performance.now();
  let sent = 0;
  let ended = 0;
  let unsent = 0;
  const sendOne = async () => {
    let line = free.pop();
    while (line && !line.alive) line = free.pop();
    line ??= await lines.open();
    const used = line;
    lines.ask(used, () => {
      ended++;
      if (used.alive) free.push(used);
    });
  };
  const sending = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * perSecond));
      for (; sent < due; sent++)
        sendOne().catch(() => {
          unsent++;
          usageCounter.failures++;
        });
      if (ended + unsent >= total || usageCounter.failures > MAX_FAILURES) {
        clearInterval(timer);
        resolve();
      }
    }, 1);
  });
  await within(seconds + graceSeconds, sending);
  // A gateway that is slower than the rate still owes answers: without them its latencies would look better than they are.
  usageCounter.failures += total - ended - unsent;
}

/** One request on every connection, at about the same time or over `spreadSeconds`. */
async function runOnce(
  lines: Lines,
  { connections, boundSeconds, spreadSeconds = 0 }: Shape<'once'>,
  usageCounter: UsageCounter,
): Promise<void> {
  const opened = await openLines(lines, connections);
  let ended = 0;
  const all = opened.map(async (line, index) => {
    if (spreadSeconds > 0) await Bun.sleep((spreadSeconds * 1000 * index) / connections);
    await new Promise<void>((resolve) =>
      lines.ask(line, () => {
        ended++;
        resolve();
      }),
    );
  });
  await within(boundSeconds, Promise.all(all));
  usageCounter.failures += opened.length - ended;
}

async function within(seconds: number, work: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000);
  });
  await Promise.race([work, bound]);
  clearTimeout(timer);
}

if (import.meta.main) {
  const [only] = process.argv.slice(2);
  const print = (line: LoadReport | LoadEvent) => console.log(JSON.stringify(line));
  if (only !== undefined) print(await runLoad(JSON.parse(only), print));
  else {
    const kept = new LinePool();
    for await (const line of console) {
      print({ report: await runLoad(JSON.parse(line), (interval) => print({ interval }), kept) });
    }
  }
  process.exit(0);
}
