/** Limits that several processes share through Redis: one script call for each admission, and a declared way on without it. */
import { GatewayError } from '../canonical/errors.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import { ADMIT, END, RENEW } from './limit-scripts.ts';
import { type Admitted, type Ask, allowance, type Limits, tightest, tooFast, type Used } from './limits.ts';
import { createLocalLimits } from './local-limits.ts';
import { createRedisLink } from './redis-link.ts';

export interface SharedLimitsSettings {
  url: string;
  /** Before every key in Redis. */
  prefix: string;
  /** How long an admission waits for Redis. */
  timeoutMs: number;
  /** Without Redis: `open` counts in this process alone, `closed` refuses with 503. */
  whenDown: 'open' | 'closed';
  /** By which clock windows move: Redis's own, which all processes share, or what `admit` is told. */
  clock?: 'redis' | 'caller';
  /** A killed process's calls count for so long; those of a living one are renewed four times as often. */
  leaseSeconds?: number;
  /** Redis has stopped answering, or answers again. */
  changed(isUp: boolean, cause: unknown): void;
}

const LEASE_SECONDS = 60;
/** How long Redis is left alone after it failed to answer; then one call tries it. */
const REST_MS = 1000;
/** So many unanswered calls in a row, and the connection itself is taken for dead. */
const SILENT_CALLS = 3;

/** A call this process has let in. */
interface Lease {
  readonly ask: Ask;
  /** Of each, the second at which Redis counted the call; absent until it has. */
  seconds?: string[];
  /** The tokens used, once it has ended. */
  used?: number;
}

const LIMITS = ['active', 'requests', 'tokens'] as const satisfies readonly (keyof Used)[];
/** Figures in the answer for each key or account. */
const FIGURES = 5;

