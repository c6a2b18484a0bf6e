/** Keys from a terminal: made, listed, disabled, given a new secret. */
import { readRange } from '../access/cidr.ts';
import { issueKey } from '../access/key.ts';
import { newId } from '../canonical/id.ts';
import { type Money, readMoney } from '../canonical/money.ts';
import type { Budget, KeyRow } from '../store/store.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { accountNamed, allRows, migratedStore } from './opened.ts';
import { printRow, printRows, type Row, timeText } from './printed.ts';
import type { Opener } from './rooms.ts';

const text = { type: 'string' } as const;

const create: Command = {
  name: 'keys create',
  usage:
    'ACCOUNT NAME [--admin] [--expires TIME] [--models A,B] [--addresses CIDR,CIDR] [--budget USD] [--budget-day USD] ' +
    '[--budget-month USD] [--requests-per-minute N] [--tokens-per-minute N] [--concurrency N]',
  summary: 'Makes a key of an account; the key itself is shown this once.',
  options: {
    admin: { type: 'boolean' },
    expires: text,
    models: text,
    addresses: text,
    budget: text,
    'budget-day': text,
    'budget-month': text,
    'requests-per-minute': text,
    'tokens-per-minute': text,
    concurrency: text,
  },
  words: [2, 2],
  async run(open, given) {
    const [accountName = '', name = ''] = given.words;
    const limits = readLimits(given);
    const store = await migratedStore(open);
    const account = await accountNamed(store, accountName);
    const kind = given.flag('admin') ? 'admin' : 'caller';
    const { key, hash, last4 } = issueKey(kind);
    const row: KeyRow = {
      id: newId('key_'),
      account: account.id,
      kind,
      name,
      hash,
      last4,
      createdAt: open.now(),
      ...limits,
    };
    await store.createKey(row);
    printRow(open, given, { id: row.id, account: account.name, name, key });
    return 0;
  },
};

const list: Command = {
  name: 'keys list',
  usage: '[--account ACCOUNT]',
  summary: 'Lists the keys; of the keys themselves only their last four characters.',
  options: { account: text },
  words: [0, 0],
  async run(open, given) {
    const store = await migratedStore(open);
    const name = given.option('account');
    const account = name === undefined ? undefined : (await accountNamed(store, name)).id;
    const keys = await allRows((page) => store.keys({ ...page, ...(account !== undefined && { account }) }));
    const rows = keys.map((key) => rowOf(key, open.now()));
    printRows(open, given, rows, 'There is no key yet.');
    return 0;
  },
};

const disable: Command = {
  name: 'keys disable',
  usage: 'ID',
  summary: 'Disables a key.',
  words: [1, 1],
  run: (open, given) => change(open, given, () => ({ disabledAt: open.now() })),
};

const rotate: Command = {
  name: 'keys rotate',
  usage: 'ID',
  summary: 'Gives a key a new secret; the old one opens nothing from now on.',
  words: [1, 1],
  run: (open, given) => change(open, given, ({ kind }) => issueKey(kind)),
};

/** Changes the key named; a new secret is shown this once. */
async function change(
  open: Opener,
  given: Given,
  changeOf: (key: KeyRow) => { disabledAt?: number; hash?: string; last4?: string; key?: string },
): Promise<number> {
  const [id = ''] = given.words;
  const store = await migratedStore(open);
  // A change of nothing reads the row.
  const before = await store.updateKey(id, {});
  if (!before)
    throw new UsageError(`There is no key with the id "${id}". "modelport keys list" shows those there are.`);
  const { key, ...columns } = changeOf(before);
  const after = (await store.updateKey(id, columns)) ?? before;
  printRow(open, given, { ...rowOf(after, open.now()), key });
  return 0;
}

function rowOf(key: KeyRow, now: number): Row {
  const expired = key.expiresAt !== undefined && key.expiresAt <= now;
  return {
    id: key.id,
    name: key.name,
    account: key.account,
    kind: key.kind,
    last4: key.last4,
    state: key.disabledAt !== undefined ? 'disabled' : expired ? 'expired' : 'active',
    created: timeText(key.createdAt),
  };
}

type Limits = Pick<
  KeyRow,
  'expiresAt' | 'models' | 'addresses' | 'budget' | 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency'
>;

function readLimits(given: Given): Limits {
  const limits: Limits = {};
  const expires = given.option('expires');
  if (expires !== undefined) limits.expiresAt = readTime(expires);
  const models = readList(given, 'models');
  if (models) limits.models = models;
  const addresses = readList(given, 'addresses');
  const wrong = addresses?.find((address) => !readRange(address));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no address: write one or a range such as 10.0.0.0/8.`);
  if (addresses) limits.addresses = addresses;
  const budget: Budget = {};
  const spans = { total: 'budget', day: 'budget-day', month: 'budget-month' } as const;
  for (const span of ['total', 'day', 'month'] as const) {
    const amount = readAmount(given, spans[span]);
    if (amount !== undefined) budget[span] = amount;
  }
  if (Object.keys(budget).length > 0) limits.budget = budget;
  for (const [option, member] of COUNTS) {
    const count = readCount(given, option);
    if (count !== undefined) limits[member] = count;
  }
  return limits;
}

const COUNTS = [
  ['requests-per-minute', 'requestsPerMinute'],
  ['tokens-per-minute', 'tokensPerMinute'],
  ['concurrency', 'concurrency'],
] as const;

function readTime(written: string): number {
  const time = Date.parse(written);
  if (Number.isNaN(time)) throw new UsageError('--expires must be a time such as 2027-01-31T12:00:00Z.');
  return time;
}

function readList(given: Given, option: string): string[] | undefined {
  return given
    .option(option)
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function readAmount(given: Given, option: string): Money | undefined {
  const written = given.option(option);
  if (written === undefined) return undefined;
  const amount = readMoney(written);
  if (amount === undefined || amount < 0n) throw new UsageError(`--${option} must be an amount in USD such as 5.00.`);
  return amount;
}

function readCount(given: Given, option: string): number | undefined {
  const written = given.option(option);
  if (written === undefined) return undefined;
  const count = Number(written);
  if (!Number.isSafeInteger(count) || count < 1) throw new UsageError(`--${option} must be a whole number above zero.`);
  return count;
}

export const KEY_COMMANDS: readonly Command[] = [list, create, disable, rotate];
