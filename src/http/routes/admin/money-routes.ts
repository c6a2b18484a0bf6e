/** Admin API: top-ups, refunds, adjustments and redemption codes. Also the callers' endpoint for a code. */
import { type Static, type TProperties, Type } from 'typebox';
import { auditOfEntry, ENTRY_ACTIONS } from '../../../access/audit.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { newId } from '../../../canonical/id.ts';
import { type Money, writeMoney } from '../../../canonical/money.ts';
import { storable } from '../../../canonical/storable.ts';
import { checkIdempotencyKey } from '../../../ledger/idempotency-key.ts';
import type { MovingKind } from '../../../ledger/ledger.ts';
import { hashCode, issueCode } from '../../../ledger/redemption-code.ts';
import type { CodeRow, EntryRow } from '../../../store/rows.ts';
import { named } from '../../fields/named.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import { Time, TimeInput, timeOf, writeTime } from '../../fields/time.ts';
import { moneyOf, Usd, UsdInput } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { sessionSecret } from '../../session-cookie.ts';
import { accountNamed } from './account-named.ts';
import { audited } from './audit-routes.ts';

export const Entry = named('LedgerEntry', {
  seq: Type.Integer(),
  kind: Type.String({ description: 'one of top-up, charge, completion, refund, adjustment, redemption' }),
  amount: Usd,
  balanceAfter: Usd,
  callId: Type.Optional(Type.String()),
  note: Type.Optional(Type.String()),
  at: Time,
  hash: Type.String(),
});

const Note = Type.String({ description: 'a text of at most 1000 characters', maxLength: 1000 });
const strict = <Members extends TProperties>(members: Members) => Type.Object(members, { additionalProperties: false });

const TopUp = strict({ amount: UsdInput, note: Type.Optional(Note) });
const Refund = strict({
  amount: UsdInput,
  callId: Type.Optional(Type.String({ description: 'the call that is refunded, in whole or in part' })),
  note: Type.Optional(Note),
});
const Adjustment = strict({ amount: UsdInput, note: Note });
const NewCode = strict({ amount: UsdInput, note: Type.Optional(Note), expiresAt: Type.Optional(TimeInput) });
const Redemption = strict({ code: Type.String({ minLength: 1, maxLength: 200, description: 'a redemption code' }) });

const CODE_MEMBERS = {
  id: Type.String(),
  last4: Type.String(),
  amount: Usd,
  note: Type.Optional(Type.String()),
  createdAt: Time,
  expiresAt: Type.Optional(Time),
  redeemedAt: Type.Optional(Time),
  redeemedBy: Type.Optional(Type.String()),
};

const REPEATS =
  'Repeating the request with the same Idempotency-Key returns the first entry and changes nothing; another request with that key is refused.';

const moneyRoutes: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/accounts/:id/top-ups', {
    gate: 'admin',
    permission: 'money:write',
    summary: `Adds money to an account. ${REPEATS}`,
    body: TopUp,
    takesNul: ['note'],
    reply: Entry,
    answer: (deps, request) => enter(deps, request, 'top-up', aboveZero(request.body.amount)),
  }),
  route('POST', '/admin/v1/accounts/:id/refunds', {
    gate: 'admin',
    permission: 'money:write',
    summary: `Refunds an account, for a call or in general; for a call at most its cost. ${REPEATS}`,
    body: Refund,
    takesNul: ['note'],
    reply: Entry,
    answer: (deps, request) => enter(deps, request, 'refund', aboveZero(request.body.amount)),
  }),
  route('POST', '/admin/v1/accounts/:id/adjustments', {
    gate: 'admin',
    permission: 'money:write',
    summary: `Corrects a balance upwards or downwards, with a note. ${REPEATS}`,
    body: Adjustment,
    takesNul: ['note'],
    reply: Entry,
    answer: (deps, request) => enter(deps, request, 'adjustment', notZero(request.body.amount)),
  }),
  route('POST', '/admin/v1/accounts/:id/redemptions', {
    gate: 'admin',
    permission: 'money:write',
    summary: 'Redeems a code for an account. Repeating it for the same account returns the first entry.',
    body: Redemption,
    reply: Entry,
    answer: async ({ store, ledger, now }, { path, body, caller }) => {
      const { id } = await accountNamed(store, path.id);
      const audit = auditOfEntry({ actor: caller.key, action: ENTRY_ACTIONS.redemption, subject: id }, now());
      return writeEntry(await ledger.redeem(id, hashCode(body.code), now(), audit));
    },
  }),
];

