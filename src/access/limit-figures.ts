/** Reads what the script that admits calls returns for one of them. */
import type { GatewayError } from '../canonical/errors.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import { type LimitRequest, lessLeft, type Paced, tooFast, type Used } from './limits.ts';

/** The script's answer for one call, as `limit-scripts.ts` describes it. */
export type Figures = readonly number[];

const LIMITS = ['active', 'requests', 'tokens'] as const satisfies readonly (keyof Used)[];
/** How many figures there are for each key or account, and where they begin. */
const EACH = 6;
const ADMITTED_FROM = 1;
const REFUSED_FROM = 4;

export const isAdmission = (answer: Figures): boolean => answer[0] === 1;

/** The second in which each key or account of an admitted call was counted. */
export const countedSeconds = ({ paced }: LimitRequest, answer: Figures): number[] =>
  paced.map((_, i) => answer[ADMITTED_FROM + i * EACH] ?? 0);

/** The usage of a key or account of an admitted call. */
export const usedOf = (index: number, answer: Figures): Used => usedFrom(ADMITTED_FROM + index * EACH, answer);

/** The usage of the key or account that refused a call. */
export const usedOfRefusing = (answer: Figures): Used => usedFrom(REFUSED_FROM, answer);

const usedFrom = (from: number, answer: Figures): Used => ({
  requests: answer[from + 1] ?? 0,
  tokens: answer[from + 2] ?? 0,
  active: answer[from + 5] ?? 0,
});

/** What is left of the limits of an admitted call. */
export const limitsLeft = ({ paced }: LimitRequest, answer: Figures): RateLimits =>
  limitsFrom(paced, answer, ADMITTED_FROM);

function limitsFrom(all: readonly Paced[], answer: Figures, from: number): RateLimits {
  const limits: RateLimits = {};
  for (const [i, { requestsPerMinute, tokensPerMinute }] of all.entries()) {
    const at = from + i * EACH;
    if (requestsPerMinute !== undefined) {
      limits.requests = lessLeft(limits.requests, requestsPerMinute, answer[at + 1] ?? 0, answer[at + 3] ?? 0);
    }
    if (tokensPerMinute !== undefined) {
      limits.tokens = lessLeft(limits.tokens, tokensPerMinute, answer[at + 2] ?? 0, answer[at + 4] ?? 0);
    }
  }
  return limits;
}

/** The key or account that refused a call. */
export const refusingOf = ({ paced }: LimitRequest, answer: Figures): Paced | undefined => paced[answer[1] ?? 0];

export function refusalFrom(ask: LimitRequest, answer: Figures): GatewayError {
  const [, index, limit = 0, retryAfterSeconds = 1] = answer;
  const paced = refusingOf(ask, answer);
  const name = LIMITS[limit];
  if (!paced || !name) throw new Error(`Redis refused a call by limit ${limit} of ${index}, which does not exist.`);
  const rateLimits = limitsFrom([paced], answer, REFUSED_FROM);
  return tooFast(paced, name, { tokens: ask.tokens, retryAfterSeconds, rateLimits });
}
