/** What is left of the rate limits, as reported to clients. */

export interface RateLimit {
  limit: number;
  /** Never negative. */
  remaining: number;
  /** Seconds until the whole limit is available again. */
  resetSeconds: number;
}

/** An absent member has no limit. */
export interface RateLimits {
  requests?: RateLimit;
  tokens?: RateLimit;
}
