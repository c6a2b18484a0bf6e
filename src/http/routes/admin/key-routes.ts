/** Admin API: keys. The key itself is returned once, when it is created or rotated. */
import { type Static, Type } from 'typebox';
import type { Caller } from '../../../access/access.ts';
import { readRange } from '../../../access/cidr.ts';
import { issueKey } from '../../../access/key.ts';
import { SCOPES } from '../../../access/scopes.ts';
import { CAPTURE_MODES } from '../../../canonical/capture-mode.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { newId } from '../../../canonical/id.ts';
import type { KeyChange, KeyKind, KeyRow } from '../../../store/rows.ts';
import { named } from '../../fields/named.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import { Time, TimeInput, timeOf, writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { accountNamed } from './account-named.ts';
import { audited } from './audit-routes.ts';
import { changeable, LIMITS, limitChangesOf, limitsOf, Spent, writeBudget } from './limit-fields.ts';

const Name = Type.String({ minLength: 1, maxLength: 200, description: 'a name of 1 to 200 characters' });
const Models = Type.Array(Type.String(), { description: 'a list of model names' });
const MOST_ALIASES = 100;
const Aliases = Type.Record(Type.String(), Type.String(), {
  description: `an object of up to ${MOST_ALIASES} names and the model that each means to this key, such as {"gpt-4o": "claude-sonnet-4-5"}`,
});
const CallerRouting = Type.Boolean({
  description: 'true or false: whether requests may say which models and providers answer (true by default)',
});
const MOST_CACHE_SECONDS = 30 * 86_400;
const CacheSeconds = Type.Integer({
  minimum: 1,
  maximum: MOST_CACHE_SECONDS,
  description: `the age in seconds up to which a stored reply answers the same request, up to ${MOST_CACHE_SECONDS} (absent: no cache)`,
});
const Capture = Type.Union(
  CAPTURE_MODES.map((mode) => Type.Literal(mode)),
  {
    description: `what is stored of its requests and replies: ${CAPTURE_MODES.join(', ')}`,
  },
);
const Addresses = Type.Array(Type.String(), {
  description: 'a list of addresses or CIDR ranges, such as "10.0.0.0/8"',
});
const Scopes = Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
  description: `a list of ${SCOPES.join(', ')}`,
});

const NewKey = Type.Object(
  {
    account: Type.Optional(Type.String({ description: "an account's id or name" })),
    name: Name,
    kind: Type.Optional(
      Type.Union([Type.Literal('caller'), Type.Literal('admin')], { description: 'caller (the default) or admin' }),
    ),
    expiresAt: Type.Optional(TimeInput),
    models: Type.Optional(Models),
    aliases: Type.Optional(Aliases),
    callerRouting: Type.Optional(CallerRouting),
    cacheSeconds: Type.Optional(CacheSeconds),
    capture: Type.Optional(Capture),
    addresses: Type.Optional(Addresses),
    scopes: Type.Optional(Scopes),
    ...LIMITS.input,
  },
  { additionalProperties: false },
);
type NewKey = Static<typeof NewKey>;

const ChangedKey = Type.Object(
  {
    name: Type.Optional(Name),
    expiresAt: changeable(TimeInput),
    models: changeable(Models),
    aliases: changeable(Aliases),
    callerRouting: changeable(CallerRouting),
    cacheSeconds: changeable(CacheSeconds),
    capture: changeable(Capture),
    addresses: changeable(Addresses),
    scopes: changeable(Scopes),
    ...LIMITS.changed,
  },
  { additionalProperties: false },
);
type ChangedKey = Static<typeof ChangedKey>;

const LONGEST_GRACE_SECONDS = 30 * 86_400;
const Rotation = Type.Object(
  {
    graceSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_GRACE_SECONDS,
        description: `how many seconds the old secret keeps working, up to ${LONGEST_GRACE_SECONDS}`,
      }),
    ),
  },
  { additionalProperties: false },
);

const Key = named('Key', {
  id: Type.String(),
  account: Type.String(),
  kind: Type.String(),
  name: Type.String(),
  last4: Type.String(),
  createdAt: Time,
  expiresAt: Type.Optional(Time),
  disabledAt: Type.Optional(Time),
  models: Type.Optional(Type.Array(Type.String())),
  aliases: Type.Optional(Type.Record(Type.String(), Type.String())),
  callerRouting: Type.Optional(Type.Boolean()),
  cacheSeconds: Type.Optional(Type.Integer()),
  capture: Type.Optional(Type.String()),
  addresses: Type.Optional(Type.Array(Type.String())),
  scopes: Type.Optional(Type.Array(Type.String())),
  priorUntil: Type.Optional(Time),
  ...LIMITS.shown,
});

