/** The load generator, a separate process: keep-alive connections on raw sockets, limited in number and time. */
import type { Socket } from 'bun';
import { messageCutter } from './http-messages.ts';
import { percentile } from './statistics.ts';
import { TIME_DIGITS, TIME_MARK } from './workload.ts';

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

interface Connection {
  feed(bytes: Buffer): void;
  closed(): void;
}

interface Line {
  /** Sends the request. `done` is called once with the result. */
  ask(done: (ok: boolean) => void): void;
  readonly alive: boolean;
  close(): void;
}

interface UsageCounter {
  latencies: number[];
  firstBytes: number[];
  failures: number;
  chunks: number;
  lateChunks: number;
  openStreams: number;
  mostStreams: number;
}

async function openLine(load: Load, request: Buffer, usageCounter: UsageCounter): Promise<Line> {
  let waiting: ((ok: boolean) => void) | undefined;
  let askedAt = 0;
  let firstByteAt = 0;
  let ok = false;
  let streamed = false;
  let alive = true;
  const count = chunkCounter(usageCounter, load.lateMs);
  const finish = (success: boolean) => {
    const done = waiting;
    waiting = undefined;
    if (!done) return;
    if (streamed && firstByteAt > 0) usageCounter.openStreams--;
    if (success) {
      usageCounter.latencies.push(performance.now() - askedAt);
      usageCounter.firstBytes.push(firstByteAt - askedAt);
    } else usageCounter.failures++;
    done(success);
  };
  const feed = messageCutter({
    head: (head) => {
      ok = head.startsWith('HTTP/1.1 200');
      streamed = head.includes('text/event-stream');
      firstByteAt = 0;
    },
    body: (bytes) => {
      if (firstByteAt === 0) {
        firstByteAt = performance.now();
        if (streamed) usageCounter.mostStreams = Math.max(usageCounter.mostStreams, ++usageCounter.openStreams);
      }
      if (streamed) count(bytes);
    },
    end: () => finish(ok),
  });
  const closed = () => {
    alive = false;
    finish(false);
  };
  const socket = await connect(load.port, { feed, closed });
  return {
    ask(done) {
      waiting = done;
      askedAt = performance.now();
      firstByteAt = 0;
      // A request is much smaller than a socket's buffer, so a short write means a dead peer.
      if (!alive || socket.write(request) < request.length) {
        closed();
        socket.end();
      }
    },
    get alive() {
      return alive;
    },
    close: () => {
      alive = false;
      socket.end();
    },
  };
}

function connect(port: number, data: Connection): Promise<Socket<Connection>> {
  return Bun.connect<Connection>({
    hostname: '127.0.0.1',
    port,
    data,
    socket: {
      open: (socket) => {
        socket.setNoDelay(true);
      },
      data: (socket, bytes) => socket.data.feed(bytes),
      close: (socket) => socket.data.closed(),
      error: (socket) => socket.data.closed(),
    },
  });
}

const MARK = Buffer.from(TIME_MARK);

/** Counts the chunks of a stream, and those that are late by the time they contain. */
function chunkCounter(usageCounter: UsageCounter, lateMs: number): (bytes: Buffer) => void {
  let carry: Buffer | undefined;
  return (bytes) => {
    const all = carry ? Buffer.concat([carry, bytes]) : bytes;
    const end = all.lastIndexOf(10) + 1;
    carry = end === all.length ? undefined : Buffer.from(all.subarray(end));
    const now = Date.now();
    for (let at = all.indexOf(MARK); at !== -1 && at < end; at = all.indexOf(MARK, at + MARK.length)) {
      const digits = at + MARK.length;
      usageCounter.chunks++;
      if (now - Number(all.toString('latin1', digits, digits + TIME_DIGITS)) > lateMs) usageCounter.lateChunks++;
    }
  };
}

function writeHttp({ port, path, headers, body }: Load): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: */*\r\n` +
      `${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Resolves with the report of the last interval; `report` is called with those before it. */
export async function runLoad(load: Load, report: (interval: LoadReport) => void = () => {}): Promise<LoadReport> {
  const usageCounter: UsageCounter = {
    latencies: [],
    firstBytes: [],
    failures: 0,
    chunks: 0,
    lateChunks: 0,
    openStreams: 0,
    mostStreams: 0,
  };
  const request = writeHttp(load);
  const open = () => openLine(load, request, usageCounter);
  const { shape } = load;
  let since = performance.now();
  const next = (): LoadReport => {
    const now = performance.now();
    const interval = takeReport(usageCounter, (now - since) / 1000);
    since = now;
    return interval;
  };
  const intervals = load.everySeconds && setInterval(() => report(next()), load.everySeconds * 1000);
  if (shape.type === 'closed') await runClosed(open, shape, usageCounter);
  else if (shape.type === 'paced') await runPaced(open, shape, usageCounter);
  else await runOnce(open, shape, usageCounter);
  if (intervals) clearInterval(intervals);
  return next();
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
type Open = () => Promise<Line>;

const OPENING_AT_ONCE = 50;

async function openLines(open: Open, count: number): Promise<Line[]> {
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
  open: Open,
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
        const again = () => (line.alive && going() ? line.ask(again) : resolve());
        line.ask(again);
      });
      line.close();
      if (!going()) return;
      line = await open();
    }
  };
  const lines = await openLines(open, connections);
  await within(seconds + GRACE_SECONDS, Promise.allSettled(lines.map(runLine)));
}

/** Requests are sent at a constant rate, whatever comes back, on a free connection or a new one. */
async function runPaced(
  open: Open,
  { perSecond, seconds, graceSeconds = GRACE_SECONDS }: Shape<'paced'>,
  usageCounter: UsageCounter,
): Promise<void> {
  const free = await openLines(open, 16);
  const total = Math.floor(perSecond * seconds);
  const started = performance.now();
  let sent = 0;
  let ended = 0;
  let unsent = 0;
  const sendOne = async () => {
    let line = free.pop();
    while (line && !line.alive) line = free.pop();
    line ??= await open();
    const used = line;
    used.ask(() => {
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
  for (const line of free) line.close();
}

/** One request on every connection, at about the same time or over `spreadSeconds`. */
async function runOnce(
  open: Open,
  { connections, boundSeconds, spreadSeconds = 0 }: Shape<'once'>,
  usageCounter: UsageCounter,
): Promise<void> {
  const lines = await openLines(open, connections);
  let ended = 0;
  const all = lines.map(async (line, index) => {
    if (spreadSeconds > 0) await Bun.sleep((spreadSeconds * 1000 * index) / connections);
    await new Promise<void>((resolve) =>
      line.ask(() => {
        ended++;
        resolve();
      }),
    );
  });
  await within(boundSeconds, Promise.all(all));
  usageCounter.failures += lines.length - ended;
  for (const line of lines) line.close();
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
  const load: Load = JSON.parse(process.argv[2] ?? '');
  const print = (report: LoadReport) => console.log(JSON.stringify(report));
  print(await runLoad(load, print));
  process.exit(0);
}
