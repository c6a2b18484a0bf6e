/** Cancels work in progress. */

/** Work that can be cancelled. */
export interface Cancellable {
  cancel(): void;
}

/** Like an AbortController, without its cost of some microseconds per listener. */
export class Cancellation implements Cancellable {
  cancelled = false;
  /** A connection has accepted a request of this, or of a part of it. */
  sent = false;
  private readonly whole: Cancellation | undefined;
  /** The work in progress; usually one object. */
  private first: Cancellable | undefined;
  private others: Set<Cancellable> | undefined;

  /** `whole`: the cancellation that this one is a part of. */
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

  /** `one` is cancelled together with this; at once if this already is. */
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
