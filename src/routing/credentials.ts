/** Which of a provider's credentials a call uses: in turn, and not one that the provider lately refused or limited. */
import type { GatewayError } from '../canonical/errors.ts';
import type { Rest } from './health.ts';

/** A target as far as its credentials go. */
export interface Credentialed {
  id: string;
  provider: string;
  credentials: readonly string[];
}

export interface Credentials {
  /** One that is not cooling down and not among `tried`; the first time, where all are cooling down, the one that is done soonest. */
  choose(target: Credentialed, now: number, tried?: readonly string[]): string | undefined;
  /** Cools the credential down where the error is about it; says whether it is. */
  failed(target: Credentialed, credential: string, error: GatewayError, now: number): boolean;
  succeeded(target: Credentialed, credential: string, now: number): void;
  /** Until when every credential is limited; `undefined` where one may be used. */
  rest(target: Credentialed, now: number): Rest | undefined;
  keepOnly(targets: readonly Credentialed[]): void;
}

interface Cooldown {
  /** In a row. */
  failures: number;
  until: number;
  limited: boolean;
}

/** A credential that was refused, or whose account is empty, is tried again after so long: by one call, which has others to go on with. */
const REFUSED_FIRST_MS = 60_000;
const REFUSED_LONGEST_MS = 600_000;
/** One that is limited, where the provider does not say for how long. */
const LIMITED_FIRST_MS = 2000;
const LIMITED_LONGEST_MS = 60_000;
/** While one call tries a credential again, the others go on without it. */
const PROBE_MS = 10_000;

export interface CredentialsOptions {
  /** A credential (its place in the provider's list, from 1) is not used for a while: it was refused. */
  refused?(provider: string, place: number, seconds: number): void;
}

export function createCredentials({ refused }: CredentialsOptions = {}): Credentials {
  /** By `ownKey` what concerns the credential as such, by `limitKey` its rate limit on one model. Empty while all is well. */
  const cooling = new Map<string, Cooldown>();
  /** How many credentials each provider has handed out. */
  const turns = new Map<string, number>();

  function cooldownOf(target: Credentialed, credential: string): Cooldown | undefined {
    const own = cooling.get(ownKey(target, credential));
    const limit = cooling.get(limitKey(target, credential));
    return own && limit ? (own.until > limit.until ? own : limit) : (own ?? limit);
  }

  function isCooling(cooldown: Cooldown, now: number): boolean {
    // None is that long: the clock was set back.
    if (cooldown.until - now > REFUSED_LONGEST_MS) cooldown.until = now;
    return cooldown.until > now;
  }

  function soonest(target: Credentialed): string | undefined {
    const untilOf = (credential: string) => cooldownOf(target, credential)?.until ?? 0;
    return target.credentials.reduce((a, b) => (untilOf(b) < untilOf(a) ? b : a));
  }

  return {
    choose(target, now, tried = []) {
      const { provider, credentials } = target;
      if (credentials.length < 2) return tried.length === 0 ? credentials[0] : undefined;
      const turn = turns.get(provider) ?? 0;
      for (let i = 0; i < credentials.length; i++) {
        const credential = credentials[(turn + i) % credentials.length]!;
        if (tried.includes(credential)) continue;
        const cooldown = cooling.size === 0 ? undefined : cooldownOf(target, credential);
        if (cooldown && isCooling(cooldown, now)) continue;
        if (cooldown) cooldown.until = now + PROBE_MS;
        turns.set(provider, turn + i + 1);
        return credential;
      }
      return tried.length === 0 ? soonest(target) : undefined;
    },

    failed(target, credential, error, now) {
      if (target.credentials.length < 2) return false;
      const limited = error.code === 'rate_limited';
      if (!limited && !error.credentialRefused) return false;
      const key = limited ? limitKey(target, credential) : ownKey(target, credential);
      const before = cooling.get(key);
      const failures = (before?.failures ?? 0) + 1;
      const ms = limited ? limitedMs(error, failures) : backOff(REFUSED_FIRST_MS, REFUSED_LONGEST_MS, failures);
      cooling.set(key, { failures, until: now + ms, limited });
      if (!limited && !before) refused?.(target.provider, target.credentials.indexOf(credential) + 1, ms / 1000);
      return true;
    },

    succeeded(target, credential, now) {
      if (cooling.size === 0) return;
      cooling.delete(ownKey(target, credential));
      // A wait that the provider asked for lasts its time.
      const limit = limitKey(target, credential);
      if ((cooling.get(limit)?.until ?? 0) <= now) cooling.delete(limit);
    },

    rest(target, now) {
      if (cooling.size === 0 || target.credentials.length < 2) return undefined;
      let until = Infinity;
      for (const credential of target.credentials) {
        const cooldown = cooldownOf(target, credential);
        // One that was refused may be tried all the same: whether the target itself is well is for its health to say.
        if (!cooldown?.limited || !isCooling(cooldown, now)) return undefined;
        until = Math.min(until, cooldown.until);
      }
      return { until, limited: true };
    },

    keepOnly(targets) {
      const kept = new Set(
        targets.flatMap((target) =>
          target.credentials.flatMap((credential) => [ownKey(target, credential), limitKey(target, credential)]),
        ),
      );
      for (const key of cooling.keys()) if (!kept.has(key)) cooling.delete(key);
    },
  };
}

const ownKey = ({ provider }: Credentialed, credential: string) => `${provider}\n${credential}`;
const limitKey = ({ id }: Credentialed, credential: string) => `${id}\n\n${credential}`;

const backOff = (first: number, longest: number, failures: number) => Math.min(first * 2 ** (failures - 1), longest);

function limitedMs({ retryAfterSeconds = 0 }: GatewayError, failures: number): number {
  if (retryAfterSeconds > 0) return Math.min(retryAfterSeconds * 1000, REFUSED_LONGEST_MS);
  return backOff(LIMITED_FIRST_MS, LIMITED_LONGEST_MS, failures);
}
