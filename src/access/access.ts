/** Authentication of keys, what they may do, and their rate limits. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { type PriceFactor, readPriceFactor } from '../canonical/money.ts';
import type { AccountRow, Budget, KeyKind, KeyRow, Pace } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { createRanges, type Ranges, readRange } from './cidr.ts';
import { hashKey } from './key.ts';
import { type Admitted, type Limits, type Paced, refuseImpossible, type SeenLimits, UNLIMITED } from './limits.ts';
import { createLocalLimits } from './local-limits.ts';
import type { Permission } from './permissions.ts';
import type { Scope } from './scopes.ts';
import { type Load, UNBOUNDED, type WorkBounds } from './work-bounds.ts';

export interface Caller {
  key: string;
  account: string;
  kind: KeyKind;
  /** Models that the key may call. Absent: all. */
  models?: ReadonlySet<string>;
  /** Names that mean another model to this key. */
  aliases?: ReadonlyMap<string, string>;
  /** What the key may be used for. Absent: everything. */
  scopes?: ReadonlySet<string>;
  budget?: Budget;
  /** The budget of the whole account. */
  accountBudget?: Budget;
  /** Of the account's price group; absent: it pays list prices. */
  priceFactor?: PriceFactor;
  /** The key, the account, or both: those that have rate limits. Absent: neither has. */
  paced?: readonly Paced[];
  row: KeyRow;
  /** Of a person who is signed in. Absent: a key, which may do everything that its kind may. */
  permissions?: ReadonlySet<Permission>;
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

/** Whether the key may call the model: by its own name, by the wildcard that it is configured as, or by the requested name. */
export function mayCall({ models }: Pick<Caller, 'models'>, { name, wildcard }: AllowedModel, asked?: string): boolean {
  if (!models || models.has(name)) return true;
  return (wildcard !== undefined && models.has(wildcard)) || (asked !== undefined && models.has(asked));
}

/** The key and the address of a request, read only when needed. */
export interface Presented {
  /** The key in the request, or `undefined`. Read once. */
  readonly key: string | undefined;
  /** Who calls without a key: the caller has been authenticated already. */
  readonly caller?: Caller | undefined;
  /** The peer's address. Read only if the key is bound to address ranges. */
  readonly address: string;
}

export interface Access {
  /**
   * Authenticates a request to the public API (`kind` absent) or the admin API (`admin`).
   * Throws GatewayError `invalid_api_key`, `key_disabled`, `key_expired`, `address_not_allowed`, `scope_not_allowed`.
   */
  authenticate(presented: Presented, now: number, kind?: KeyKind): Caller | Promise<Caller>;
  /** Throws `model_not_allowed`. */
  allowModel(caller: Caller, model: AllowedModel, asked?: string): void;
  /** Throws `scope_not_allowed`. `undefined` stands for endpoints that only keys without scopes may use. */
  allowScope(caller: Caller, scope: Scope | undefined): void;
  /** Starts a request with a body of `bytes` bytes (as far as known). Throws `rate_limited` or `overloaded`, as `Load.take` does. */
  enter(caller: Caller, bytes: number): Load;
  /**
   * Admits a call under the limits of key and account. Throws `rate_limited`, or `upstream_unavailable` if the shared counters cannot be
   * reached.
   */
  admit(caller: Caller, callId: string, estimatedTokens: number): Admitted | Promise<Admitted>;
  /** What stands in the way of a call now: the state of the key, its limits, what is spent of budgets. Nothing is counted. */
  look(caller: Caller, estimatedTokens: number, now: number): Promise<CallerState>;
  /** Drops the cached keys, because they changed in the database. Rate counters stay. */
  forget(): void;
  /** Registers this process with the others that share the limits. */
  start(): void;
  close(): void;
}

export interface CallerState {
  /** The key is disabled or expired, or its account is disabled. */
  readonly refusal: GatewayError | undefined;
  readonly limits: SeenLimits;
  /** Spent plus held, where there is a budget. */
  readonly spent: { readonly key?: Required<Budget>; readonly account?: Required<Budget> };
}

/** The cached result of a key lookup, also for unknown keys. */
interface CachedCaller {
  known: KnownCaller | undefined;
  until: number;
}

interface KnownCaller {
  caller: Caller;
  /** When this secret ends, after a rotation gave the key a new one. */
  until: number | undefined;
  isAccountDisabled: boolean;
  /** Absent: all addresses. If one range cannot be parsed, no address is allowed. */
  ranges: Ranges | undefined;
}

/** How long a lookup is cached. `forget` makes a change visible earlier. */
const CACHE_MS = 10_000;
const KEYS_REMEMBERED = 50_000;
/** Unknown keys have their own cache, so that guessing keys evicts no valid key. */
const STRANGERS_REMEMBERED = 10_000;
/** Longer keys are refused without a lookup in cache or database. */
const LONGEST_KEY = 512;

export interface AccessSettings {
  store: Store;
  /** Counts the rate limits. Absent: this process counts alone. */
  limits?: Limits;
  /** Bounds on concurrent work. Absent: none. */
  work?: WorkBounds;
  cacheMs?: number;
}

/**
 * Keys, scopes and limits of callers. Lookups are cached for `cacheMs` (10,000 by default), so a change of keys or accounts is visible at
 * once only after `forget`. Times are milliseconds since 1970.
 *
 * @example
 * const access = createAccess({ store });
 * const caller = await access.authenticate({ key: 'sk-…', address: '192.0.2.7' }, Date.now());
 */
