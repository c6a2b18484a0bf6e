/** The only file that opens a connection to an upstream: time limits, bounds, the outbound guard. */

/** Milliseconds; every limit has its own error. */
export interface TimeLimits {
  connectMs: number;
  headersMs: number;
  firstTokenMs: number;
  silenceMs: number;
  wholeMs: number;
}