/** Includes the key itself, which is shown only once. */
const KeyIssued = named('KeyIssued', { ...Key.properties, key: Type.String() });

export const KEY_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/keys', {
    gate: 'admin',
    permission: 'keys:write',
    summary: 'Creates a key for an account. The key itself is shown only once.',
    body: NewKey,
    reply: KeyIssued,
    answer: createKey,
  }),
  route('GET', '/admin/v1/keys', {
    gate: 'admin',
    permission: 'keys:read',
    summary: 'Lists keys. Only their last four characters are shown.',
    query: Type.Object({ ...PAGE, account: Type.Optional(Type.String({ description: "an account's id or name" })) }),
    reply: listOf(Key),
    answer: async ({ store }, { query }) => {
      const account = query.account === undefined ? undefined : (await accountNamed(store, query.account)).id;
      return pageOf(
        query,
        (page) => store.keys({ ...page, ...(account !== undefined && { account }) }),
        (key) => key.id,
        writeKey,
      );
    },
  }),
  route('GET', '/admin/v1/keys/:id', {
    gate: 'admin',
    permission: 'keys:read',
    summary: 'Shows a key and what it has spent.',
    reply: Type.Object({ ...Key.properties, spent: Spent }),
    answer: async (deps, { path }) => {
      const key = await keyOf(deps, path.id);
      return { ...writeKey(key), spent: writeBudget(await deps.store.keySpending(key.id, deps.now())) };
    },
  }),
  route('PATCH', '/admin/v1/keys/:id', {
    gate: 'admin',
    permission: 'keys:write',
    summary: 'Changes what a key may do. Absent members stay; null removes a value.',
    body: ChangedKey,
    reply: Key,
    answer: async (deps, request) =>
      writeKey(await changeKey(deps, request, 'key.changed', () => changeOf(request.body))),
  }),
  route('POST', '/admin/v1/keys/:id/disable', {
    gate: 'admin',
    permission: 'keys:write',
    summary: 'Disables a key.',
    reply: Key,
    answer: async (deps, request) =>
      writeKey(await changeKey(deps, request, 'key.disabled', () => ({ disabledAt: deps.now() }))),
  }),
  route('POST', '/admin/v1/keys/:id/enable', {
    gate: 'admin',
    permission: 'keys:write',
    summary: 'Enables a disabled key.',
    reply: Key,
    answer: async (deps, request) =>
      writeKey(await changeKey(deps, request, 'key.enabled', () => ({ disabledAt: null }))),
  }),
  route('POST', '/admin/v1/keys/:id/rotate', {
    gate: 'admin',
    permission: 'keys:write',
    summary: 'Gives a key a new secret. The old one ends at once, or after `graceSeconds`.',
    body: Rotation,
    reply: KeyIssued,
    answer: rotateKey,
  }),
  route('DELETE', '/admin/v1/keys/:id', {
    gate: 'admin',
    permission: 'keys:write',
    summary: 'Removes a key permanently; its calls and its spending are kept.',
    reply: Type.Object({ id: Type.String(), removed: Type.Literal(true) }),
    answer: async (deps, { path, caller }) => {
      const before = await keyOf(deps, path.id);
      allowKind(caller, before.kind);
      await deps.store.removeKey(before.id, audited(deps, caller, 'key.removed', before.id));
      deps.access.forget();
      return { id: before.id, removed: true };
    },
  }),
];

/** An admin key may do everything, so changing one needs more than changing another key. Throws `permission_denied`. */
function allowKind({ permissions }: Caller, kind: KeyKind): void {
  if (kind !== 'admin' || !permissions || permissions.has('admin-keys:write')) return;
  throw new GatewayError(
    'permission_denied',
    'Admin keys need the permission admin-keys:write, which only owners have.',
  );
}

