/** The load generator's connections: keep-alive, on raw sockets, and what their answers add up to. */
import type { Socket } from 'bun';
import { messageCutter } from './http-messages.ts';
import { TIME_DIGITS, TIME_MARK } from './workload.ts';

/** What was counted since the last report. */
export interface UsageCounter {
  latencies: number[];
  firstBytes: number[];
  failures: number;
  chunks: number;
  lateChunks: number;
  openStreams: number;
  mostStreams: number;
}

export interface Request {
  bytes: Buffer;
  usageCounter: UsageCounter;
  /** A chunk counts as late if it arrives longer than this after it was sent. */
  lateMs: number;
}

export interface Line {
  readonly port: number;
  /** Sends the request. `done` is called once with the result. */
  ask(request: Request, done: (ok: boolean) => void): void;
  readonly alive: boolean;
  /** Whether an answer is owed. */
  readonly busy: boolean;
  close(): void;
}

/** Keeps connections that are free, so that the next load does not open them anew. */
export class LinePool {
  readonly #free = new Map<number, Line[]>();

  async take(port: number): Promise<Line> {
    const free = this.#free.get(port) ?? [];
    for (let line = free.pop(); line; line = free.pop()) if (line.alive) return line;
    return openLine(port);
  }

  give(line: Line): void {
    if (!line.alive || line.busy) {
      line.close();
      return;
    }
    const free = this.#free.get(line.port) ?? [];
    this.#free.set(line.port, free);
    free.push(line);
  }

  close(): void {
    for (const line of [...this.#free.values()].flat()) line.close();
    this.#free.clear();
  }
}

interface Connection {
  feed(bytes: Buffer): void;
  closed(): void;
}

async function openLine(port: number): Promise<Line> {
  let asked: Request | undefined;
  let done: (ok: boolean) => void = () => {};
  let askedAt = 0;
  let firstByteAt = 0;
  let ok = false;
  let count: ((bytes: Buffer) => void) | undefined;
  let alive = true;
  const finish = (success: boolean) => {
    if (!asked) return;
    const { usageCounter } = asked;
    asked = undefined;
    if (count && firstByteAt > 0) usageCounter.openStreams--;
    if (success) {
      usageCounter.latencies.push(performance.now() - askedAt);
      usageCounter.firstBytes.push(firstByteAt - askedAt);
    } else usageCounter.failures++;
    done(success);
  };
  const feed = messageCutter({
    head: (head) => {
      ok = head.startsWith('HTTP/1.1 200');
      firstByteAt = 0;
      count = asked && head.includes('text/event-stream') ? chunkCounter(asked) : undefined;
    },
    body: (bytes) => {
      if (firstByteAt === 0) {
        firstByteAt = performance.now();
        const usageCounter = asked?.usageCounter;
        if (count && usageCounter)
          usageCounter.mostStreams = Math.max(usageCounter.mostStreams, ++usageCounter.openStreams);
      }
      count?.(bytes);
    },
    end: () => finish(ok),
  });
  const closed = () => {
    alive = false;
    finish(false);
  };
  const socket = await connect(port, { feed, closed });
  return {
    port,
    ask(request, whenDone) {
      [asked, done] = [request, whenDone];
      askedAt = performance.now();
      firstByteAt = 0;
      // A request is much smaller than a socket's buffer, so a short write means a dead peer.
      if (!alive || socket.write(request.bytes) < request.bytes.length) {
        closed();
        socket.end();
      }
    },
    get alive() {
      return alive;
    },
    get busy() {
      return asked !== undefined;
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
function chunkCounter({ usageCounter, lateMs }: Request): (bytes: Buffer) => void {
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
