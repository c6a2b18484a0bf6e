/** Who is calling: keys, what they may do, and how fast. */
import { GatewayError } from '../canonical/errors.ts';
import type { Budget, KeyKind, KeyRow, Store } from '../store/store.ts';
import { inRanges, type Range, readRange } from './cidr.ts';
import { hashKey } from './key.ts';
import { createLimits } from './limits.ts';

export interface Caller {
  key: string;
  account: string;
  kind: KeyKind;
  /** Models the key may call; absent: all. */
  models?: ReadonlySet<string>;
  budget?: Budget;
  row: KeyRow;
}

/** Where the key was found and from where the call came. */
export interface Presented {
  /** `undefined`: the request carried none. */
  key: string | undefined;
  /** The peer's address; asked for only where the key is bound to addresses. */
  readonly address: string;
}

export interface Access {
  /** Who calls the public API (`kind` absent) or the admin API (`admin`).
   *  Throws GatewayError `invalid_api_key`, `key_disabled`, `key_expired`, `address_not_allowed`, `scope_not_allowed`. */
  authenticate(presented: Presented, now: number, kind?: KeyKind): Caller | Promise<Caller>;
  /** Throws `model_not_allowed`. */
  allowModel(caller: Caller, model: string): void;
  /** Admits a call under the key's rates, or throws `rate_limited`; the returned function ends it with the tokens it used. */
  admit(caller: Caller, estimatedTokens: number, now: number): (usedTokens: number) => void;
  /** Forgets what was read of keys: they have changed in the database. Running rates stay. */
  forget(): void;
}

/** What is remembered of a presented key: whose it is, or that nobody's. */
interface Remembered {
  known: Known | undefined;
  until: number;
}

interface Known {
  caller: Caller;
  /** Absent: from everywhere. A range that cannot be read lets nobody in. */
  ranges: readonly Range[] | undefined;
}

/** How long a key is remembered without being asked again; a change is noticed earlier, by `forget`. */
const CACHE_MS = 10_000;
const KEYS_REMEMBERED = 50_000;
/** Strangers have their own bound, so that guessing keys pushes out no caller. */
const STRANGERS_REMEMBERED = 10_000;
/** No key is longer: what is goes neither to the cache nor to the database. */
const LONGEST_KEY = 512;

export function createAccess({ store, cacheMs = CACHE_MS }: { store: Store; cacheMs?: number }): Access {
  const callers = new Map<string, Remembered>();
  const strangers = new Map<string, Remembered>();
  /** Keys being looked up: a crowd that comes with the same key asks the database once. */
  const pending = new Map<string, Promise<Known | undefined>>();
  const limits = createLimits();

  return {
    authenticate(presented, now, kind = 'caller') {
      const { key } = presented;
      if (key === undefined || key === '') {
        throw new GatewayError('invalid_api_key', 'No API key was given: send it as "Authorization: Bearer sk-…".');
      }
      if (key.length > LONGEST_KEY) throw unknownKey();
      const remembered = callers.get(key) ?? strangers.get(key);
      if (remembered && remembered.until > now) return admitted(remembered.known, presented, now, kind);
      return lookUp(key, now).then((known) => admitted(known, presented, now, kind));
    },

    allowModel(caller, model) {
      if (!caller.models || caller.models.has(model)) return;
      throw new GatewayError('model_not_allowed', `This API key may not call the model "${model}".`, {
        param: 'model',
      });
    },

    admit: (caller, estimatedTokens, now) => limits.admit(caller.row, estimatedTokens, now),

    forget() {
      callers.clear();
      strangers.clear();
      pending.clear();
    },
  };

  function lookUp(key: string, now: number): Promise<Known | undefined> {
    const running = pending.get(key);
    if (running) return running;
    const lookingUp = readKey(key).finally(() => {
      if (pending.get(key) === lookingUp) pending.delete(key);
    });
    pending.set(key, lookingUp);
    return lookingUp;

    async function readKey(presented: string): Promise<Known | undefined> {
      const row = await store.keyByHash(hashKey(presented));
      const known = row && knownFrom(row);
      // A look-up that began before `forget` may be out of date: its answer serves its own calls only.
      if (pending.get(presented) === lookingUp) remember(presented, known, now);
      return known;
    }
  }

  function remember(key: string, known: Known | undefined, now: number): void {
    const [kept, most] = known ? [callers, KEYS_REMEMBERED] : [strangers, STRANGERS_REMEMBERED];
    (known ? strangers : callers).delete(key);
    kept.delete(key);
    kept.set(key, { known, until: now + cacheMs });
    if (kept.size <= most) return;
    const oldest = kept.keys().next();
    if (!oldest.done) kept.delete(oldest.value);
  }
}

function knownFrom(row: KeyRow): Known {
  const { id, account, kind, models, budget, addresses } = row;
  return {
    caller: { key: id, account, kind, ...(models && { models: new Set(models) }), ...(budget && { budget }), row },
    ranges: addresses?.map(readRange).filter((range) => range !== undefined),
  };
}

/** The caller, if the key may be used from here, now, on this API. */
function admitted(known: Known | undefined, presented: Presented, now: number, kind: KeyKind): Caller {
  if (!known) throw unknownKey();
  const { caller, ranges } = known;
  const { disabledAt, expiresAt } = caller.row;
  if (disabledAt !== undefined) {
    throw new GatewayError('key_disabled', 'This API key is disabled: use another one, or ask for it to be enabled.');
  }
  if (expiresAt !== undefined && expiresAt <= now) {
    throw new GatewayError(
      'key_expired',
      `This API key expired on ${new Date(expiresAt).toISOString()}: use another one.`,
    );
  }
  if (caller.kind !== kind) throw wrongKind(caller.kind);
  if (ranges && !inRanges(presented.address, ranges)) {
    throw new GatewayError('address_not_allowed', 'This API key may not be used from this address.');
  }
  return caller;
}

function wrongKind(kind: KeyKind): GatewayError {
  const message =
    kind === 'admin'
      ? 'This is an admin key, which opens only the admin API under /admin/v1: call models with a key of an account.'
      : "The admin API needs an admin key (sk-admin-…): this is an account's key.";
  return new GatewayError('scope_not_allowed', message);
}

function unknownKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'The API key is not known: check that it is complete and has not been replaced.',
  );
}