export function createAccess({
  store,
  limits = createLocalLimits(),
  work = UNBOUNDED,
  cacheMs = CACHE_MS,
}: AccessSettings): Access {
  const callers = new Map<string, CachedCaller>();
  const strangers = new Map<string, CachedCaller>();
  /** Lookups in progress: many requests with the same new key query the database once. */
  const pending = new Map<string, Promise<KnownCaller | undefined>>();

  return {
    authenticate(presented, now, kind = 'caller') {
      const { key } = presented;
      if (key === undefined || key === '') {
        if (presented.caller) return presented.caller;
        throw new GatewayError('invalid_api_key', 'No API key was given: send it as "Authorization: Bearer sk-…".');
      }
      if (key.length > LONGEST_KEY) throw unknownKey();
      const remembered = callers.get(key) ?? strangers.get(key);
      if (remembered && remembered.until > now) return admitted(remembered.known, presented, now, kind);
      return lookedUp(key, presented, now, kind);
    },

    allowModel(caller, model, asked) {
      if (mayCall(caller, model, asked)) return;
      throw new GatewayError(
        'model_not_allowed',
        `This API key may not call the model "${asked ?? model.name}". GET /v1/models lists those that it may call.`,
        {
          param: 'model',
        },
      );
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

    async look({ row, budget, accountBudget, paced }, tokens, now) {
      const { id, account, hash, kind } = row;
      const known = knownFrom(row, hash, await store.account(account));
      // There is no request whose address could be compared.
      const refusal = refusalIn(() => admitted({ ...known, ranges: undefined }, NO_REQUEST, now, kind));
      const ask = paced && { callId: '', paced, tokens };
      const impossible = ask && refusalIn(() => refuseImpossible(ask));
      const { seen, refusal: tooFast } = ask ? await limits.look(ask) : NO_LIMITS;
      return {
        refusal,
        limits: { seen, refusal: impossible ?? tooFast },
        spent: {
          ...(budget && { key: await store.keySpending(id, now) }),
          ...(accountBudget && { account: await store.accountSpending(account, now) }),
        },
      };
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

  function lookUp(key: string, now: number): Promise<KnownCaller | undefined> {
    const running = pending.get(key);
    if (running) return running;
    const lookingUp = readKey(key).finally(() => {
      if (pending.get(key) === lookingUp) pending.delete(key);
    });
    pending.set(key, lookingUp);
    return lookingUp;

    async function readKey(presented: string): Promise<KnownCaller | undefined> {
      const hash = hashKey(presented);
      const row = await store.keyByHash(hash);
      const known = row && knownFrom(row, hash, await store.account(row.account));
      // A lookup that started before `forget` may be outdated: its result is used for its own calls but not cached.
      if (pending.get(presented) === lookingUp) remember(presented, known, now);
      return known;
    }
  }

  function remember(key: string, known: KnownCaller | undefined, now: number): void {
    const [kept, most] = known ? [callers, KEYS_REMEMBERED] : [strangers, STRANGERS_REMEMBERED];
    (known ? strangers : callers).delete(key);
    kept.delete(key);
    kept.set(key, { known, until: now + cacheMs });
    if (kept.size <= most) return;
    const oldest = kept.keys().next();
    if (!oldest.done) kept.delete(oldest.value);
  }
}

const NO_REQUEST: Presented = { key: undefined, address: '' };
const NO_LIMITS: SeenLimits = { seen: [], refusal: undefined };

function refusalIn(check: () => unknown): GatewayError | undefined {
  try {
    check();
    return undefined;
  } catch (thrown) {
    return asGatewayError(thrown);
  }
}

/** Who calls with this key. */
export function callerOf(row: KeyRow, accountRow: AccountRow | undefined): Caller {
  const { id, account, kind, models, aliases, scopes, budget } = row;
  const priceFactor = accountRow?.priceFactor === undefined ? undefined : readPriceFactor(accountRow.priceFactor);
  const paced = [pacedFrom(id, 'key', row), pacedFrom(account, 'account', accountRow)].filter(
    (one) => one !== undefined,
  );
  return {
    key: id,
    account,
    kind,
    ...(models && { models: new Set(models) }),
    ...(aliases && { aliases: new Map(Object.entries(aliases)) }),
    ...(scopes && { scopes: new Set(scopes) }),
    ...(budget && { budget }),
    ...(accountRow?.budget && { accountBudget: accountRow.budget }),
    ...(priceFactor && { priceFactor }),
    ...(paced.length > 0 && { paced }),
    row,
  };
}

function knownFrom(row: KeyRow, hash: string, accountRow: AccountRow | undefined): KnownCaller {
  const { addresses } = row;
  return {
    caller: callerOf(row, accountRow),
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

/** The caller, if the key may be used from this address, at this time, on this API. Throws otherwise. */
function admitted(known: KnownCaller | undefined, presented: Presented, now: number, kind: KeyKind): Caller {
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
  // An admin key works even if its account is disabled: otherwise the account could not be enabled again.
  if (known.isAccountDisabled && kind === 'caller') {
    throw new GatewayError('key_disabled', 'The account of this API key is disabled: ask for it to be enabled.');
  }
  if (ranges && !ranges.has(presented.address)) {
    throw new GatewayError(
      'address_not_allowed',
      'This API key may not be used from this address: use an allowed address, or ask for this one to be allowed.',
    );
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
