/** What a target did in the last 30 seconds: how many attempts succeeded and failed. */

const SLOTS = 30;
const SLOT_MS = 1000;

/** Counts outcomes in slots of one second. Times are milliseconds since 1970. */
export class OutcomeWindow {
  private readonly good = new Uint32Array(SLOTS);
  private readonly bad = new Uint32Array(SLOTS);
  /** The second that was counted last. */
  private at = 0;
  private goods = 0;
  private bads = 0;

  add(isGood: boolean, now: number): void {
    const slot = this.advance(now);
    if (isGood) {
      this.good[slot]!++;
      this.goods++;
    } else {
      this.bad[slot]!++;
      this.bads++;
    }
  }

  /** An attempt that was counted as a success has failed later, in the middle of its stream. */
  spoil(now: number): void {
    const slot = this.advance(now);
    for (let back = 0; back < SLOTS; back++) {
      const earlier = (slot - back + SLOTS) % SLOTS;
      if (this.good[earlier] === 0) continue;
      this.good[earlier]!--;
      this.goods--;
      break;
    }
    this.add(false, now);
  }

  clear(): void {
    this.good.fill(0);
    this.bad.fill(0);
    this.goods = this.bads = 0;
  }

  calls(now: number): number {
    this.advance(now);
    return this.goods + this.bads;
  }

  /** From 0 to 1; 0 where there was no call. */
  errorRate(now: number): number {
    const calls = this.calls(now);
    return calls === 0 ? 0 : this.bads / calls;
  }

  /** Drops what is older than the window. Returns the slot of `now`. */
  private advance(now: number): number {
    const second = Math.floor(now / SLOT_MS);
    const passed = second - this.at;
    if (passed !== 0) {
      // A clock that was set back says nothing about the age of what was counted.
      if (passed < 0 || passed >= SLOTS) this.clear();
      else for (let one = this.at + 1; one <= second; one++) this.forget(one % SLOTS);
      this.at = second;
    }
    return second % SLOTS;
  }

  private forget(slot: number): void {
    this.goods -= this.good[slot]!;
    this.bads -= this.bad[slot]!;
    this.good[slot] = this.bad[slot] = 0;
  }
}
