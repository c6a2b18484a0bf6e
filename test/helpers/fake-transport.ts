/** For tests: a transport without a network. Requests wait until the test answers them; time limits use the test's clock. */
import type { Cancellation } from '../../src/transport/cancellation.ts';
import { ExchangeState } from '../../src/transport/exchange.ts';
import type { TimeLimits, Watched } from '../../src/transport/time-limits.ts';
import type { Sending, Transport } from '../../src/transport/transport.ts';
import type { Answer } from '../upstream/answer.ts';

/** A sent request and the other end of its exchange. */
export class SentRequest {
  readonly sending: Sending;
  readonly exchange: ExchangeState;
  isPaused = false;
  isStopped = false;

  constructor(sending: Sending, exchange: ExchangeState) {
    this.sending = sending;
    this.exchange = exchange;
  }

  /** The host of the URL. */
  get host(): string {
    return new URL(this.sending.url).host;
  }

  get body(): { [member: string]: unknown } {
    return JSON.parse(Buffer.from(this.sending.body ?? []).toString());
  }

  /** A connection accepts the request. */
  take(): void {
    this.exchange.from({
      pause: () => {
        this.isPaused = true;
      },
      resume: () => {
        this.isPaused = false;
      },
      stop: () => {
        this.isStopped = true;
      },
    });
  }

  /** Sends the head of the response. */
  begin(status = 200, headers: { [name: string]: string } = {}): void {
    this.exchange.begin(status, new Headers(headers));
  }

  /** Sends the head of a stream. */
  beginStream(): void {
    this.begin(200, { 'content-type': 'text/event-stream' });
  }

  push(text: string): void {
    this.exchange.push(Buffer.from(text));
  }

  /** Sends events of a stream. */
  pushEvents(...events: unknown[]): void {
    for (const event of events) this.push(`data: ${JSON.stringify(event)}\n\n`);
  }

  /** Ends a stream. */
  pushDone(): void {
    this.push('data: [DONE]\n\n');
    this.exchange.finish();
  }

  /** Sends a complete answer. */
  answer({ json, events, status = 200, headers = {} }: Answer): void {
    if (events) {
      this.begin(status, { 'content-type': 'text/event-stream', ...headers });
      this.pushEvents(...events);
      this.pushDone();
    } else {
      this.begin(status, { 'content-type': 'application/json', ...headers });
      this.push(JSON.stringify(json));
      this.exchange.finish();
    }
  }
}

export interface FakeTransport extends Transport {
  /** All sent requests. */
  readonly sent: SentRequest[];
  /** Answers for the next requests, one each; only others reach `next`. */
  script(...answers: (Answer | ((request: SentRequest) => void))[]): void;
  /** The next request without a scripted answer, accepted by a connection. */
  next(): Promise<SentRequest>;
  /** Checks time limits as if this time had passed. */
  pass(ms: number): void;
}

export function createFakeTransport(): FakeTransport {
  const watched = new Set<Watched>();
  const sent: SentRequest[] = [];
  const scripts: (Answer | ((request: SentRequest) => void))[] = [];
  const arrived: SentRequest[] = [];
  const waiting: ((request: SentRequest) => void)[] = [];

  function arrive(request: SentRequest): void {
    sent.push(request);
    const script = scripts.shift();
    if (typeof script === 'function') {
      script(request);
      return;
    }
    request.take();
    if (script) {
      request.answer(script);
      return;
    }
    const waiter = waiting.shift();
    if (waiter) waiter(request);
    else arrived.push(request);
  }

  return {
    sent,
    script: (...answers) => void scripts.push(...answers),
    next() {
      const request = arrived.shift();
      return request ? Promise.resolve(request) : new Promise((resolve) => waiting.push(resolve));
    },
    pass(ms) {
      const now = performance.now();
      // A limit begins with the first check after what it is counted from.
      for (const one of watched) one.look(now);
      for (const one of watched) one.look(now + ms);
    },
    send(sending: Sending, limits: TimeLimits, wholeDeadline: number, cancellation: Cancellation) {
      const exchange = new ExchangeState(limits, wholeDeadline, cancellation, {
        add: (one) => void watched.add(one),
        delete: (one) => void watched.delete(one),
      });
      cancellation.add(exchange);
      if (!exchange.failure) arrive(new SentRequest(sending, exchange));
      return exchange.begun;
    },
  };
}
