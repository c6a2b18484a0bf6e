/** Keeps silent streams open. */
import { type Placed, PlacedSet } from '../../canonical/placed-set.ts';

interface Stream extends Placed {
  /** `now`: on the clock of `performance.now()`. */
  tick(now: number, keepAliveMs: number): void;
}

/** Sends keep-alives for all streams from one timer: a timer for each stream would cost more than a chunk. */
export class IdleStreams {
  private readonly streams = new PlacedSet<Stream>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly keepAliveMs: number;

  constructor(keepAliveMs: number) {
    this.keepAliveMs = keepAliveMs;
  }

  add(stream: Stream): void {
    this.streams.add(stream);
    this.timer ??= setInterval(() => this.tickAll(), Math.min(1000, this.keepAliveMs / 3));
  }

  delete(stream: Stream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tickAll(): void {
    const now = performance.now();
    for (const stream of this.streams.all()) stream.tick(now, this.keepAliveMs);
  }
}
