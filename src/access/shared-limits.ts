/** Limits that several processes share through Redis: one script call for each admission, and a configured behaviour when Redis is away. */
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import { answerWithin } from './answer-within.ts';
import {
  countedSeconds,
  type Figures,
  isAdmission,
  limitsLeft,
  refusalFrom,
  refusingOf,
  usedOf,
  usedOfRefusing,
} from './limit-figures.ts';
import { LEAVE, PRESENT, RELEASE, RENEW, REPORT } from './limit-scripts.ts';
import { createLimitTurns, type WaitingAdmission } from './limit-turns.ts';
import type { Admitted, LimitRequest, Limits, Paced, SeenLimits } from './limits.ts';
import { createLocalLimits } from './local-limits.ts';
import { createPortions, type ProcessPosition } from './portions.ts';
import { createRedisLink, type RedisLink } from './redis-link.ts';
import { createSharedClock } from './shared-clock.ts';
import { createUnreported } from './unreported.ts';

export interface SharedLimitsSettings {
  url: string;
  /** Absent: a connection to `url`. */
  link?: RedisLink;
  /** The prefix of every key in Redis. */
  prefix: string;
  /** How long an admission waits for Redis. */
  timeoutMs: number;
  /** When Redis is away: `open` lets each process use its part of the limits, `closed` refuses with 503. */
  whenDown: 'open' | 'closed';
  /** The index of this process and the number of processes, as far as known without Redis. Absent: the only one. */
  standing?: ProcessPosition;
  /** Monotonic time in milliseconds. Absent: `performance.now`. */
  clock?: () => number;
  /** How long the calls of a killed process still count. Leases of live processes are renewed four times as often. */
  leaseSeconds?: number;
  /** Milliseconds between two heartbeats. Absent: 1000. */
  beatMs?: number;
  /** Called when Redis stops answering, or answers again. */
  changed(isUp: boolean, cause: unknown): void;
  /** Receives how long each script in Redis took. */
  answered?: ((ms: number) => void) | undefined;
}

const LEASE_SECONDS = 15;
/** How often a process renews its lease and tries to reach a Redis that is away. */
const BEAT_MS = 1000;
/** After this time without renewal a process no longer has a part of the limits. */
const PRESENT_SECONDS = 10;
/** After this many unanswered heartbeats in a row the connection is replaced. */
const SILENT_BEATS = 3;
/** The maximum of calls named in one script call. */
const AT_ONCE = 500;

/** A call that this process admitted. */
interface LimitLease {
  readonly ask: LimitRequest;
  /** For each key or account the second in which Redis counted the call. Absent until Redis has. */
  seconds?: number[];
  /** Set if the call was admitted without Redis, until Redis counts it, too. */
  forgetReport?: (() => void) | undefined;
  /** Redis did not answer, so whether it admitted the call is unknown. */
  isInDoubt?: boolean;
  /** The tokens used; set when the call has ended. */
  used?: number;
}

const isCountedAtOnce = ({ concurrency }: Paced) => concurrency !== undefined;

