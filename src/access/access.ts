/** Who is calling: keys, what they may do, and how fast. */
import { GatewayError } from '../canonical/errors.ts';
import type { AccountRow, Budget, KeyKind, KeyRow, Pace, Store } from '../store/store.ts';
import { createRanges, type Ranges, readRange } from './cidr.ts';
import { hashKey } from './key.ts';
import { type Admitted, type Limits, type Paced, refuseImpossible, UNLIMITED } from './limits.ts';
import { createLocalLimits } from './local-limits.ts';
import type { Scope } from './scopes.ts';
import { type Load, UNBOUNDED, type WorkBounds } from './work-bounds.ts';

export interface Caller {
  key: string;
  account: string;
  kind: KeyKind;
  /** Models the key may call; absent: all. */
  models?: ReadonlySet<string>;
  /** Names that mean another model to this key. */
  aliases?: ReadonlyMap<string, string>;
  /** What it may be used for; absent: everything. */
  scopes?: ReadonlySet<string>;
  budget?: Budget;
  /** The budget of the whole account. */
  accountBudget?: Budget;
  /** The key, the account, or both, where their pace is limited; absent: neither is. */
  paced?: readonly Paced[];
  row: KeyRow;
}

/** A model, as far as keys name it. */
export interface AllowedModel {
  readonly name: string;
  /** The model as it is configured, where a wildcard matched the name. */
  readonly wildcard?: string;
}

/** The name of the model that this name means to the key. */
export function nameFor({ aliases }: Pick<Caller, 'aliases'>, name: string): string {
  return aliases?.get(name) ?? name;
}

/** Whether the key may call the model: by its own name, by the wildcard that it is configured as, or by the name that was asked for. */
export function mayCall({ models }: Pick<Caller, 'models'>, { name, wildcard }: AllowedModel, asked?: string): boolean {
  if (!models || models.has(name)) return true;
  return (wildcard !== undefined && models.has(wildcard)) || (asked !== undefined && models.has(asked));
}

/** Where the key was found and from where the call came. */
export interface Presented {
  /** `undefined`: the request carried none. Asked for once. */
  readonly key: string | undefined;
  /** The peer's address; asked for only where the key is bound to addresses. */
  readonly address: string;
}

export interface Access {
  /** Who calls the public API (`kind` absent) or the admin API (`admin`).
   *  Throws GatewayError `invalid_api_key`, `key_disabled`, `key_expired`, `address_not_allowed`, `scope_not_allowed`. */
  authenticate(presented: Presented, now: number, kind?: KeyKind): Caller | Promise<Caller>;
  /** `asked`: the name in the request, where it is another (an alias). Throws `model_not_allowed`. */
  allowModel(caller: Caller, model: AllowedModel, asked?: string): void;
  /** Throws `scope_not_allowed`; `undefined` is what only keys without scopes may do. */
  allowScope(caller: Caller, scope: Scope | undefined): void;
  /** A request of so many bytes, as far as is known, begins. Throws `rate_limited` or `overloaded`, as `Load.take` does. */
  enter(caller: Caller, bytes: number): Load;
  /** Admits a call under the limits of key and account, or throws `rate_limited` (`upstream_unavailable` where they cannot
   *  be counted). */
  admit(caller: Caller, callId: string, estimatedTokens: number): Admitted | Promise<Admitted>;
  /** Forgets what was read of keys: they have changed in the database. Running rates stay. */
  forget(): void;
  /** Makes this process known to those it shares limits with. */
  start(): void;
  close(): void;
}

/** What is remembered of a presented key: whose it is, or that nobody's. */
interface Remembered {
  known: Known | undefined;
  until: number;
}

interface Known {
  caller: Caller;
  /** When this secret of the key ends: it has been given another. */
  until: number | undefined;
  /** The account is disabled. */
  isAccountDisabled: boolean;
  /** Absent: from everywhere. A range that cannot be read lets nobody in. */
  ranges: Ranges | undefined;
}

/** How long a key is remembered without being asked again; a change is noticed earlier, by `forget`. */
const CACHE_MS = 10_000;
const KEYS_REMEMBERED = 50_000;
/** Strangers have their own bound, so that guessing keys pushes out no caller. */
const STRANGERS_REMEMBERED = 10_000;
/** No key is longer: what is goes neither to the cache nor to the database. */
const LONGEST_KEY = 512;

export interface AccessSettings {
  store: Store;
  /** Who counts; absent: this process. */
  limits?: Limits;
  /** What may be under way at once; absent: everything. */
  work?: WorkBounds;
  cacheMs?: number;
}