export function createSharedLimits(settings: SharedLimitsSettings): Limits {
  const { leaseSeconds = LEASE_SECONDS } = settings;
  const link = createRedisLink(settings.url);
  /** Counts along, so that it knows what this process has let in when Redis goes away. */
  const local = createLocalLimits();
  const leases = new Map<string, Lease>();
  let isUp = true;
  let restUntil = 0;
  let silent = 0;
  let renewal: ReturnType<typeof setInterval> | undefined;

  const minuteKey = (id: string) => `${settings.prefix}limits:${id}:minute`;
  const callsKey = (id: string) => `${settings.prefix}limits:${id}:calls`;
  const keysOf = ({ paced }: Ask) => paced.flatMap(({ id }) => [minuteKey(id), callsKey(id)]);
  const clock = (now: number) => (settings.clock === 'caller' ? String(Math.floor(now / 1000)) : '');

  async function askRedis(ask: Ask, now: number): Promise<Admitted> {
    const lease: Lease = { ask };
    const args = [clock(now), ask.callId, String(ask.tokens), String(leaseSeconds)];
    for (const { requestsPerMinute = -1, tokensPerMinute = -1, concurrency = -1 } of ask.paced) {
      args.push(String(requestsPerMinute), String(tokensPerMinute), String(concurrency));
    }
    const answering = link.run(ADMIT, keysOf(ask), args).then((answer) => counted(lease, answer as number[], now));
    let answer: number[] | undefined;
    try {
      answer = await within(answering, settings.timeoutMs);
    } catch (cause) {
      wentDown(now, cause);
      return withoutRedis(lease, now);
    }
    if (!answer) {
      answering.catch(() => {});
      wentDown(now, new Error(`Redis did not answer within ${settings.timeoutMs} ms.`));
      if (++silent % SILENT_CALLS === 0) link.renew();
      return withoutRedis(lease, now);
    }
    cameUp(now);
    if (answer[0] === 0) throw refusalFrom(ask, answer);
    return begun(lease, local.note(ask, now), limitsFrom(ask, answer));
  }

  /** Takes note of an admission, which may come after the call went on without it, or ended. */
  function counted(lease: Lease, answer: number[], now: number): number[] {
    if (answer[0] !== 1) return answer;
    lease.seconds = lease.ask.paced.map((_, i) => String(answer[1 + i * FIGURES]));
    if (lease.used !== undefined) endInRedis(lease, now);
    return answer;
  }

  function withoutRedis(lease: Lease, now: number): Admitted {
    try {
      if (settings.whenDown === 'closed') throw notCounted();
      const admitted = local.admit(lease.ask, now);
      return begun(lease, admitted.end, admitted.limits ?? {});
    } catch (refusal) {
      lease.used = 0;
      if (lease.seconds) endInRedis(lease, now);
      throw refusal;
    }
  }

  function begun(lease: Lease, endLocally: Admitted['end'], limits: RateLimits): Admitted {
    const { callId, paced } = lease.ask;
    if (paced.some(({ concurrency }) => concurrency !== undefined)) {
      leases.set(callId, lease);
      renewal ??= setInterval(renew, leaseSeconds * 250).unref();
    }
    return {
      limits,
      end(usedTokens, now) {
        if (lease.used !== undefined) return;
        lease.used = usedTokens;
        leases.delete(callId);
        endLocally(usedTokens, now);
        endInRedis(lease, now);
      },
    };
  }

  /** Nobody waits for it: what it does not reach ends with its lease and its minute. */
  function endInRedis({ ask, seconds, used = 0 }: Lease, now: number): void {
    if (!isUp) return;
    const at = seconds ?? ask.paced.map(() => '');
    const args = [clock(now), ask.callId, String(Math.ceil(used) - ask.tokens), ...at];
    link.run(END, keysOf(ask), args).catch(() => {});
  }

  function renew(): void {
    const calls = new Map<string, string[]>();
    for (const { ask } of leases.values()) {
      for (const { id, concurrency } of ask.paced) {
        if (concurrency === undefined) continue;
        const key = callsKey(id);
        const running = calls.get(key);
        if (running) running.push(ask.callId);
        else calls.set(key, [ask.callId]);
      }
    }
    for (const [key, ids] of calls) link.run(RENEW, [key], ['', String(leaseSeconds), ...ids]).catch(() => {});
  }

  function wentDown(now: number, cause: unknown): void {
    restUntil = now + REST_MS;
    if (!isUp) return;
    isUp = false;
    settings.changed(false, cause);
  }

  function cameUp(now: number): void {
    silent = 0;
    if (isUp) return;
    isUp = true;
    restUntil = now;
    settings.changed(true, undefined);
    // What was let in meanwhile, and what a Redis that was started anew has forgotten.
    renew();
  }

  return {
    admit(ask, now) {
      if (now < restUntil) return withoutRedis({ ask }, now);
      if (!isUp) restUntil = now + REST_MS;
      return askRedis(ask, now);
    },
    close() {
      clearInterval(renewal);
      link.close();
    },
  };
}

function limitsFrom({ paced }: Ask, answer: readonly number[]): RateLimits {
  const limits: RateLimits = {};
  for (const [i, { requestsPerMinute, tokensPerMinute }] of paced.entries()) {
    const [, requests = 0, tokens = 0, requestsUntil = 0, tokensUntil = 0] = answer.slice(1 + i * FIGURES);
    if (requestsPerMinute !== undefined) {
      limits.requests = tightest(limits.requests, allowance(requestsPerMinute, requests, requestsUntil));
    }
    if (tokensPerMinute !== undefined) {
      limits.tokens = tightest(limits.tokens, allowance(tokensPerMinute, tokens, tokensUntil));
    }
  }
  return limits;
}

function refusalFrom(ask: Ask, [, index = 0, limit = 0, retryAfterSeconds = 1, ...figures]: readonly number[]) {
  const paced = ask.paced[index];
  const name = LIMITS[limit];
  if (!paced || !name) throw new Error(`Redis refused a call by limit ${limit} of ${index}, which there is not.`);
  const rateLimits = limitsFrom({ ...ask, paced: [paced] }, [0, ...figures]);
  return tooFast(paced, name, { tokens: ask.tokens, retryAfterSeconds, rateLimits });
}

function notCounted(): GatewayError {
  const sentence = 'The limits of this key cannot be checked at the moment. Please try again.';
  return new GatewayError('upstream_unavailable', sentence, { retryAfterSeconds: 1 });
}

/** The promise's value, or `undefined` where it takes longer than this. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
