/** How long things take: a moving average, and percentiles from a histogram in steps of 19 %. */

/** Weight of a new sample. */
const ALPHA = 0.2;
/** An average that nothing has confirmed counts half after so long: a target that was slow once is tried again. */
const HALF_LIFE_MS = 30_000;

/** An exponential moving average in the unit of its samples. Times (`now`) are milliseconds since 1970. */
export class MovingAverage {
  private value: number | undefined;
  private at = 0;

  add(sample: number, now: number): void {
    this.value = this.value === undefined ? sample : this.value + ALPHA * (sample - this.value);
    this.at = now;
  }

  /** As it was measured; `undefined` without a sample. */
  get measured(): number | undefined {
    return this.value;
  }

  /** The same, less the older it is. */
  aged(now: number): number | undefined {
    const age = now - this.at;
    return this.value === undefined || age <= 0 ? this.value : this.value * 2 ** (-age / HALF_LIFE_MS);
  }
}

const STEPS_PER_DOUBLING = 4;
/** Up to 2^20 ms, 17 minutes. */
const BUCKETS = 20 * STEPS_PER_DOUBLING + 1;
/** With so many samples each counts half: the past fades. */
const MOST_SAMPLES = 512;

/** Durations in milliseconds, up to 17 minutes. Percentiles are at most 19 % too large. */
export class TimeHistogram {
  private readonly buckets = new Uint32Array(BUCKETS);
  private samples = 0;

  get count(): number {
    return this.samples;
  }

  add(ms: number): void {
    const bucket = Math.ceil(Math.log2(Math.max(ms, 1)) * STEPS_PER_DOUBLING);
    this.buckets[Math.min(bucket, BUCKETS - 1)]!++;
    if (++this.samples >= MOST_SAMPLES) this.halve();
  }

  /** The time within which this share (0 to 1) of the samples stayed; `undefined` without a sample. */
  percentile(share: number): number | undefined {
    if (this.samples === 0) return undefined;
    const rank = Math.ceil(this.samples * share);
    let seen = 0;
    for (const [bucket, count] of this.buckets.entries()) {
      seen += count;
      if (seen >= rank) return 2 ** (bucket / STEPS_PER_DOUBLING);
    }
    return 2 ** ((BUCKETS - 1) / STEPS_PER_DOUBLING);
  }

  private halve(): void {
    this.samples = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      this.buckets[bucket]! >>= 1;
      this.samples += this.buckets[bucket]!;
    }
  }
}
