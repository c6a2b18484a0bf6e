/** Accounts and their spending. */
import { GatewayError } from '../../canonical/errors.ts';
import { type Database, insertInto, raw, type Statement, type Steps, sql, where } from '../database.ts';
import { CHAIN_START } from '../ledger/entry-hash.ts';
import { committed, noSpending, turnTo } from '../ledger/spending.ts';
import type { AccountRow } from '../rows.ts';
import type { Store } from '../store.ts';
import { changeRow, recorded } from './audit-table.ts';
import { toSpending, type WindowColumns } from './key-table.ts';
import { type LimitColumns, limitColumns, limitsFrom } from './limit-columns.ts';

interface AccountColumns extends LimitColumns, WindowColumns {
  id: string;
  name: string;
  balance: bigint;
  held: bigint;
  spent: bigint;
  created_at: bigint;
  price_group: string | null;
  /** Of its group; absent in rows that a statement returns which does not read it. */
  price_factor?: string | null;
}

/** The subquery is not a join, so that the names of the other columns stay unambiguous. */
const FACTOR = raw('(SELECT factor FROM price_groups WHERE price_groups.name = accounts.price_group) AS price_factor');

/** A new account is empty: money comes only from entries. */
export function insertAccount(account: AccountRow): Statement {
  if (account.balance !== 0n || account.held !== 0n) {
    throw new Error('A new account has no money: its balance comes from entries.');
  }
  return insertInto('accounts', {
    id: account.id,
    name: account.name,
    balance: 0n,
    held: 0n,
    last_seq: 0n,
    last_hash: CHAIN_START,
    created_at: account.createdAt,
    price_group: account.priceGroup,
    ...limitColumns(account),
  });
}

export function accountTable(
  db: Database,
): Pick<Store, 'createAccount' | 'account' | 'accounts' | 'updateAccount' | 'accountSpending'> {
  async function refuseTaken(name: string, id: string): Promise<void> {
    const taken = await db.all(sql`SELECT id FROM accounts WHERE name = ${name} AND id <> ${id}`);
    if (taken.length > 0) throw nameTaken(name);
  }

  return {
    async createAccount(account, audit) {
      const insert = sql`${insertAccount(account)} ON CONFLICT (name) DO NOTHING RETURNING id`;
      await db.steps(function* () {
        yield* keepGroup(account.priceGroup);
        if ((yield insert).length === 0) throw nameTaken(account.name);
        yield* recorded(audit, undefined, account);
      });
    },

    async account(idOrName) {
      const found = await db.all<AccountColumns>(
        sql`SELECT accounts.*, ${FACTOR} FROM accounts WHERE id = ${idOrName} OR name = ${idOrName}
          ORDER BY id <> ${idOrName} LIMIT 1`,
      );
      return found[0] && toAccount(found[0]);
    },

    async accounts({ limit, after }) {
      const beyond = after === undefined ? undefined : sql`seq > (SELECT seq FROM accounts WHERE id = ${after})`;
      const rows = await db.all<AccountColumns>(
        sql`SELECT accounts.*, ${FACTOR} FROM accounts ${where([beyond])} ORDER BY seq LIMIT ${limit}`,
      );
      return rows.map(toAccount);
    },

    async updateAccount(id, change, audit) {
      if (change.name !== undefined) await refuseTaken(change.name, id);
      const columns = { name: change.name, price_group: change.priceGroup, ...limitColumns(change) };
      return db.steps(function* () {
        yield* keepGroup(change.priceGroup);
        return yield* changeRow('accounts', id, columns, toAccount, audit)();
      });
    },

    async accountSpending(id, now) {
      const [row] = await db.all<AccountColumns>(sql`SELECT * FROM accounts WHERE id = ${id}`);
      const spending = row ? spendingFrom(row) : noSpending();
      turnTo(spending, now);
      return committed(spending, now);
    },
  };
}

/** Locks the group until the account is in it: an account of a removed group would be charged list prices. Throws `not_found`. */
function* keepGroup(name: string | null | undefined): Steps<void> {
  if (name == null) return;
  const found = yield sql`UPDATE price_groups SET name = name WHERE name = ${name} RETURNING name`;
  if (found.length > 0) return;
  throw new GatewayError('not_found', `There is no price group "${name}".`, { param: 'priceGroup' });
}

function nameTaken(name: string): GatewayError {
  return new GatewayError('conflict', `An account "${name}" already exists.`, { param: 'name' });
}

function toAccount(row: AccountColumns): AccountRow {
  const { id, name, balance, held } = row;
  return {
    id,
    name,
    balance,
    held,
    createdAt: Number(row.created_at),
    ...(row.price_group !== null && { priceGroup: row.price_group }),
    ...(row.price_factor != null && { priceFactor: row.price_factor }),
    ...limitsFrom(row),
  };
}

const spendingFrom = (row: AccountColumns) => toSpending({ ...row, total: row.spent });
