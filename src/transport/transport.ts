/** Connects to upstreams: over its own sockets, through a proxy, or in this process, with time and size limits. */
import { gathered, type Streamed } from '../canonical/upload.ts';
import { createConnections } from '../http1/connections.ts';
import { addressOf } from '../http1/request-head.ts';
import type { Cancellation } from './cancellation.ts';
import { type Exchange, ExchangeState } from './exchange.ts';
import { bring } from './response-source.ts';
import { createWatch, type TimeLimits } from './time-limits.ts';

/** A request to an upstream; header names are lower-case. */
export interface Sending {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  /** Sent instead of `body`, as fast as the upstream accepts it. */
  stream?: Streamed;
  /** Must not arrive twice: it is sent over a new connection, which the server cannot close for being idle. */
  once?: boolean;
}

export interface Transport {
  /**
   * Sends the request and resolves with the response's headers. `cancellation` ends the exchange in any state. Throws GatewayError
   * `upstream_failed` or `upstream_timeout`.
   */
  send(sending: Sending, limits: TimeLimits, wholeDeadline: number, cancellation: Cancellation): Promise<Exchange>;
}

/** Answers requests to its origin in this process. */
export type LocalUpstream = (request: Request) => Promise<Response>;

export interface TransportOptions {
  /** Local upstreams by origin. */
  local?: { readonly [origin: string]: LocalUpstream };
  /** Upstreams are reached through a proxy from the environment, which connects. */
  proxied?: boolean;
}

/**
 * Sends requests to providers. Origins in `local` are answered in this process; all others over HTTP/1.1 connections that stay open, or
 * through the proxy of the environment (`proxied`).
 *
 * @example
 * const transport = createTransport({ local: { 'http://sandbox.invalid': createSandbox() } });
 */
export function createTransport({ local = {}, proxied = false }: TransportOptions = {}): Transport {
  const watch = createWatch();
  const connections = createConnections();

  /** Failures, now or later, are reported to the exchange. */
  function dispatch(sending: Sending, exchange: ExchangeState): void {
    try {
      const address = addressOf(sending.url);
      const inProcess = local[address.origin];
      if (inProcess) void bring(answerOf(inProcess, sending), exchange);
      else if (proxied) void bring(fetchOf(sending), exchange);
      else {
        const { method, headers, body, stream, once } = sending;
        connections.send({ address, method, headers, body, stream, once }, exchange);
      }
    } catch (thrown) {
      exchange.broke(thrown);
    }
  }

  return {
    send(sending, limits, wholeDeadline, cancellation) {
      const exchange = new ExchangeState(limits, wholeDeadline, cancellation, watch);
      cancellation.add(exchange);
      if (!exchange.failure) dispatch(sending, exchange);
      return exchange.begun;
    },
  };
}

const answerOf = (inProcess: LocalUpstream, sending: Sending) => async (signal: AbortSignal) =>
  inProcess(await asRequest(sending, signal));

const fetchOf = (sending: Sending) => (signal: AbortSignal) => fetchUpstream(sending, signal);

async function asRequest({ url, method, headers, body, stream }: Sending, signal: AbortSignal): Promise<Request> {
  return new Request(url, { method, headers, body: stream ? await gathered(stream) : (body ?? null), signal });
}

/** Redirects are not followed, because they would send the credential elsewhere. `timeout: false`: the exchange has its own limits. */
async function fetchUpstream({ url, method, headers, body, stream }: Sending, signal: AbortSignal): Promise<Response> {
  // A stream would be sent in chunks without a length, which providers refuse.
  const whole = stream ? await gathered(stream) : (body ?? null);
  return fetch(url, { method, headers, body: whole, signal, redirect: 'manual', timeout: false });
}
