/** One attempt at a target: what it shows of the target's health, and the place it takes there. */
import type { GatewayError } from '../canonical/errors.ts';
import type { HasHeaders } from './remaining-limits.ts';
import type { RoutedTarget } from './routed.ts';

/** How an attempt ended. `cancelled`: the client left, or another target answered first. */
export type AttemptOutcome = 'running' | 'ok' | 'failed' | 'cancelled';

/** What is known of an attempt. Times in milliseconds since 1970; 0: not yet. */
export interface AttemptRecord {
  /** `type`: of the provider; `model`: its name of the model. */
  readonly target: {
    readonly id: string;
    readonly provider: string;
    readonly type?: string;
    readonly model?: string;
  };
  /** Secret: never shown completely. */
  readonly credential: string | undefined;
  readonly startedAt: number;
  /** The first token of a stream, or the complete response. */
  readonly answeredAt: number;
  readonly endedAt: number;
  /** The HTTP status of the response; 0: none came. */
  readonly status: number;
  readonly outcome: AttemptOutcome;
  readonly errorCode: string | undefined;
  /** Without the operator's secrets and addresses. */
  readonly message: string | undefined;
}

/** Follows the attempts of a call. */
export interface AttemptListener {
  attemptStarted(attempt: AttemptRecord): void;
  attemptAnswered(attempt: AttemptRecord): void;
  attemptEnded(attempt: AttemptRecord): void;
}

/** Receives what became of an attempt. */
export interface AttemptWatcher<T extends RoutedTarget> {
  /** Milliseconds since 1970. */
  now(): number;
  /** The first token has come of an answer that is read to its end first. */
  began(attempt: TrackedAttempt<T>): void;
  answered(attempt: TrackedAttempt<T>): void;
  failed(attempt: TrackedAttempt<T>, error: GatewayError): void;
  /** It had answered. `error`: it broke off; `tokens`: of its input and output, where they are known. */
  ended(attempt: TrackedAttempt<T>, error: GatewayError | undefined, output: number, tokens: number | undefined): void;
  /** Its response has these headers. */
  saw(attempt: TrackedAttempt<T>, response: HasHeaders): void;
  /** It has no result and does not count for the target: the client disconnected. */
  dropped(attempt: TrackedAttempt<T>): void;
  /** The same, because another target answered first, although this one was called earlier. */
  outrun(attempt: TrackedAttempt<T>): void;
}

/**
 * One attempt at a target. Exactly one of `failed`, `ended`, `dropped` and `outrun` ends it; later calls change nothing. Times are
 * milliseconds since 1970.
 */
export class TrackedAttempt<T extends RoutedTarget> implements AttemptRecord {
  readonly target: T;
  readonly credential: string | undefined;
  /** Until the first token, or the headers of a whole response; `undefined`: the general limits alone. */
  readonly limitMs: number | undefined;
  /** The target was open when it started. */
  readonly isProbe: boolean;
  /** What the call may take of the provider's limits; absent: it takes no place. */
  readonly place: { account: string; tokens: number } | undefined;
  readonly startedAt: number;
  /** When the response started; 0: not yet. */
  beganAt = 0;
  answeredAt = 0;
  endedAt = 0;
  status = 0;
  outcome: AttemptOutcome = 'running';
  errorCode: string | undefined;
  message: string | undefined;
  private readonly watcher: AttemptWatcher<T>;
  private listener: AttemptListener | undefined;

  constructor(
    watcher: AttemptWatcher<T>,
    target: T,
    credential: string | undefined,
    limitMs: number | undefined,
    isProbe: boolean,
    place: { account: string; tokens: number } | undefined,
    startedAt: number,
  ) {
    this.watcher = watcher;
    this.target = target;
    this.credential = credential;
    this.limitMs = limitMs;
    this.isProbe = isProbe;
    this.place = place;
    this.startedAt = startedAt;
  }

  /** It is about to be sent. One that is dropped before is not reported. */
  follow(listener: AttemptListener): void {
    this.listener = listener;
    listener.attemptStarted(this);
  }

  saw(response: HasHeaders & { readonly status: number }): void {
    this.status = response.status;
    this.watcher.saw(this, response);
  }

  /** The first token of a stream that is not passed on before it is complete. */
  began(): void {
    if (this.beganAt === 0) this.watcher.began(this);
  }

  /** The first token, or the complete response, has arrived. */
  answered(): void {
    if (this.isOver || this.answeredAt !== 0) return;
    this.watcher.answered(this);
    this.listener?.attemptAnswered(this);
  }

  /** It failed before it answered. `shown`: the error without the operator's secrets. */
  failed(error: GatewayError, shown?: GatewayError): void {
    if (this.isOver) return;
    this.over('failed', error, shown);
    this.watcher.failed(this, error);
    this.listener?.attemptEnded(this);
  }

  /** It has no result and does not count for the target. */
  dropped(): void {
    if (this.isOver) return;
    this.over('cancelled');
    this.watcher.dropped(this);
    this.listener?.attemptEnded(this);
  }

  /** A target that was called later answered first. */
  outrun(): void {
    if (this.isOver) return;
    this.over('cancelled');
    this.watcher.outrun(this);
    this.listener?.attemptEnded(this);
  }

  /** The call is over. `error`: without the operator's secrets. */
  ended(error: GatewayError | undefined, output: number, tokens: number | undefined): void {
    if (this.isOver) return;
    const hasAnswered = this.answeredAt !== 0;
    this.over(error ? 'failed' : hasAnswered ? 'ok' : 'cancelled', error, error);
    if (hasAnswered) this.watcher.ended(this, error, output, tokens);
    else this.watcher.dropped(this);
    this.listener?.attemptEnded(this);
  }

  private get isOver(): boolean {
    return this.outcome !== 'running';
  }

  private over(outcome: AttemptOutcome, error?: GatewayError, shown?: GatewayError): void {
    this.outcome = outcome;
    this.endedAt = this.watcher.now();
    if (!error) return;
    this.errorCode = error.code;
    this.message = shown?.message;
  }
}
