/** Headers with a caller's remaining limits, under the names that the official libraries document. */
import type { RateLimits } from '../../canonical/rate-limits.ts';

/** `now`: milliseconds since 1970. */
export type LimitHeaders = (limits: RateLimits, now: number) => { [header: string]: string };

const KINDS = ['requests', 'tokens'] as const;

export const openaiLimitHeaders: LimitHeaders = (limits) => {
  const headers: { [header: string]: string } = {};
  for (const kind of KINDS) {
    const left = limits[kind];
    if (!left) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(left.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(left.remaining);
    headers[`x-ratelimit-reset-${kind}`] = duration(left.resetSeconds);
  }
  return headers;
};

export const anthropicLimitHeaders: LimitHeaders = (limits, now) => {
  const headers: { [header: string]: string } = {};
  for (const kind of KINDS) {
    const left = limits[kind];
    if (!left) continue;
    const reset = new Date(now + left.resetSeconds * 1000).toISOString();
    headers[`anthropic-ratelimit-${kind}-limit`] = String(left.limit);
    headers[`anthropic-ratelimit-${kind}-remaining`] = String(left.remaining);
    headers[`anthropic-ratelimit-${kind}-reset`] = `${reset.slice(0, 19)}Z`;
  }
  return headers;
};

/** A duration in OpenAI's notation: "45s", "1m0s". */
function duration(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
