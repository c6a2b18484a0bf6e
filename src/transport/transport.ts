/** The module that connects to upstreams: over sockets of its own, through a proxy, or in this process; under time limits, within bounds. */
import type { GatewayError } from '../canonical/errors.ts';
import { gathered, type Streamed } from '../canonical/upload.ts';
import { addressOf } from '../http1/address.ts';
import { createConnections } from '../http1/connections.ts';
import { writeHead } from '../http1/request-head.ts';
import { ExchangeState } from './exchange.ts';
import { bring } from './response-source.ts';
import { createWatch } from './time-limits.ts';

/** Milliseconds. Each limit that runs out is an `upstream_timeout` with its own sentence. */
export interface TimeLimits {
  /** Until the upstream has accepted a connection. */
  connectMs: number;
  /** From sending until the response headers. */
  headersMs: number;
  /** From the headers until the first bytes of the body. */
  firstTokenMs: number;
  /** Between two arrivals of bytes. */
  silenceMs: number;
  /** The whole call, failed attempts included. */
  wholeMs: number;
}

/** A request on its way out; header names are lower-case. */
export interface Sending {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  /** Sent in the body's place, as fast as it is taken. */
  stream?: Streamed;
  /** It must not arrive twice: it goes over a new connection, where no closing can cross it. */
  once?: boolean;
}

/** Takes an answer's bytes as they arrive. */
export interface ByteTaker {
  bytes(bytes: Uint8Array): void;
  /** That was all. */
  end(): void;
  /** `upstream_timeout` or `upstream_failed`. */
  failed(failure: GatewayError): void;
}

/** An answer under way. */
export interface Exchange {
  readonly status: number;
  /** Made when it is asked for; `header` is cheaper. */
  readonly headers: Headers;
  /** The value of the header of this lower-case name. */
  header(name: string): string | undefined;
  /** The next bytes, `undefined` at the end. Throws `upstream_timeout` or `upstream_failed`. */
  read(): Promise<Uint8Array | undefined>;
  /** All bytes, up to `maxBytes`, at once where they have arrived; throws as `read` does. */
  readAll(maxBytes: number): Uint8Array | Promise<Uint8Array>;
  /** Has all bytes that are still to come handed over as they arrive, in the place of `read`. */
  pour(taker: ByteTaker): void;
  /** What is poured waits; `resume` lets it flow again. */
  pause(): void;
  resume(): void;
  /** Ends the exchange at once, whatever its state. */
  cancel(): void;
}

/** Something that can be ended from outside. */
export interface Cancellable {
  cancel(): void;
}

/** Ends what is under way: an AbortController without its price, some microseconds a listener. */
export class Cancellation implements Cancellable {
  cancelled = false;
  /** A connection has taken a request of this, or of a part of it. */
  sent = false;
  private readonly whole: Cancellation | undefined;
  /** What is under way; mostly one thing. */
  private first: Cancellable | undefined;
  private others: Set<Cancellable> | undefined;

  /** `whole`: what this is a part of. */
  constructor(whole?: Cancellation) {
    this.whole = whole;
  }

  markSent(): void {
    this.sent = true;
    this.whole?.markSent();
  }

  cancel(): void {
    this.cancelled = true;
    const { first, others } = this;
    this.first = this.others = undefined;
    first?.cancel();
    if (others) for (const one of others) one.cancel();
  }

  /** `one` is cancelled with this, at once where this already is. */
  add(one: Cancellable): void {
    if (this.cancelled) one.cancel();
    else if (!this.first) this.first = one;
    else {
      this.others ??= new Set();
      this.others.add(one);
    }
  }

  delete(one: Cancellable): void {
    if (this.first === one) this.first = undefined;
    else this.others?.delete(one);
  }
}

export interface Transport {
  /**
   * Sends and resolves with the response's headers; `cancellation` ends the exchange in whatever state it is.
   * Throws GatewayError `upstream_failed` or `upstream_timeout`.
   */
  send(sending: Sending, limits: TimeLimits, wholeDeadline: number, cancellation: Cancellation): Promise<Exchange>;
}

/** Answers in this process what is addressed to its origin. */
export type LocalUpstream = (request: Request) => Promise<Response>;

export interface TransportOptions {
  /** Upstreams in this process, by origin. */
  local?: { readonly [origin: string]: LocalUpstream };
  /** Upstreams are reached through a proxy that the environment names: connecting is then its business. */
  proxied?: boolean;
}

export function createTransport({ local = {}, proxied = false }: TransportOptions = {}): Transport {
  const watch = createWatch();
  const connections = createConnections();

  /** What fails here or later is told to the exchange. */
  function dispatch(sending: Sending, exchange: ExchangeState): void {
    const inProcess = local[originOf(sending.url)];
    if (inProcess) void bring(async (signal) => inProcess(await asRequest(sending, signal)), exchange);
    else if (proxied) void bring((signal) => fetchUpstream(sending, signal), exchange);
    else connect(sending, exchange);
  }

  function connect(sending: Sending, exchange: ExchangeState): void {
    try {
      const address = addressOf(sending.url);
      const { method, body, stream, once = false } = sending;
      connections.send(address, { method, head: writeHead(address, sending), body, stream, once }, exchange);
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

function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0 ? url : url.slice(0, end);
}

async function asRequest({ url, method, headers, body, stream }: Sending, signal: AbortSignal): Promise<Request> {
  return new Request(url, { method, headers, body: stream ? await gathered(stream) : (body ?? null), signal });
}

/** Redirects are not followed: they would carry the credential to another address. `timeout: false`: our own limits rule. */
async function fetchUpstream({ url, method, headers, body, stream }: Sending, signal: AbortSignal): Promise<Response> {
  // As a stream it would go out in chunks of no said length, which providers refuse.
  const whole = stream ? await gathered(stream) : (body ?? null);
  return fetch(url, { method, headers, body: whole, signal, redirect: 'manual', timeout: false });
}
