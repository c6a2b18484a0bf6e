/** One attempt at a target: what it shows of the target's health, and the place it takes there. */
import type { GatewayError } from '../canonical/errors.ts';
import type { HasHeaders } from './remaining-limits.ts';
import type { RoutedTarget } from './routed.ts';

/** Who is told what became of an attempt. */
export interface AttemptWatcher<T extends RoutedTarget> {
  /** The first token has come of an answer that is read to its end first. */
  began(attempt: TrackedAttempt<T>): void;
  answered(attempt: TrackedAttempt<T>): void;
  failed(attempt: TrackedAttempt<T>, error: GatewayError): void;
  /** It had answered. `error`: it broke off; `tokens`: of its input and output, where they are known. */
  ended(attempt: TrackedAttempt<T>, error: GatewayError | undefined, output: number, tokens: number | undefined): void;
  /** Its response has these headers. */
  saw(attempt: TrackedAttempt<T>, response: HasHeaders): void;
  /** Nothing came of it, and that says nothing of the target: the client left. */
  dropped(attempt: TrackedAttempt<T>): void;
  /** The same, because another target answered first, although this one was asked earlier. */
  outrun(attempt: TrackedAttempt<T>): void;
}

export class TrackedAttempt<T extends RoutedTarget> {
  readonly target: T;
  readonly credential: string | undefined;
  /** Until the first token, or the headers of a whole response; `undefined`: the general limits alone. */
  readonly limitMs: number | undefined;
  /** The target was open when it began. */
  readonly isProbe: boolean;
  /** What the call may take of the provider's limits; absent: it takes no place. */
  readonly place: { account: string; tokens: number } | undefined;
  readonly startedAt: number;
  /** When the answer began; 0: not yet. */
  beganAt = 0;
  answeredAt = 0;
  private isOver = false;
  private readonly watcher: AttemptWatcher<T>;

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

  saw(response: HasHeaders): void {
    this.watcher.saw(this, response);
  }

  /** The first token of a stream that is not passed on before it is complete. */
  began(): void {
    if (this.beganAt === 0) this.watcher.began(this);
  }

  /** The first token, or the whole response, is here. */
  answered(): void {
    if (!this.isOver && this.answeredAt === 0) this.watcher.answered(this);
  }

  /** It failed before it answered. */
  failed(error: GatewayError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.watcher.failed(this, error);
  }

  /** Nothing came of it, and that says nothing of the target. */
  dropped(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.watcher.dropped(this);
  }

  /** A target that was asked later answered first. */
  outrun(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.watcher.outrun(this);
  }

  /** The call is over. */
  ended(error: GatewayError | undefined, output: number, tokens: number | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.answeredAt === 0) this.watcher.dropped(this);
    else this.watcher.ended(this, error, output, tokens);
  }
}
