/** The admin API's accounts: made, listed, topped up, their ledger read. */
import { Type } from 'typebox';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { writeMoney } from '../canonical/money.ts';
import type { AccountRow, EntryRow, Store } from '../store/store.ts';
import { listOf, moneyOf, PAGE, pageOf, Time, Usd, UsdAsked, writeTime } from './fields.ts';
import type { Rooms } from './rooms.ts';
import { type AnsweredRoute, type Asked, route } from './route.ts';

const Account = Type.Object({ id: Type.String(), name: Type.String(), available: Usd, held: Usd, createdAt: Time });

const NewAccount = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 200, description: 'a name of 1 to 200 characters' }) },
  { additionalProperties: false },
);

const Entry = Type.Object({
  seq: Type.Integer(),
  kind: Type.String({ description: 'one of top-up, charge, refund, adjustment' }),
  amount: Usd,
  balanceAfter: Usd,
  callId: Type.Optional(Type.String()),
  note: Type.Optional(Type.String()),
  at: Time,
  hash: Type.String(),
});

const TopUp = Type.Object(
  { amount: UsdAsked, note: Type.Optional(Type.String({ description: 'a text', maxLength: 1000 })) },
  { additionalProperties: false },
);

export const ACCOUNT_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/accounts', {
    gate: 'admin',
    summary: 'Makes an account, with a balance of zero.',
    body: NewAccount,
    reply: Account,
    answer: async (rooms, { body }) => {
      if (await rooms.store.account(body.name)) {
        throw new GatewayError('conflict', `There is an account "${body.name}" already.`, { param: 'name' });
      }
      const id = newId('acct_');
      const account: AccountRow = { id, name: body.name, balance: 0n, held: 0n, createdAt: rooms.now() };
      await rooms.store.createAccount(account);
      return writeAccount(account);
    },
  }),
  route('GET', '/admin/v1/accounts', {
    gate: 'admin',
    summary: 'Lists the accounts.',
    query: Type.Object(PAGE),
    reply: listOf(Account),
    answer: ({ store }, { query }) =>
      pageOf(
        query,
        (page) => store.accounts(page),
        (account) => account.id,
        writeAccount,
      ),
  }),
  route('GET', '/admin/v1/accounts/:id', {
    gate: 'admin',
    summary: 'Shows an account, by id or name.',
    reply: Account,
    answer: async ({ store }, { path }) => writeAccount(await accountNamed(store, path.id)),
  }),
  route('POST', '/admin/v1/accounts/:id/top-ups', {
    gate: 'admin',
    summary: 'Tops an account up. A repeat with the same Idempotency-Key answers the first top-up and adds nothing.',
    body: TopUp,
    reply: Entry,
    answer: topUp,
  }),
  route('GET', '/admin/v1/accounts/:id/entries', {
    gate: 'admin',
    summary: "Lists the account's ledger.",
    query: Type.Object(PAGE),
    reply: listOf(Entry),
    answer: async ({ store }, { path, query }) => {
      const { id } = await accountNamed(store, path.id);
      return pageOf(
        query,
        (page) => store.entries(id, page),
        (entry) => String(entry.seq),
        writeEntry,
      );
    },
  }),
];

async function topUp(
  rooms: Rooms,
  { path, body, headers }: Asked<unknown, { amount: UsdAsked; note?: string }>,
): Promise<object> {
  const { id } = await accountNamed(rooms.store, path.id);
  const amount = moneyOf(body.amount, 'amount');
  if (amount <= 0n) throw new GatewayError('invalid_request', '"amount" must be above zero.', { param: 'amount' });
  const idempotencyKey = headers.get('idempotency-key');
  const entry = await rooms.ledger.topUp(id, amount, {
    at: rooms.now(),
    // Half a character would come back from the database as another one, and the entry's hash would not fit it.
    ...(body.note !== undefined && { note: body.note.toWellFormed() }),
    ...(idempotencyKey && { idempotencyKey }),
  });
  if (entry.amount !== amount) {
    const sentence = `This Idempotency-Key has topped up ${writeMoney(entry.amount)} USD: use a new one for a new top-up.`;
    throw new GatewayError('conflict', sentence, { param: 'idempotency-key' });
  }
  return writeEntry(entry);
}

/** The account with this id or name; throws `not_found`. */
export async function accountNamed(store: Store, idOrName = '', param = 'account'): Promise<AccountRow> {
  const account = await store.account(idOrName);
  if (account) return account;
  throw new GatewayError('not_found', `There is no account "${idOrName}".`, { param });
}

function writeAccount({ id, name, balance, held, createdAt }: AccountRow): object {
  return {
    id,
    name,
    available: writeMoney(balance - held),
    held: writeMoney(held),
    createdAt: writeTime(createdAt),
  };
}

function writeEntry(entry: EntryRow): object {
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
