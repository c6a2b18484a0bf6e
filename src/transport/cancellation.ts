/** Ends what is under way, from outside. */

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