const codeRoutes: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/codes', {
    gate: 'admin',
    permission: 'money:write',
    summary:
      'Creates a redemption code, which one account can redeem once; the code itself is shown only once. Repeating the request with the same Idempotency-Key and admin key returns the same code.',
    body: NewCode,
    takesNul: ['note'],
    reply: Type.Object({ ...CODE_MEMBERS, code: Type.String() }),
    answer: makeCode,
  }),
  route('GET', '/admin/v1/codes', {
    gate: 'admin',
    permission: 'money:read',
    summary: 'Lists redemption codes and who redeemed them.',
    query: Type.Object(PAGE),
    reply: listOf(Type.Object(CODE_MEMBERS)),
    answer: ({ store }, { query }) =>
      pageOf(
        query,
        (page) => store.codes(page),
        (code) => code.id,
        writeCode,
      ),
  }),
  route('POST', '/v1/redeem', {
    gate: 'caller',
    scope: 'balance',
    summary: "Redeems a code for the key's account. Repeating it with the same account returns the first entry.",
    body: Redemption,
    reply: Type.Object({ amount: Usd, available: Usd, currency: Type.Literal('USD') }),
    answer: async ({ ledger, now }, { body, caller }) => {
      const { amount } = await ledger.redeem(caller.account, hashCode(body.code), now());
      const balance = await ledger.balance(caller.account);
      return { amount: writeMoney(amount), available: writeMoney(balance?.available ?? 0n), currency: 'USD' };
    },
  }),
];

export const MONEY_ROUTES: readonly AnsweredRoute[] = [...moneyRoutes, ...codeRoutes];

interface EntryInput {
  note?: string;
  callId?: string;
}

async function enter(
  deps: HttpDeps,
  { path, body, headers, caller }: RouteRequest<unknown, EntryInput>,
  kind: MovingKind,
  amount: Money,
): Promise<object> {
  const { id } = await accountNamed(deps.store, path.id);
  const idempotencyKey = headers.get('idempotency-key');
  const { callId } = body;
  const entry = await deps.ledger.topUp(id, amount, {
    kind,
    at: deps.now(),
    ...(body.note !== undefined && { note: storable(body.note) }),
    ...(callId !== undefined && { callId: storable(callId) }),
    ...(idempotencyKey && { idempotencyKey: checkIdempotencyKey(idempotencyKey) }),
    audit: auditOfEntry({ actor: caller.key, action: ENTRY_ACTIONS[kind], subject: id }, deps.now()),
  });
  return writeEntry(entry);
}

async function makeCode(
  deps: HttpDeps,
  { body, headers, caller }: RouteRequest<unknown, Static<typeof NewCode>>,
): Promise<object> {
  const idempotencyKey = headers.get('idempotency-key') || undefined;
  const { code, hash, last4 } = issueCode(
    idempotencyKey === undefined
      ? undefined
      : { secret: secretOf(headers), idempotencyKey: checkIdempotencyKey(idempotencyKey) },
  );
  const row: CodeRow = {
    id: newId('code_'),
    hash,
    last4,
    amount: aboveZero(body.amount),
    createdAt: deps.now(),
    ...(body.note !== undefined && { note: storable(body.note) }),
    ...(body.expiresAt !== undefined && { expiresAt: timeOf(body.expiresAt, 'expiresAt') }),
  };
  const made = await deps.store.createCode(row, audited(deps, caller, 'code.created', row.id), idempotencyKey);
  if (isSameCode(made, row)) return { ...writeCode(made), code };
  const sentence = 'This Idempotency-Key was used for another code, or with another admin key: use a new one.';
  throw new GatewayError('conflict', sentence, { param: 'idempotency-key' });
}

/** The secret that the code is derived from: the admin key, or the secret of the session. */
function secretOf(headers: Pick<Headers, 'get'>): string {
  const key = (headers.get('authorization') ?? '').replace(/^bearer +/i, '').trim() || sessionSecret(headers, false);
  if (key) return key;
  throw new Error('A code is made without a key and without a session.');
}

const isSameCode = (a: CodeRow, b: CodeRow): boolean =>
  a.hash === b.hash && a.amount === b.amount && a.note === b.note && a.expiresAt === b.expiresAt;

function aboveZero(value: UsdInput): Money {
  const amount = moneyOf(value, 'amount');
  if (amount > 0n) return amount;
  throw new GatewayError('invalid_request', '"amount" must be greater than zero.', { param: 'amount' });
}

function notZero(value: UsdInput): Money {
  const amount = moneyOf(value, 'amount');
  if (amount !== 0n) return amount;
  throw new GatewayError('invalid_request', '"amount" must not be zero.', { param: 'amount' });
}

export function writeEntry(entry: EntryRow): object {
  return {
    seq: entry.seq,
    kind: entry.kind,
    amount: writeMoney(entry.amount),
    balanceAfter: writeMoney(entry.balanceAfter),
    callId: entry.callId,
    note: entry.note,
    at: writeTime(entry.at),
    hash: entry.hash,
  };
}

function writeCode({ hash: _, amount, createdAt, expiresAt, redeemedAt, ...code }: CodeRow): object {
  return {
    ...code,
    amount: writeMoney(amount),
    createdAt: writeTime(createdAt),
    expiresAt: expiresAt === undefined ? undefined : writeTime(expiresAt),
    redeemedAt: redeemedAt === undefined ? undefined : writeTime(redeemedAt),
  };
}
