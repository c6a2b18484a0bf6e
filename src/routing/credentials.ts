/** Which of a provider's credentials a call uses: in turn, and none that the provider lately refused or limited. */
import type { GatewayError } from '../canonical/errors.ts';
import type { CooldownChange } from './cooldown-change.ts';
import type { Remaining, RemainingLimits } from './remaining-limits.ts';

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
  /** The provider did not name the time of a rate limit: the target is only tried after the others. */
  guessed?: true;
}

/** What an admin sees of a credential that is cooling down: its place in the provider's list, from 1. */
export interface CoolingCredential {
  place: number;
  until: number;
  reason: 'refused' | 'limited';
}

/** The state of all credentials in this process: cooldowns, and what is left of rate limits. Times are milliseconds since 1970. Never throws. */
export interface Credentials {
  /** One that is not cooling down and not among `tried`. The first time, where all are cooling down, the one that is done soonest.
   *  `undefined`: none is left, or the provider needs none. `tokens`: what the call may take of a rate limit. */
  choose(
    target: Credentialed,
    now: number,
    tried?: readonly (string | undefined)[],
    tokens?: number,
  ): string | undefined;
  /** Counts a request against what the provider last reported as left, until its next report. */
  spend(target: Credentialed, credential: string | undefined, tokens: number): void;
  /** Starts a cooldown of the credential if the error concerns it; returns whether it does. */
  failed(target: Credentialed, credential: string | undefined, error: GatewayError, now: number): boolean;
  succeeded(target: Credentialed, credential: string | undefined, now: number): void;
  /** A response reports the remaining limits of the provider. */
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
  isFromProvider: boolean;
}

/** One limit of a provider, as it stood at `since`, less what was sent since then. */
interface Allowance {
  left: number;
  since: number;
  /** What comes back each millisecond. */
  perMs: number;
  /** From then on the limit is unknown, and blocks no call. */
  until: number;
}

interface Allowances {
  requests: Allowance | undefined;
  tokens: Allowance | undefined;
}

/** A credential that was refused, or whose account is empty, is tried again after this time: by one call, which can continue with others. */
const REFUSED_FIRST_MS = 10_000;
/** One that is limited, where the provider does not say for how long. */
const LIMITED_FIRST_MS = 1000;
const LIMITED_LONGEST_MS = 10_000;
/** The maximum of a cooldown, whatever the provider requests. */
const LONGEST_MS = 60_000;
/** While one call tries a credential again, the others continue without it. */
const PROBE_MS = 10_000;

/** Notifications. They are called during a call and must not throw. */
export interface CredentialsOptions {
  /** A credential (its place in the provider's list, from 1) is not used for a while: it was refused. */
  refused?: ((provider: string, place: number, seconds: number) => void) | undefined;
  /** A credential goes into cooldown. */
  cooldown?: ((change: CooldownChange) => void) | undefined;
}

