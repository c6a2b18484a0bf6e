/** Which of a provider's credentials a call uses: in turn, and none that the provider lately refused or limited. */
import type { GatewayError } from '../canonical/errors.ts';
import type { RemainingLimits } from './remaining-limits.ts';

/** A target as far as its credentials go. */
export interface Credentialed {
  id: string;
  provider: string;
  credentials: readonly string[];
}

/** Why no credential of a target may be used now, and until when. */
export interface Unusable {
  until: number;
  /** Rate limits are the reason, of every credential; else at least one was refused. */
  limited: boolean;
  /** The provider did not name the time of a rate limit: the target is only put behind the others. */
  guessed?: true;
}

/** What an admin sees of a credential that is cooling down: its place in the provider's list, from 1. */
export interface CoolingCredential {
  place: number;
  until: number;
  reason: 'refused' | 'limited';
}

export interface Credentials {
  /** One that is not cooling down and not among `tried`. The first time, where all are cooling down, the one that is done soonest.
   *  `undefined`: none is left, or the provider needs none. `tokens`: what the call may take of a rate limit. */
  choose(
    target: Credentialed,
    now: number,
    tried?: readonly (string | undefined)[],
    tokens?: number,
  ): string | undefined;
  /** What is sent counts against what the provider said is left, until it says anew. */
  spend(target: Credentialed, credential: string | undefined, tokens: number): void;
  /** Cools the credential down where the error is about it; says whether it is. */
  failed(target: Credentialed, credential: string | undefined, error: GatewayError, now: number): boolean;
  succeeded(target: Credentialed, credential: string | undefined, now: number): void;
  /** A response says what is left of the provider's rate limits. */
  remains(target: Credentialed, credential: string | undefined, left: RemainingLimits, now: number): void;
  /** Where every credential is cooling down: until when; `undefined` where one may be used. */
  unusable(target: Credentialed, now: number): Unusable | undefined;
  /** Those that are not cooling down; all where all are. */
  usable(target: Credentialed, now: number): readonly string[];
  cooling(target: Credentialed, now: number): CoolingCredential[];
  /** All credentials of the target may be used again. */
  reset(target: Credentialed): void;
  keepOnly(targets: readonly Credentialed[]): void;
}

interface Cooldown {
  /** In a row. */
  failures: number;
  until: number;
  limited: boolean;
  /** The provider named the time. */
  isTold: boolean;
}

/** What is left of a provider's rate limit, less what was sent since it said so. */
interface Allowance {
  requests: number;
  tokens: number;
  until: number;
}

/** A credential that was refused, or whose account is empty, is tried again after so long: by one call, which has others to go on with. */
const REFUSED_FIRST_MS = 10_000;
/** One that is limited, where the provider does not say for how long. */
const LIMITED_FIRST_MS = 1000;
const LIMITED_LONGEST_MS = 10_000;
/** No cooldown is longer, whatever the provider asks for. */
const LONGEST_MS = 60_000;
/** While one call tries a credential again, the others go on without it. */
const PROBE_MS = 10_000;

export interface CredentialsOptions {
  /** A credential (its place in the provider's list, from 1) is not used for a while: it was refused. */
  refused?: ((provider: string, place: number, seconds: number) => void) | undefined;
}

