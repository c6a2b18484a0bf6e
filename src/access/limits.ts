/** How fast a key may call: requests and tokens per minute, calls at once; counted in this process. */
import { GatewayError } from '../canonical/errors.ts';
import type { KeyRow } from '../store/store.ts';
import { createWindow, type Window } from './window.ts';

interface Pace {
  requests: Window;
  tokens: Window;
  active: number;
}

/** Ends an admitted call with the tokens it used; a second time it does nothing. */
export type EndCall = (usedTokens: number) => void;

export interface Limits {
  /** Admits a call of this key, or throws `rate_limited`. */
  admit(key: KeyRow, estimatedTokens: number, now: number): EndCall;
}

/** Above so many keys the idle ones are forgotten: some 1.5 KB each. */
const KEYS_KEPT = 10_000;
const unlimited: EndCall = () => {};

export function createLimits(): Limits {
  const paces = new Map<string, Pace>();

  return {
    admit(key, estimatedTokens, now) {
      const { requestsPerMinute, tokensPerMinute, concurrency } = key;
      if (requestsPerMinute === undefined && tokensPerMinute === undefined && concurrency === undefined)
        return unlimited;
      const pace = paceOf(key.id, now);
      const requests = pace.requests.sum(now);
      const tokens = pace.tokens.sum(now);
      if (concurrency !== undefined && pace.active >= concurrency) {
        throw tooFast(`This key may run ${count(concurrency, 'call')} at once`, 1);
      }
      if (requestsPerMinute !== undefined && requests >= requestsPerMinute) {
        const wait = pace.requests.secondsUntil(requestsPerMinute - 1);
        throw tooFast(`This key may make ${count(requestsPerMinute, 'request')} per minute`, wait);
      }
      if (tokensPerMinute !== undefined && tokens + estimatedTokens > tokensPerMinute) {
        const wait = pace.tokens.secondsUntil(tokensPerMinute - estimatedTokens);
        const asked = `This key may use ${count(tokensPerMinute, 'token')} per minute, and the call may need ${estimatedTokens}`;
        throw tooFast(estimatedTokens > tokensPerMinute ? `${asked}: ask for fewer output tokens` : asked, wait);
      }
      return begin(pace, estimatedTokens);
    },
  };

  function paceOf(id: string, now: number): Pace {
    let pace = paces.get(id);
    if (pace) return pace;
    if (paces.size >= KEYS_KEPT) forgetIdle(now);
    pace = { requests: createWindow(), tokens: createWindow(), active: 0 };
    paces.set(id, pace);
    return pace;
  }

  function forgetIdle(now: number): void {
    for (const [id, { requests, tokens, active }] of paces) {
      if (active === 0 && requests.sum(now) <= 0 && tokens.sum(now) <= 0) paces.delete(id);
    }
  }
}

/** Counts a call as begun; its tokens are an estimate until it ends. */
function begin(pace: Pace, estimatedTokens: number): EndCall {
  pace.requests.add(1);
  const second = pace.tokens.add(estimatedTokens);
  pace.active++;
  let ended = false;
  return (usedTokens) => {
    if (ended) return;
    ended = true;
    pace.active--;
    pace.tokens.correct(second, usedTokens - estimatedTokens);
  };
}

function tooFast(limit: string, retryAfterSeconds: number): GatewayError {
  const message = `${limit}. Please try again in ${count(retryAfterSeconds, 'second')}.`;
  return new GatewayError('rate_limited', message, { retryAfterSeconds });
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