/** Starts with every credential usable. */
export function createCredentials({ refused, cooldown: reportCooldown }: CredentialsOptions = {}): Credentials {
  /** By `ownKey` what concerns the credential as such, by `limitKey` its rate limit on one model. Empty while all is well. */
  const cooldowns = new Map<string, Cooldown>();
  /** By `limitKey`. Empty while no provider reports that little is left. */
  const allowances = new Map<string, Allowances>();
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

  /** When the provider's limits let a call of so many tokens in; a time that has passed where they do now. */
  function allowedAt(target: Credentialed, credential: string | undefined, now: number, tokens: number): number {
    if (allowances.size === 0) return 0;
    const key = limitKey(target, credential);
    const left = allowances.get(key);
    if (!left) return 0;
    const requestsAt = reaches(left.requests, 1, now);
    const tokensAt = reaches(left.tokens, tokens, now);
    if (isOver(left.requests, now) && isOver(left.tokens, now)) allowances.delete(key);
    return Math.max(requestsAt, tokensAt);
  }

  function untilOf(target: Credentialed, credential: string | undefined, now: number): number {
    const cooldown = cooldownOf(target, credential)?.until ?? 0;
    return Math.max(cooldown, allowedAt(target, credential, now, 0));
  }

  const soonest = (target: Credentialed, now: number) =>
    target.credentials.reduce((a, b) => (untilOf(target, b, now) < untilOf(target, a, now) ? b : a));

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
      if (allowedAt(target, credential, now, tokens) > now) continue;
      if (cooldown) cooldown.until = now + PROBE_MS;
      turns.set(provider, turn + i + 1);
      return credential;
    }
    return tried.length === 0 ? soonest(target, now) : undefined;
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
      if (left.requests) left.requests.left--;
      if (left.tokens) left.tokens.left -= tokens;
    },

    failed(target, credential, error, now) {
      const limited = error.code === 'rate_limited';
      if (!limited && !error.credentialRefused) return false;
      const key = limited ? limitKey(target, credential) : ownKey(target, credential);
      const before = cooldowns.get(key);
      const failures = (before?.failures ?? 0) + 1;
      const ms = limited ? limitedMs(error, failures) : backOff(REFUSED_FIRST_MS, LONGEST_MS, failures);
      const isFromProvider = limited && (error.retryAfterSeconds ?? 0) > 0;
      cooldowns.set(key, { failures, until: now + ms, limited, isFromProvider });
      // The requested wait is more exact than the remaining limits.
      if (isFromProvider) allowances.delete(key);
      const place = credential === undefined ? 0 : target.credentials.indexOf(credential) + 1;
      if (!limited && !before) refused?.(target.provider, place, ms / 1000);
      if (reportCooldown && (before?.until ?? 0) <= now) {
        const { provider, id } = target;
        reportCooldown({
          provider,
          ...(limited && { target: id }),
          place,
          reason: limited ? 'limited' : 'refused',
          seconds: ms / 1000,
        });
      }
      return true;
    },

    succeeded(target, credential, now) {
      if (cooldowns.size === 0) return;
      cooldowns.delete(ownKey(target, credential));
      // A wait that the provider requested lasts its time.
      const limit = limitKey(target, credential);
      if ((cooldowns.get(limit)?.until ?? 0) <= now) cooldowns.delete(limit);
    },

    remains(target, credential, { requests, tokens }, now) {
      allowances.set(limitKey(target, credential), {
        requests: requests && allowanceOf(requests, now),
        tokens: tokens && allowanceOf(tokens, now),
      });
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
        if (!isOut && allowedAt(target, credential, now, 0) <= now) return undefined;
        if (isOut && !cooldown.limited) limited = false;
        if (isOut && cooldown.limited && !cooldown.isFromProvider) guessed = true;
        until = Math.min(until, untilOf(target, credential, now));
      }
      return { until, limited, ...(guessed && { guessed }) };
    },

    usable(target, now) {
      const { credentials } = target;
      if (credentials.length < 2 || (cooldowns.size === 0 && allowances.size === 0)) return credentials;
      const left = credentials.filter((one) => {
        const cooldown = cooldownOf(target, one);
        return !(cooldown && isCooling(cooldown, now)) && allowedAt(target, one, now, 0) <= now;
      });
      return left.length > 0 ? left : credentials;
    },

    cooling(target, now) {
      return target.credentials.flatMap((credential, index): CoolingCredential[] => {
        const cooldown = cooldownOf(target, credential);
        const isOut = cooldown !== undefined && isCooling(cooldown, now);
        if (!isOut && allowedAt(target, credential, now, 0) <= now) return [];
        const reason = isOut && !cooldown.limited ? 'refused' : 'limited';
        return [{ place: index + 1, until: untilOf(target, credential, now), reason }];
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

function allowanceOf({ left, resetMs, limit }: Remaining, now: number): Allowance {
  const perMs = limit === undefined ? 0 : (limit - left) / resetMs;
  return { left, since: now, perMs, until: now + Math.min(resetMs, LONGEST_MS) };
}

/** A time beyond the longest wait is one of a clock that was set back. */
function isOver(allowance: Allowance | undefined, now: number): boolean {
  return !allowance || allowance.until <= now || allowance.until - now > LONGEST_MS;
}

/** When so much is left; at the latest when the whole limit is available again. */
function reaches(allowance: Allowance | undefined, amount: number, now: number): number {
  if (!allowance || isOver(allowance, now)) return 0;
  const { left, since, perMs, until } = allowance;
  if (left >= amount) return 0;
  return perMs > 0 ? Math.min(Math.ceil(since + (amount - left) / perMs), until) : until;
}

const backOff = (first: number, longest: number, failures: number) => Math.min(first * 2 ** (failures - 1), longest);

function limitedMs({ retryAfterSeconds = 0 }: GatewayError, failures: number): number {
  if (retryAfterSeconds > 0) return Math.min(retryAfterSeconds * 1000, LONGEST_MS);
  return backOff(LIMITED_FIRST_MS, LIMITED_LONGEST_MS, failures);
}
