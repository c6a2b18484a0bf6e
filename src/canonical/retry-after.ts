/** The wait that a provider requests: `retry-after` in its forms, and the resets of rate limits. */

/** The value of the header of this lower-case name. */
type Header = (name: string) => string | null | undefined;

const DURATION =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
/** Engines read years out of words that are no dates. */
const DATE = /^\d{4}-\d\d-\d\dT|^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} /;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000, 1] as const;
/** Plain numbers from here on are times since 1970: in seconds, in milliseconds. */
const EPOCH_SECONDS = 1_000_000_000;
const EPOCH_MS = 1_000_000_000_000;

/**
 * Milliseconds from a reset as providers write it: seconds (`12`), a duration (`6m0s`, `350ms`), a time since 1970, or a date. Times and
 * dates are held against the response's own `date`, since there is no clock here; `undefined` where they cannot be.
 */
export function waitMs(value: string | null | undefined, date: string | null | undefined): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const number = Number(text);
  if (number >= EPOCH_SECONDS) return since(number >= EPOCH_MS ? number : number * 1000, date);
  if (number >= 0) return number * 1000;
  const duration = DURATION.exec(text);
  if (duration) return UNITS_MS.reduce((sum, unit, index) => sum + Number(duration[index + 1] ?? 0) * unit, 0);
  return DATE.test(text) ? since(Date.parse(text), date) : undefined;
}

function since(time: number, date: string | null | undefined): number | undefined {
  const wait = time - Date.parse(date ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** `retry-after-ms`, else `retry-after`; where a rate limit was reached also the reset of the limit that is used up. Milliseconds. */
export function retryAfterMs(header: Header, isLimited: boolean): number | undefined {
  const milliseconds = header('retry-after-ms');
  if (milliseconds && Number(milliseconds) >= 0) return Number(milliseconds);
  const date = header('date');
  const asked = waitMs(header('retry-after'), date);
  return asked === undefined && isLimited ? usedUpMs(header, date) : asked;
}

const LIMITS = [
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
] as const;

/** If no limit is used up: the earliest reset. */
function usedUpMs(header: Header, date: string | null | undefined): number | undefined {
  let usedUp: number | undefined;
  let soonest = waitMs(header('x-ratelimit-reset'), date);
  for (const [remaining, reset] of LIMITS) {
    const wait = waitMs(header(reset), date);
    if (wait === undefined) continue;
    if (Number(header(remaining) ?? 1) <= 0) usedUp = Math.max(usedUp ?? 0, wait);
    soonest = Math.min(soonest ?? wait, wait);
  }
  return usedUp ?? soonest;
}