export function createCredentials({ refused }: CredentialsOptions = {}): Credentials {
  /** By `ownKey` what concerns the credential as such, by `limitKey` its rate limit on one model. Empty while all is well. */
  const cooldowns = new Map<string, Cooldown>();
  /** By `limitKey`. Empty while no provider says that little is left. */
  const allowances = new Map<string, Allowance>();
  /** How many credentials each provider has handed out. */
  const turns = new Map<string, number>();

  function cooldownOf(target: Credentialed, credential: string | undefined): Cooldown | undefined {
    if (cooldowns.size === 0) return undefined;
    const own = cooldowns.get(ownKey(target, credential));
    const limit = cooldowns.get(limitKey(target, credential));
    return own && limit ? (own.until > limit.until ? own : limit) : (own ?? limit);
  }

  function isCooling(cooldown: Cooldown, now: number): boolean {
    // None is that long: the clock was set back.
    if (cooldown.until - now > LONGEST_MS) cooldown.until = now;
    return cooldown.until > now;
  }

  function isUsedUp(target: Credentialed, credential: string | undefined, now: number, tokens: number): boolean {
    if (allowances.size === 0) return false;
    const key = limitKey(target, credential);
    const left = allowances.get(key);
    if (!left) return false;
    if (left.until <= now || left.until - now > LONGEST_MS) {
      allowances.delete(key);
      return false;
    }
    return left.requests < 1 || left.tokens < tokens;
  }

  function untilOf(target: Credentialed, credential: string | undefined): number {
    const cooldown = cooldownOf(target, credential)?.until ?? 0;
    return Math.max(cooldown, allowances.get(limitKey(target, credential))?.until ?? 0);
  }

  const soonest = (target: Credentialed) =>
    target.credentials.reduce((a, b) => (untilOf(target, b) < untilOf(target, a) ? b : a));

  function chooseAmong(
    target: Credentialed,
    now: number,
    tried: readonly (string | undefined)[],
    tokens: number,
  ): string | undefined {
    const { provider, credentials } = target;
    const turn = turns.get(provider) ?? 0;
    for (let i = 0; i < credentials.length; i++) {
      const credential = credentials[(turn + i) % credentials.length]!;
      if (tried.includes(credential)) continue;
      const cooldown = cooldownOf(target, credential);
      if (cooldown && isCooling(cooldown, now)) continue;
      if (isUsedUp(target, credential, now, tokens)) continue;
      if (cooldown) cooldown.until = now + PROBE_MS;
      turns.set(provider, turn + i + 1);
      return credential;
    }
    return tried.length === 0 ? soonest(target) : undefined;
  }

  return {
    choose(target, now, tried = [], tokens = 0) {
      const { credentials } = target;
      if (credentials.length < 2) return tried.length === 0 ? credentials[0] : undefined;
      return chooseAmong(target, now, tried, tokens);
    },

    spend(target, credential, tokens) {
      if (allowances.size === 0) return;
      const left = allowances.get(limitKey(target, credential));
      if (!left) return;
      left.requests--;
      left.tokens -= tokens;
    },

    failed(target, credential, error, now) {
      const limited = error.code === 'rate_limited';
      if (!limited && !error.credentialRefused) return false;
      const key = limited ? limitKey(target, credential) : ownKey(target, credential);
      const before = cooldowns.get(key);
      const failures = (before?.failures ?? 0) + 1;
      const ms = limited ? limitedMs(error, failures) : backOff(REFUSED_FIRST_MS, LONGEST_MS, failures);
      const isTold = limited && (error.retryAfterSeconds ?? 0) > 0;
      cooldowns.set(key, { failures, until: now + ms, limited, isTold });
      const place = credential === undefined ? 0 : target.credentials.indexOf(credential) + 1;
      if (!limited && !before) refused?.(target.provider, place, ms / 1000);
      return true;
    },

    succeeded(target, credential, now) {
      if (cooldowns.size === 0) return;
      cooldowns.delete(ownKey(target, credential));
      // A wait that the provider asked for lasts its time.
      const limit = limitKey(target, credential);
      if ((cooldowns.get(limit)?.until ?? 0) <= now) cooldowns.delete(limit);
    },

    remains(target, credential, { requests, tokens, resetMs }, now) {
      const until = now + Math.min(resetMs, LONGEST_MS);
      allowances.set(limitKey(target, credential), { requests, tokens, until });
    },

    unusable(target, now) {
      if (cooldowns.size === 0 && allowances.size === 0) return undefined;
      const { credentials } = target;
      let until = Number.POSITIVE_INFINITY;
      let limited = true;
      let guessed = false;
      for (const credential of credentials.length > 0 ? credentials : NONE) {
        const cooldown = cooldownOf(target, credential);
        const isOut = cooldown !== undefined && isCooling(cooldown, now);
        if (!isOut && !isUsedUp(target, credential, now, 0)) return undefined;
        if (isOut && !cooldown.limited) limited = false;
        if (isOut && cooldown.limited && !cooldown.isTold) guessed = true;
        until = Math.min(until, untilOf(target, credential));
      }
      return { until, limited, ...(guessed && { guessed }) };
    },

    usable(target, now) {
      const { credentials } = target;
      if (credentials.length < 2 || (cooldowns.size === 0 && allowances.size === 0)) return credentials;
      const left = credentials.filter((one) => {
        const cooldown = cooldownOf(target, one);
        return !(cooldown && isCooling(cooldown, now)) && !isUsedUp(target, one, now, 0);
      });
      return left.length > 0 ? left : credentials;
    },

    cooling(target, now) {
      return target.credentials.flatMap((credential, index): CoolingCredential[] => {
        const cooldown = cooldownOf(target, credential);
        const isOut = cooldown !== undefined && isCooling(cooldown, now);
        if (!isOut && !isUsedUp(target, credential, now, 0)) return [];
        const reason = isOut && !cooldown.limited ? 'refused' : 'limited';
        return [{ place: index + 1, until: untilOf(target, credential), reason }];
      });
    },

    reset(target) {
      for (const credential of [...target.credentials, undefined]) {
        cooldowns.delete(ownKey(target, credential));
        cooldowns.delete(limitKey(target, credential));
        allowances.delete(limitKey(target, credential));
      }
    },

    keepOnly(targets) {
      const kept = new Set(
        targets.flatMap((target) =>
          [...target.credentials, undefined].flatMap((one) => [ownKey(target, one), limitKey(target, one)]),
        ),
      );
      for (const key of cooldowns.keys()) if (!kept.has(key)) cooldowns.delete(key);
      for (const key of allowances.keys()) if (!kept.has(key)) allowances.delete(key);
    },
  };
}

/** A provider without credentials has one all the same: its address. */
const NONE: readonly undefined[] = [undefined];

const ownKey = ({ provider }: Credentialed, credential = '') => `${provider}\n${credential}`;
const limitKey = ({ id }: Credentialed, credential = '') => `${id}\n\n${credential}`;

const backOff = (first: number, longest: number, failures: number) => Math.min(first * 2 ** (failures - 1), longest);

function limitedMs({ retryAfterSeconds = 0 }: GatewayError, failures: number): number {
  if (retryAfterSeconds > 0) return Math.min(retryAfterSeconds * 1000, LONGEST_MS);
  return backOff(LIMITED_FIRST_MS, LIMITED_LONGEST_MS, failures);
}
