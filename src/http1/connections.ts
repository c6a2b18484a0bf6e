/** Connections to servers: opened, kept while idle, used again. */
import type { ReplyTaker } from './reply-taker.ts';
import { writeHead } from './request-head.ts';
import { type ConnectionPool, type Request, ServerConnection } from './server-connection.ts';

export interface Connections {
  /** Sends the request and passes its reply to the exchange. Failures are reported to the exchange. */
  send(request: Request, exchange: ReplyTaker): void;
}

const SWEEP_MS = 5000;
/** The maximum of idle connections per origin. */
const MOST_IDLE = 1024;

export function createConnections(): Connections {
  const idle = new Map<string, ServerConnection[]>();
  let sweeping: ReturnType<typeof setInterval> | undefined;

  function send(request: Request, exchange: ReplyTaker): void {
    const now = performance.now();
    const kept = request.once ? undefined : takeIdle(request.address.origin, now);
    if (!kept) {
      void open(request, exchange);
      return;
    }
    try {
      kept.exchange(request, exchange, now);
    } catch (thrown) {
      keep(kept);
      exchange.broke(thrown);
    }
  }

  function takeIdle(origin: string, now: number): ServerConnection | undefined {
    const list = idle.get(origin);
    for (let kept = list?.pop(); kept; kept = list?.pop()) {
      if (kept.idleUntil > now) return kept;
      kept.drop();
    }
    return undefined;
  }

  const pool: ConnectionPool = { idle: keep, lost: forget, again: (...sending) => void open(...sending) };

  async function open(request: Request, exchange: ReplyTaker): Promise<void> {
    exchange.connecting();
    const connection = new ServerConnection(request.address, pool);
    try {
      // A head that cannot be written is not worth a connection.
      writeHead(request);
      await connection.connect();
    } catch (thrown) {
      exchange.broke(thrown);
      return;
    }
    if (exchange.isOver) connection.drop();
    else connection.exchange(request, exchange, performance.now());
  }

  function keep(connection: ServerConnection): void {
    const { origin } = connection.address;
    let list = idle.get(origin);
    if (!list) {
      list = [];
      idle.set(origin, list);
    }
    if (list.length >= MOST_IDLE) {
      connection.drop();
      return;
    }
    list.push(connection);
    if (sweeping) return;
    sweeping = setInterval(sweep, SWEEP_MS);
    sweeping.unref();
  }

  function forget(connection: ServerConnection): void {
    const list = idle.get(connection.address.origin);
    const at = list?.indexOf(connection) ?? -1;
    if (at >= 0) list?.splice(at, 1);
  }

  function sweep(): void {
    const now = performance.now();
    for (const [origin, list] of idle) {
      const fresh = list.filter((kept) => kept.idleUntil > now);
      for (const kept of list) if (kept.idleUntil <= now) kept.drop();
      if (fresh.length > 0) idle.set(origin, fresh);
      else idle.delete(origin);
    }
    if (idle.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  }

  return { send };
}
