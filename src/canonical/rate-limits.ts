/** How much of what may be called per minute is left, as clients are told it. */

export interface Allowance {
  limit: number;
  /** Never below zero. */
  remaining: number;
  /** Until all of it is there again. */
  resetSeconds: number;
}

/** An absent member has no limit. */
export interface RateLimits {
  requests?: Allowance;
  tokens?: Allowance;
}