export function createAccess({
  store,
  limits = createLocalLimits(),
  work = UNBOUNDED,
  cacheMs = CACHE_MS,
}: AccessSettings): Access {
  const callers = new Map<string, Remembered>();
  const strangers = new Map<string, Remembered>();
  /** Keys being looked up: a crowd that comes with the same key asks the database once. */
  const pending = new Map<string, Promise<Known | undefined>>();

  return {
    authenticate(presented, now, kind = 'caller') {
      const { key } = presented;
      if (key === undefined || key === '') {
        throw new GatewayError('invalid_api_key', 'No API key was given: send it as "Authorization: Bearer sk-…".');
      }
      if (key.length > LONGEST_KEY) throw unknownKey();
      const remembered = callers.get(key) ?? strangers.get(key);
      if (remembered && remembered.until > now) return admitted(remembered.known, presented, now, kind);
      return lookedUp(key, presented, now, kind);
    },

    allowModel(caller, model, asked) {
      if (mayCall(caller, model, asked)) return;
      throw new GatewayError('model_not_allowed', `This API key may not call the model "${asked ?? model.name}".`, {
        param: 'model',
      });
    },

    allowScope({ scopes }, scope) {
      if (!scopes || (scope !== undefined && scopes.has(scope))) return;
      const allowed = [...scopes].join(', ') || 'nothing';
      throw new GatewayError('scope_not_allowed', `This API key may be used for ${allowed}, not for this endpoint.`);
    },

    enter: ({ account }, bytes) => work.enter(account, bytes),

    admit({ paced }, callId, estimatedTokens) {
      if (!paced) return UNLIMITED;
      const ask = { callId, paced, tokens: estimatedTokens };
      refuseImpossible(ask);
      return limits.admit(ask);
    },

    forget() {
      callers.clear();
      strangers.clear();
      pending.clear();
    },

    start: () => limits.start(),

    close: () => limits.close(),
  };

  async function lookedUp(key: string, presented: Presented, now: number, kind: KeyKind): Promise<Caller> {
    return admitted(await lookUp(key, now), presented, now, kind);
  }

  function lookUp(key: string, now: number): Promise<Known | undefined> {
    const running = pending.get(key);
    if (running) return running;
    const lookingUp = readKey(key).finally(() => {
      if (pending.get(key) === lookingUp) pending.delete(key);
    });
    pending.set(key, lookingUp);
    return lookingUp;

    async function readKey(presented: string): Promise<Known | undefined> {
      const hash = hashKey(presented);
      const row = await store.keyByHash(hash);
      const known = row && knownFrom(row, hash, await store.account(row.account));
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

function knownFrom(row: KeyRow, hash: string, accountRow: AccountRow | undefined): Known {
  const { id, account, kind, models, aliases, scopes, budget, addresses } = row;
  const paced = [pacedFrom(id, 'key', row), pacedFrom(account, 'account', accountRow)].filter(
    (one) => one !== undefined,
  );
  return {
    caller: {
      key: id,
      account,
      kind,
      ...(models && { models: new Set(models) }),
      ...(aliases && { aliases: new Map(Object.entries(aliases)) }),
      ...(scopes && { scopes: new Set(scopes) }),
      ...(budget && { budget }),
      ...(accountRow?.budget && { accountBudget: accountRow.budget }),
      ...(paced.length > 0 && { paced }),
      row,
    },
    until: row.hash === hash ? undefined : (row.priorUntil ?? 0),
    isAccountDisabled: accountRow?.disabledAt !== undefined,
    ranges: addresses && createRanges(addresses.flatMap((address) => readRange(address) ?? [])),
  };
}

function pacedFrom(id: string, of: Paced['of'], pace: Pace | undefined): Paced | undefined {
  const { requestsPerMinute, tokensPerMinute, concurrency } = pace ?? {};
  if (requestsPerMinute === undefined && tokensPerMinute === undefined && concurrency === undefined) return undefined;
  return {
    id,
    of,
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

/** The caller, if the key may be used from here, now, on this API. */
function admitted(known: Known | undefined, presented: Presented, now: number, kind: KeyKind): Caller {
  if (!known || (known.until !== undefined && known.until <= now)) throw unknownKey();
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
  // An admin's key opens whatever becomes of the account it was made under: or nobody could enable it again.
  if (known.isAccountDisabled && kind === 'caller') {
    throw new GatewayError('key_disabled', 'The account of this API key is disabled: ask for it to be enabled.');
  }
  if (ranges && !ranges.has(presented.address)) {
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
