/** The only file that opens a connection to an upstream: time limits, bounds, in-process origins. */
import { GatewayError } from './canonical/errors.ts';

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
}

/** An answer under way. */
export interface Exchange {
  readonly status: number;
  readonly headers: Headers;
  /** The next bytes, `undefined` at the end. Throws `upstream_timeout` or `upstream_failed`. */
  read(): Promise<Uint8Array | undefined>;
  /** All bytes, up to `maxBytes`; throws as `read` does. */
  readAll(maxBytes: number): Promise<Uint8Array>;
  /** Ends the exchange at once, whatever its state. */
  cancel(): void;
}

/** What ends exchanges from outside: an AbortController without its price, some microseconds a listener. */
export class Cancellation {
  cancelled = false;
  private readonly listeners = new Set<() => void>();

  cancel(): void {
    this.cancelled = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }

  /** `listener` runs when this is cancelled, at once where it already is; the returned function takes it back. */
  listen(listener: () => void): () => void {
    if (this.cancelled) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
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

/** An origin that answered this recently is taken to accept connections still: no extra connection is spent to find out. */
const REACHABLE_FOR_MS = 60_000;
/** How finely time limits are kept: one timer serves every exchange, where a timer each would cost more than the chunk. */
const TICK_MS = 25;
/** A body with a stated length below this is read in one go. */
const READ_AT_ONCE_BYTES = 1 << 20;

/** Something that fails when its time is over. */
interface Watched {
  deadline: number;
  expire(): void;
}

export interface TransportOptions {
  /** Upstreams in this process, by origin. */
  local?: { readonly [origin: string]: LocalUpstream };
  /** Upstreams are reached through a proxy that the environment names: connecting is then its business. */
  proxied?: boolean;
}

export function createTransport({ local = {}, proxied = false }: TransportOptions = {}): Transport {
  const watched = new Set<Watched>();
  const reachableAt = new Map<string, number>();
  let ticking: ReturnType<typeof setInterval> | undefined;

  function watch(one: Watched): void {
    watched.add(one);
    ticking ??= setInterval(tick, TICK_MS);
  }

  function tick(): void {
    const now = performance.now();
    for (const one of watched) if (one.deadline <= now) one.expire();
    if (watched.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  async function send(
    sending: Sending,
    limits: TimeLimits,
    wholeDeadline: number,
    cancellation: Cancellation,
  ): Promise<Exchange> {
    const origin = originOf(sending.url);
    const inProcess = local[origin];
    const state = new ExchangeState(limits, wholeDeadline);
    const unlisten = cancellation.listen(() => state.cancel());
    state.onEnd = () => {
      watched.delete(state);
      unlisten();
    };
    watch(state);
    try {
      if (state.failure) throw state.failure;
      if (
        !inProcess &&
        !proxied &&
        (reachableAt.get(origin) ?? Number.NEGATIVE_INFINITY) + REACHABLE_FOR_MS < performance.now()
      ) {
        state.limit('connectMs', 'The upstream did not accept a connection in time.');
        await reach(new URL(sending.url), state);
      }
      state.limit('headersMs', 'The upstream did not begin to answer in time.');
      const response = await (inProcess
        ? inProcess(asRequest(sending, state.signal))
        : fetchUpstream(sending, state.signal));
      reachableAt.set(origin, performance.now());
      state.limit('firstTokenMs', 'The upstream sent headers and then nothing in time.');
      state.begin(response);
      return state;
    } catch (thrown) {
      state.onEnd();
      reachableAt.delete(origin);
      throw state.failure ?? unreachable(thrown);
    }
  }

  return { send };
}

/** The part of a stream's reader that is used here. */
interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason: unknown): Promise<void>;
}

class ExchangeState implements Exchange, Watched {
  deadline = Number.POSITIVE_INFINITY;
  failure: GatewayError | undefined;
  private sentence = '';
  private hasRead = false;
  private response: Response | undefined;
  private reader: ByteReader | undefined;
  private readonly controller = new AbortController();
  private readonly limits: TimeLimits;
  private readonly wholeDeadline: number;
  /** Called when nothing more will come. */
  onEnd = () => {};

  constructor(limits: TimeLimits, wholeDeadline: number) {
    this.limits = limits;
    this.wholeDeadline = wholeDeadline;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get status(): number {
    return this.response!.status;
  }

  get headers(): Headers {
    return this.response!.headers;
  }

  begin(response: Response): void {
    this.response = response;
  }

  /** From now on this limit runs. */
  limit(name: keyof TimeLimits, sentence: string): void {
    this.sentence = sentence;
    this.deadline = Math.min(performance.now() + this.limits[name], this.wholeDeadline);
  }

  expire(): void {
    const whole = this.deadline === this.wholeDeadline;
    const sentence = whole ? 'The call took longer than a whole call may take.' : this.sentence;
    this.end(new GatewayError('upstream_timeout', sentence, { retryable: !whole }));
  }

  cancel(): void {
    this.end(cancelled());
  }

  // Without `async`, with callbacks made once: measured, that spares a streamed chunk a tenth of its cost.
  read(): Promise<Uint8Array | undefined> {
    if (this.failure) return Promise.reject(this.failure);
    this.reader ??= this.response?.body?.getReader();
    if (!this.reader) return Promise.resolve(this.finish());
    // The clock of silence runs while somebody listens: a client that pauses is not the upstream's silence.
    if (this.hasRead) this.limit('silenceMs', 'The upstream fell silent in the middle of its answer.');
    return this.reader.read().then(this.arrived, this.lost);
  }

  private readonly arrived = ({ done, value }: { done: boolean; value?: Uint8Array | undefined }) => {
    if (this.failure) throw this.failure;
    if (done) return this.finish();
    this.hasRead = true;
    this.deadline = this.wholeDeadline;
    return value;
  };

  private readonly lost = (thrown: unknown): never => {
    throw this.broken(thrown);
  };

  async readAll(maxBytes: number): Promise<Uint8Array> {
    const stated = Number(this.headers.get('content-length') ?? Number.NaN);
    // A compressed body may be any size once it is unpacked: it is read in bounded steps.
    if (stated <= Math.min(READ_AT_ONCE_BYTES, maxBytes) && !this.headers.has('content-encoding'))
      return this.readAtOnce(stated);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let chunk = await this.read(); chunk; chunk = await this.read()) {
      size += chunk.length;
      if (size > maxBytes) {
        this.cancel();
        throw new GatewayError('upstream_failed', `The upstream's answer is larger than ${maxBytes} bytes.`);
      }
      chunks.push(chunk);
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
  }

  private async readAtOnce(stated: number): Promise<Uint8Array> {
    this.limit('silenceMs', 'The upstream fell silent in the middle of its answer.');
    try {
      const body = await this.response!.bytes();
      if (this.failure) throw this.failure;
      if (body.length < stated) throw new Error('body shorter than stated');
      this.finish();
      return body;
    } catch (thrown) {
      throw this.broken(thrown);
    }
  }

  private finish(): undefined {
    this.onEnd();
    return undefined;
  }

  private broken(thrown: unknown): GatewayError {
    this.onEnd();
    this.failure ??= new GatewayError('upstream_failed', 'The upstream broke off in the middle of its answer.', {
      cause: thrown,
    });
    return this.failure;
  }

  private end(failure: GatewayError): void {
    this.onEnd();
    if (this.failure) return;
    this.failure = failure;
    this.controller.abort(failure);
    // Cancelling what has ended already, or failed, is no news.
    this.reader?.cancel(failure).catch(() => {});
  }
}

function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0 ? url : url.slice(0, end);
}

function asRequest(sending: Sending, signal: AbortSignal): Request {
  return new Request(sending.url, {
    method: sending.method,
    headers: sending.headers,
    body: sending.body ?? null,
    signal,
  });
}

/** Redirects are not followed: they would carry the credential to another address. `timeout: false`: our own limits rule. */
function fetchUpstream(sending: Sending, signal: AbortSignal): Promise<Response> {
  return fetch(sending.url, {
    method: sending.method,
    headers: sending.headers,
    body: sending.body ?? null,
    signal,
    redirect: 'manual',
    timeout: false,
  });
}

/** Opens a connection and closes it again: Bun's fetch has no limit of its own on connecting. */
async function reach(url: URL, state: ExchangeState): Promise<void> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  await new Promise<void>((resolve, reject) => {
    state.signal.addEventListener('abort', () => reject(state.failure), { once: true });
    Bun.connect({
      hostname,
      port,
      socket: {
        data() {},
        open(socket) {
          socket.end();
          resolve();
        },
        connectError: (_socket, error) => reject(error),
      },
    }).catch(reject);
  });
}

function cancelled(): GatewayError {
  return new GatewayError('upstream_failed', 'The call was cancelled.', { retryable: false });
}

function unreachable(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(
    'upstream_failed',
    'The upstream could not be reached or closed the connection without an answer.',
    {
      cause: thrown,
    },
  );
}