async function createKey(deps: HttpDeps, { body, caller }: RouteRequest<unknown, NewKey>): Promise<object> {
  const kind = body.kind ?? 'caller';
  allowKind(caller, kind);
  if (body.account === undefined && kind === 'caller') {
    throw new GatewayError('invalid_request', '"account" is missing.', { param: 'account' });
  }
  const account = body.account === undefined ? caller.account : (await accountNamed(deps.store, body.account)).id;
  const { key, hash, last4 } = issueKey(kind);
  const { expiresAt, models, aliases, callerRouting, cacheSeconds, capture, addresses, scopes } = body;
  const row: KeyRow = {
    id: newId('key_'),
    account,
    kind,
    name: body.name,
    hash,
    last4,
    createdAt: deps.now(),
    ...(expiresAt !== undefined && { expiresAt: timeOf(expiresAt, 'expiresAt') }),
    ...(models !== undefined && { models }),
    ...(aliases !== undefined && { aliases: aliasesOf(aliases) }),
    ...(callerRouting !== undefined && { callerRouting }),
    ...(cacheSeconds !== undefined && { cacheSeconds }),
    ...(capture !== undefined && { capture }),
    ...(addresses !== undefined && { addresses: rangesOf(addresses) }),
    ...(scopes !== undefined && { scopes }),
    ...limitsOf(body),
  };
  await deps.store.createKey(row, audited(deps, caller, 'key.created', row.id));
  deps.access.forget();
  return { ...writeKey(row), key };
}

function changeOf(body: ChangedKey): KeyChange {
  const { name, expiresAt, models, aliases, callerRouting, cacheSeconds, capture, addresses, scopes } = body;
  return {
    ...(name !== undefined && { name }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : timeOf(expiresAt, 'expiresAt') }),
    ...(models !== undefined && { models }),
    ...(aliases !== undefined && { aliases: aliases && aliasesOf(aliases) }),
    ...(callerRouting !== undefined && { callerRouting }),
    ...(cacheSeconds !== undefined && { cacheSeconds }),
    ...(capture !== undefined && { capture }),
    ...(addresses !== undefined && { addresses: addresses && rangesOf(addresses) }),
    ...(scopes !== undefined && { scopes }),
    ...limitChangesOf(body),
  };
}

async function rotateKey(deps: HttpDeps, request: RouteRequest<unknown, Static<typeof Rotation>>): Promise<object> {
  let issued = '';
  const { graceSeconds = 0 } = request.body;
  const row = await changeKey(deps, request, 'key.rotated', (before) => {
    const { key, hash, last4 } = issueKey(before.kind);
    issued = key;
    const grace = { priorHash: before.hash, priorUntil: deps.now() + graceSeconds * 1000 };
    return { hash, last4, ...(graceSeconds > 0 ? grace : { priorHash: null, priorUntil: null }) };
  });
  return { ...writeKey(row), key: issued };
}

/** The models need not exist yet: a call of one that does not is answered with `model_not_found`. */
function aliasesOf(aliases: { [name: string]: string }): { [name: string]: string } {
  const names = Object.keys(aliases);
  if (names.length > MOST_ALIASES)
    throw new GatewayError('invalid_request', `"aliases" may have ${MOST_ALIASES} names at most.`, {
      param: 'aliases',
    });
  for (const name of names) {
    const model = aliases[name] ?? '';
    if (isPlainName(name) && isPlainName(model)) continue;
    const sentence = `"aliases" must have names without blanks and without a *, and a model for each: "${name}" is "${model}".`;
    throw new GatewayError('invalid_request', sentence, { param: 'aliases' });
  }
  return aliases;
}

const isPlainName = (name: string) => /^[^\s*\p{Cc}]{1,200}$/u.test(name);

function rangesOf(addresses: string[]): string[] {
  for (const [at, address] of addresses.entries()) {
    if (readRange(address)) continue;
    const sentence = `"${address}" is not an address: write an address or a CIDR range, such as 10.0.0.0/8.`;
    throw new GatewayError('invalid_request', sentence, { param: `addresses[${at}]` });
  }
  return addresses;
}

async function keyOf({ store }: HttpDeps, id = ''): Promise<KeyRow> {
  const key = await store.keyById(id);
  if (key) return key;
  throw new GatewayError('not_found', `There is no key with the id "${id}".`, { param: 'id' });
}

async function changeKey<Body>(
  deps: HttpDeps,
  { path, caller }: RouteRequest<unknown, Body>,
  action: string,
  changeTo: (before: KeyRow) => KeyChange,
): Promise<KeyRow> {
  const before = await keyOf(deps, path.id);
  allowKind(caller, before.kind);
  const audit = audited(deps, caller, action, before.id);
  const after = await deps.store.updateKey(before.id, changeTo(before), audit);
  deps.access.forget();
  return after ?? before;
}

function writeKey({ hash: _, priorHash: __, ...key }: KeyRow): object {
  const { createdAt, expiresAt, disabledAt, priorUntil, budget, ...rest } = key;
  const written = (time: number | undefined) => (time === undefined ? undefined : writeTime(time));
  return {
    ...rest,
    createdAt: writeTime(createdAt),
    expiresAt: written(expiresAt),
    disabledAt: written(disabledAt),
    priorUntil: written(priorUntil),
    budget: budget && writeBudget(budget),
  };
}
