/** What a scrape consists of: metric families with their samples, as plain data that can be sent from one process to another. */

export type MetricType = 'counter' | 'gauge' | 'histogram';

export interface MetricFamily {
  /** The name of its samples; of a counter it ends with `_total`. */
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  /** The names of the labels, in the order of their values in each sample. */
  readonly labels: readonly string[];
  /** Says the same in every process that uses the database: it is written once, without the number of a process. */
  readonly isShared?: true;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** An empty value is a label that the sample does not have. */
  readonly labels: readonly string[];
  /** Of a histogram: the sum of all observed values. */
  readonly value: number;
  /** Of a histogram: the upper bounds of its buckets. */
  readonly bounds?: readonly number[];
  /** Of a histogram: observations in each bucket alone; the last one is above all bounds. */
  readonly counts?: readonly number[];
}

/** Counts values in buckets. To observe one takes a few comparisons and two additions in typed arrays. */
export class Histogram {
  private readonly bounds: Float64Array;
  private readonly counts: Float64Array;
  private sum = 0;

  constructor(bounds: Float64Array) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.counts[bucket]! += 1;
    this.sum += value;
  }

  sample(labels: readonly string[]): Sample {
    return { labels, value: this.sum, bounds: [...this.bounds], counts: [...this.counts] };
  }
}

/** Counts by the values of one label. */
export class Counter {
  private readonly values = new Map<string, number>();
  private readonly most: number;

  /** `most`: values beyond so many different ones are counted as `other`. */
  constructor(most = MOST_VALUES) {
    this.most = most;
  }

  add(value: string, amount = 1): void {
    const known = this.values.get(value);
    if (known !== undefined) this.values.set(value, known + amount);
    else if (this.values.size < this.most || value === OTHER) this.values.set(value, amount);
    else this.add(OTHER, amount);
  }

  samples(): Sample[] {
    return [...this.values].map(([label, value]) => ({ labels: [label], value }));
  }
}

/** The label value for everything beyond the maximum number of series. */
export const OTHER = 'other';
const MOST_VALUES = 200;