export function createSharedLimits(settings: SharedLimitsSettings): Limits {
  const { leaseSeconds = LEASE_SECONDS, clock = () => performance.now() } = settings;
  const beatMs = Math.min(settings.beatMs ?? BEAT_MS, leaseSeconds * 250);
  const link = settings.link ?? createRedisLink(settings.url, settings.answered);
  const self = newId('proc_', 12);
  const sharedClock = createSharedClock(clock);
  /** Counts in parallel, so that the process knows its own usage when Redis goes away. */
  const local = createLocalLimits(clock);
  const portions = createPortions(clock);
  const unreported = createUnreported(clock);
  const leases = new Map<string, LimitLease>();
  /** Ended calls that may still have a place in Redis, and until when the removal is retried. */
  const owed = new Map<string, { ask: LimitRequest; until: number }>();
  /** `returning`: Redis answers again, and every process first reports what it admitted meanwhile. */
  let state: 'up' | 'down' | 'returning' = 'up';
  let standing: ProcessPosition = settings.standing ?? { index: 0, count: 1 };
  let epoch: string | undefined;
  let silent = 0;
  let isBeating = false;
  let isClosed = false;
  let beats: ReturnType<typeof setInterval> | undefined;
  let renewedAt = clock();

  const clockKey = `${settings.prefix}limits:clock`;
  const processesKey = `${settings.prefix}limits:processes`;
  const minuteKey = (id: string) => `${settings.prefix}limits:${id}:minute`;
  const callsKey = (id: string) => `${settings.prefix}limits:${id}:calls`;
  const turns = createLimitTurns({
    link,
    clockKey,
    keysOf: (id) => [minuteKey(id), callsKey(id)],
    clock: sharedClock,
    self,
    leaseSeconds,
    timeoutMs: () => settings.timeoutMs,
  });

  /** One key or account after the other: a refusal reports the usage of one only. */
  async function look(ask: LimitRequest): Promise<SeenLimits> {
    const seen: SeenLimits['seen'][number][] = [];
    let refusal: GatewayError | undefined;
    for (const paced of ask.paced) {
      const one = { ...ask, paced: [paced] };
      const answer = state === 'up' ? await lookInRedis(one) : undefined;
      if (!answer) return lookHere(ask);
      const isFree = isAdmission(answer);
      if (!isFree) refusal ??= refusalFrom(one, answer);
      seen.push({ paced, used: isFree ? usedOf(0, answer) : usedOfRefusing(answer) });
    }
    return { seen, refusal };
  }

  /** `undefined`: Redis does not answer. */
  function lookInRedis(ask: LimitRequest): Promise<Figures | undefined> {
    return new Promise((resolve) => {
      const silent = () => resolve(undefined);
      turns.admit({ ask: { ...ask, callId: '' }, counted: resolve, late: silent, failed: silent });
    });
  }

  function lookHere(ask: LimitRequest): SeenLimits {
    const here = local.look(ask, (paced) => portions.of(paced, standing));
    return settings.whenDown === 'closed' ? { ...here, refusal: notCounted() } : here;
  }

  function askRedis(ask: LimitRequest): Promise<Admitted> {
    return new Promise((resolve, reject) => {
      const lease: LimitLease = { ask };
      let isAnswered = false;
      const goOnAlone = (cause: unknown) => {
        isAnswered = true;
        wentDown(cause);
        try {
          resolve(withoutRedis(lease));
        } catch (refusal) {
          reject(refusal);
        }
      };
      const waiting: WaitingAdmission = {
        ask,
        counted(answer) {
          const isFree = isAdmission(answer);
          if (isFree) lease.seconds = countedSeconds(ask, answer);
          if (isAnswered) return countedLate(lease);
          if (isFree) resolve(admitted(lease, answer));
          else reject(refused(ask, answer));
          isAnswered = true;
        },
        late: () => goOnAlone(new Error(`Redis did not answer within ${settings.timeoutMs} ms.`)),
        failed(cause) {
          lease.isInDoubt = true;
          if (!isAnswered) goOnAlone(cause);
          else if (lease.used !== undefined) giveBack(lease);
        },
      };
      turns.admit(waiting);
    });
  }

  /** Redis counted a call that went on without it, and may have ended. */
  function countedLate(lease: LimitLease): void {
    if (!lease.seconds) return;
    lease.forgetReport?.();
    lease.forgetReport = undefined;
    if (lease.used !== undefined) giveBack(lease);
  }

  function admitted(lease: LimitLease, answer: Figures): Admitted {
    const endLocally = local.note(lease.ask);
    for (const [i, { id }] of lease.ask.paced.entries()) {
      portions.counted(id, usedOf(i, answer), local.used(id));
    }
    return begun(lease, endLocally, limitsLeft(lease.ask, answer));
  }

  function refused(ask: LimitRequest, answer: Figures): GatewayError {
    const paced = refusingOf(ask, answer);
    if (paced) portions.counted(paced.id, usedOfRefusing(answer), local.used(paced.id));
    return refusalFrom(ask, answer);
  }

  function withoutRedis(lease: LimitLease): Admitted {
    try {
      if (settings.whenDown === 'closed') throw notCounted();
      const admitted = local.admit(lease.ask, (paced) => portions.of(paced, standing));
      if (!lease.seconds) lease.forgetReport = unreported.add(lease.ask);
      return begun(lease, admitted.end, admitted.limits ?? {});
    } catch (refusal) {
      lease.used = 0;
      if (lease.seconds || lease.isInDoubt) giveBack(lease);
      throw refusal;
    }
  }

  function begun(lease: LimitLease, endLocally: Admitted['end'], limits: RateLimits): Admitted {
    const { callId, paced } = lease.ask;
    if (paced.some(isCountedAtOnce)) leases.set(callId, lease);
    return {
      limits,
      end(usedTokens) {
        if (lease.used !== undefined) return;
        lease.used = usedTokens;
        leases.delete(callId);
        endLocally(usedTokens);
        giveBack(lease);
      },
    };
  }

  /** Not awaited. What does not reach Redis is retried later, or expires with its lease. */
  function giveBack(lease: LimitLease): void {
    const { ask, seconds, used = 0, isInDoubt = false } = lease;
    if (isClosed) return;
    if (state === 'down' || isInDoubt) owe(ask);
    if (state === 'down') return;
    turns.end({ ask, seconds, difference: Math.ceil(used) - ask.tokens, failed: () => owe(ask) });
  }

  function owe(ask: LimitRequest): void {
    if (ask.paced.some(isCountedAtOnce)) owed.set(ask.callId, { ask, until: clock() + leaseSeconds * 1000 });
  }

  /** Retries removals. An admission of unknown result may still arrive at Redis, so its removal is repeated until its lease is over. */
  function payOwed(): void {
    const now = clock();
    for (const [key, calls] of callsByKey([...owed.values()].map(({ ask }) => ask))) {
      for (const some of inParts(calls)) link.run(RELEASE, () => ({ keys: [key], args: some })).catch(() => {});
    }
    for (const [id, { until }] of owed) if (until <= now) owed.delete(id);
  }

  function renew(): void {
    renewedAt = clock();
    for (const [key, calls] of callsByKey([...leases.values()].map(({ ask }) => ask))) {
      for (const some of inParts(calls)) {
        // A call that ends before this is sent may be in a script that is sent earlier: renewed after it, the call would keep its place.
        const args = () => [sharedClock.say(), self, String(leaseSeconds), ...some.filter((id) => leases.has(id))];
        link.run(RENEW, () => ({ keys: [clockKey, key], args: args() })).catch(() => {});
      }
    }
  }

  function callsByKey(asks: readonly LimitRequest[]): Map<string, string[]> {
    const calls = new Map<string, string[]>();
    for (const { callId, paced } of asks) {
      for (const { id } of paced.filter(isCountedAtOnce)) {
        const key = callsKey(id);
        const known = calls.get(key);
        if (known) known.push(callId);
        else calls.set(key, [callId]);
      }
    }
    return calls;
  }

  /** Reports to Redis what it does not know: calls admitted without it, or all calls if it was restarted. */
  function report(used: Iterable<[id: string, requests: number, tokens: number]>): void {
    for (const some of inParts([...used])) {
      const keys = [clockKey, ...some.map(([id]) => minuteKey(id))];
      const figures = some.flatMap(([, requests, tokens]) => [String(requests), String(Math.ceil(tokens))]);
      link.run(REPORT, () => ({ keys, args: [sharedClock.say(), self, ...figures] })).catch(() => {});
    }
    unreported.clear();
  }

  async function beat(): Promise<void> {
    // A heartbeat that is still in progress makes another one unnecessary.
    if (isBeating) return;
    isBeating = true;
    try {
      const args = [sharedClock.say(), self, String(PRESENT_SECONDS)];
      const asked = link.run(PRESENT, () => ({ keys: [clockKey, processesKey], args }));
      const seen = await answerWithin(asked, settings.timeoutMs);
      if (isClosed) return;
      if (seen) present(seen as [number, string, string[]]);
      else {
        wentDown(new Error(`Redis did not answer within ${settings.timeoutMs} ms.`));
        if (++silent % SILENT_BEATS === 0) link.renew();
      }
    } catch (cause) {
      if (!isClosed) wentDown(cause);
    } finally {
      isBeating = false;
    }
  }

  function present([now, seenEpoch, processes]: [number, string, string[]]): void {
    silent = 0;
    sharedClock.heard(now);
    const isNew = epoch !== undefined && epoch !== seenEpoch;
    epoch = seenEpoch;
    if (isNew) {
      portions.forget();
      report(allUsed());
    } else if (state !== 'up') report(unreported.all());
    standing = standingAmong(processes, isNew || state !== 'up');
    if (isNew || state === 'down') {
      if (state === 'up') settings.changed(false, new Error('Redis was restarted.'));
      state = 'returning';
    } else if (state === 'returning') {
      state = 'up';
      settings.changed(true, undefined);
    }
    if (isNew || state === 'returning' || clock() - renewedAt >= leaseSeconds * 250) renew();
    if (owed.size > 0) payOwed();
  }

  function* allUsed(): Generator<[id: string, requests: number, tokens: number]> {
    for (const [id, { requests, tokens }] of local.all()) yield [id, requests, tokens];
  }

  /** A Redis that has just come back does not know every process yet. */
  function standingAmong(processes: readonly string[], isFresh: boolean): ProcessPosition {
    const index = processes.toSorted().indexOf(self);
    const known = { index: Math.max(0, index), count: Math.max(1, processes.length) };
    return isFresh && known.count < standing.count ? standing : known;
  }

  function wentDown(cause: unknown): void {
    if (state === 'down') return;
    const wasUp = state === 'up';
    state = 'down';
    if (wasUp) settings.changed(false, cause);
  }

  function start(): void {
    if (beats !== undefined || isClosed) return;
    beats = setInterval(() => void beat(), beatMs);
    beats.unref();
    void beat();
  }

  return {
    start,
    admit(ask) {
      start();
      return state === 'up' ? askRedis(ask) : withoutRedis({ ask });
    },
    look,
    close() {
      isClosed = true;
      clearInterval(beats);
      const leave = () => link.run(LEAVE, () => ({ keys: [processesKey], args: [self] }));
      const leaving = beats && state === 'up' ? leave() : Promise.resolve();
      answerWithin(leaving, settings.timeoutMs)
        .catch(() => {})
        .finally(() => link.close());
    },
  };
}

function inParts<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < all.length; from += AT_ONCE) parts.push(all.slice(from, from + AT_ONCE));
  return parts;
}

function notCounted(): GatewayError {
  const sentence = 'The limits of this key cannot be checked at the moment. Please try again.';
  return new GatewayError('upstream_unavailable', sentence, { retryAfterSeconds: 1 });
}
