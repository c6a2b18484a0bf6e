/** What a chart over time shows. */

export interface PlotSeries {
  label: string;
  values: readonly (number | null)[];
  /** `before` is dashed grey; the others take the palette in order. */
  isBefore?: boolean;
}

export interface PlotProps {
  /** What the chart says, for those who do not see it. */
  label: string;
  /** Milliseconds, ascending. */
  times: readonly number[];
  series: readonly PlotSeries[];
  height: string;
  write: (value: number) => string;
  writeTime: (at: number) => string;
  /** Short, below the axis. */
  writeAxis: (at: number) => string;
  /** The axis is divided at midnight UTC instead of the reader's. */
  inUtc?: boolean;
}
