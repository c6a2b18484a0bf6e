/** Proves that the books in SQLite agree: entries, balances, holds, calls, key spendings, and that no entry was altered. */
import { Database } from 'bun:sqlite';
import type { Money } from '../../canonical/money.ts';
import { CHAIN_START, entryHash } from '../entry-hash.ts';
import type { EntryRow, VerifyReport } from '../store.ts';
import { type EntryColumns, readEntry } from './ledger-tables.ts';

/** Rows between two breaths: the process has calls to serve meanwhile. */
const CHUNK = 500;

interface AccountColumns {
  id: string;
  balance: bigint;
  held: bigint;
  spent: bigint;
  last_seq: bigint;
  last_hash: string;
}

interface CallColumns {
  seq: bigint;
  id: string;
  account: string;
  key: string;
  cost: bigint;
  entry_seq: bigint | null;
}

/** Reads over a connection of its own, so that all of it is one moment of the database however long it takes. */
export async function verifySqlite(path: string): Promise<VerifyReport> {
  const db = new Database(path, { readonly: true, safeIntegers: true });
  try {
    db.run('BEGIN');
    const faults: string[] = [];
    const counts = await verifyAccounts(db, faults);
    verifyHolds(db, faults);
    const spent = await verifyCalls(db, faults);
    verifySpendings(db, spent, faults);
    const holds = Number(db.query<{ n: bigint }, []>('SELECT count(*) AS n FROM holds').get()?.n ?? 0n);
    return { ok: faults.length === 0, ...counts, holds, faults };
  } finally {
    db.close();
  }
}

async function verifyAccounts(db: Database, faults: string[]): Promise<{ accounts: number; entries: number }> {
  const accounts = db
    .query<AccountColumns, []>('SELECT id, balance, held, spent, last_seq, last_hash FROM accounts')
    .all();
  const held = db.query<{ sum: bigint }, [string]>(
    'SELECT coalesce(sum(amount), 0) AS sum FROM holds WHERE account = ?',
  );
  let entries = 0;
  for (const account of accounts) {
    entries += await verifyEntries(db, account, faults);
    const holds = held.get(account.id)?.sum ?? 0n;
    if (holds !== account.held) {
      faults.push(`Account ${account.id} has ${account.held} on hold, but its open holds add up to ${holds}.`);
    }
  }
  const all = Number(db.query<{ n: bigint }, []>('SELECT count(*) AS n FROM entries').get()?.n ?? 0n);
  if (all !== entries) faults.push(`${all - entries} entries belong to no account.`);
  return { accounts: accounts.length, entries: all };
}

async function verifyEntries(db: Database, account: AccountColumns, faults: string[]): Promise<number> {
  const page = db.query<EntryColumns, [string, number]>(
    `SELECT * FROM entries WHERE account = ? AND seq > ? ORDER BY seq LIMIT ${CHUNK}`,
  );
  let count = 0;
  let charged = 0n;
  let last = { seq: 0, balance: 0n as Money, hash: CHAIN_START };
  for (;;) {
    const rows = page.all(account.id, last.seq);
    for (const row of rows) {
      const entry = readEntry(row);
      verifyEntry(db, entry, last, faults);
      if (entry.kind === 'charge') charged -= entry.amount;
      last = { seq: entry.seq, balance: last.balance + entry.amount, hash: entry.hash };
      count++;
    }
    if (rows.length < CHUNK) break;
    await breath();
  }
  if (last.balance !== account.balance) {
    faults.push(`Account ${account.id} has the balance ${account.balance}, but its entries add up to ${last.balance}.`);
  }
  if (charged !== account.spent) {
    faults.push(`Account ${account.id} has spent ${account.spent}, but its charges add up to ${charged}.`);
  }
  if (last.seq !== Number(account.last_seq) || last.hash !== account.last_hash) {
    faults.push(
      `Account ${account.id} ends at entry ${account.last_seq}, but its newest entry is another: ${last.seq}.`,
    );
  }
  return count;
}

function verifyEntry(
  db: Database,
  entry: EntryRow,
  last: { seq: number; balance: Money; hash: string },
  faults: string[],
): void {
  const name = `Entry ${entry.seq} of account ${entry.account}`;
  if (entry.seq !== last.seq + 1) faults.push(`${name} follows entry ${last.seq}: those between are missing.`);
  if (entry.balanceAfter !== last.balance + entry.amount) {
    faults.push(`${name} says the balance after it is ${entry.balanceAfter}, it is ${last.balance + entry.amount}.`);
  }
  if (entry.hash !== entryHash(last.hash, entry)) faults.push(`${name} was altered: its hash does not fit it.`);
  if (entry.kind !== 'charge') return;
  const call = db
    .query<CallColumns, [string]>('SELECT id, account, key, cost, entry_seq FROM calls WHERE id = ?')
    .get(entry.callId ?? '');
  if (!call) {
    faults.push(`${name} charges call ${entry.callId}, which is not recorded.`);
  } else if (call.entry_seq !== BigInt(entry.seq) || call.account !== entry.account || call.cost !== -entry.amount) {
    faults.push(
      `${name} charges ${-entry.amount} for call ${call.id}, whose record says ${call.cost} by entry ${call.entry_seq}.`,
    );
  }
}

function verifyHolds(db: Database, faults: string[]): void {
  const ended = db.query<{ call_id: string }, []>(
    'SELECT call_id FROM holds WHERE EXISTS (SELECT 1 FROM calls WHERE id = call_id)',
  );
  for (const hold of ended.all()) faults.push(`Call ${hold.call_id} is recorded, but its hold is still open.`);
  const homeless = db.query<{ call_id: string }, []>(
    'SELECT call_id FROM holds WHERE account NOT IN (SELECT id FROM accounts)',
  );
  for (const hold of homeless.all()) faults.push(`The hold of call ${hold.call_id} belongs to no account.`);
}

/** Sums of the calls by key. */
async function verifyCalls(db: Database, faults: string[]): Promise<Map<string, Money>> {
  const spent = new Map<string, Money>();
  const page = db.query<CallColumns & { charged: bigint | null }, [string]>(
    `SELECT id, calls.account, key, cost, entry_seq, entries.seq AS charged FROM calls
     LEFT JOIN entries ON entries.account = calls.account AND entries.seq = entry_seq AND entries.call_id = id
     WHERE calls.id > ? ORDER BY calls.id LIMIT ${CHUNK}`,
  );
  for (let after = ''; ; ) {
    const calls = page.all(after);
    for (const call of calls) {
      after = call.id;
      spent.set(call.key, (spent.get(call.key) ?? 0n) + call.cost);
      if (call.cost !== 0n && call.charged === null)
        faults.push(`Call ${call.id} cost ${call.cost} but no entry charges it.`);
    }
    if (calls.length < CHUNK) return spent;
    await breath();
  }
}

function verifySpendings(db: Database, spent: ReadonlyMap<string, Money>, faults: string[]): void {
  const rows = db
    .query<{ key: string; held: bigint; total: bigint; holds: bigint }, []>(
      `SELECT key, held, total, (SELECT coalesce(sum(amount), 0) FROM holds WHERE holds.key = spendings.key) AS holds
       FROM spendings`,
    )
    .all();
  for (const { key, held, total, holds } of rows) {
    const calls = spent.get(key) ?? 0n;
    if (total !== calls) faults.push(`Key ${key} has spent ${total}, but its calls add up to ${calls}.`);
    if (held !== holds) faults.push(`Key ${key} has ${held} on hold, but its open holds add up to ${holds}.`);
  }
}

/** Lets the event loop turn. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
