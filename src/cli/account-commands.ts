/** Accounts from a terminal. */
import { newId } from '../canonical/id.ts';
import type { AccountChange, AccountRow } from '../store/store.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { LIMIT_OPTIONS, LIMIT_USAGE, readLimitChanges, withoutNulls } from './limit-options.ts';
import { accountNamed, allRows, audited, migratedStore } from './opened.ts';
import { printRow, printRows, type Row, timeText } from './printed.ts';
import type { Opener } from './rooms.ts';

const create: Command = {
  name: 'accounts create',
  usage: `NAME ${LIMIT_USAGE}`,
  summary: 'Makes an account, with a balance of zero.',
  options: LIMIT_OPTIONS,
  words: [1, 1],
  async run(open, given) {
    const [name = ''] = given.words;
    const limits = withoutNulls(readLimitChanges(given));
    const store = await migratedStore(open);
    if (await store.account(name)) throw new UsageError(`There is an account "${name}" already.`);
    const empty = { id: newId('acct_'), name, balance: 0n, held: 0n, createdAt: open.now() };
    const account: AccountRow = { ...empty, ...limits };
    await store.createAccount(account, audited(open, 'account.created', account.id));
    printRow(open, given, rowOf(account));
    return 0;
  },
};

const list: Command = {
  name: 'accounts list',
  usage: '',
  summary: 'Lists the accounts.',
  words: [0, 0],
  async run(open, given) {
    const store = await migratedStore(open);
    printRows(open, given, (await allRows((page) => store.accounts(page))).map(rowOf), 'There is no account yet.');
    return 0;
  },
};

const balance: Command = {
  name: 'balance',
  usage: '[ACCOUNT]',
  summary: 'Shows what accounts can spend, and what calls under way hold.',
  words: [0, 1],
  async run(open, given) {
    const store = await migratedStore(open);
    const [name] = given.words;
    const accounts =
      name === undefined ? await allRows((page) => store.accounts(page)) : [await accountNamed(store, name)];
    const rows = accounts.map((account) => ({
      account: account.name,
      available: account.balance - account.held,
      held: account.held,
    }));
    printRows(open, given, rows, 'There is no account yet.');
    return 0;
  },
};

const update: Command = {
  name: 'accounts update',
  usage: `ACCOUNT ${LIMIT_USAGE}`,
  summary:
    'Changes what the keys of an account may do together: options that are not given stay, "none" takes a limit away.',
  options: LIMIT_OPTIONS,
  words: [1, 1],
  run: (open, given) => changeAccount(open, given, 'account.changed', readLimitChanges(given)),
};

const disable: Command = {
  name: 'accounts disable',
  usage: 'ACCOUNT',
  summary: 'Disables an account: none of its keys calls any more.',
  words: [1, 1],
  run: (open, given) => changeAccount(open, given, 'account.disabled', { disabledAt: open.now() }),
};

const enable: Command = {
  name: 'accounts enable',
  usage: 'ACCOUNT',
  summary: 'Enables an account again.',
  words: [1, 1],
  run: (open, given) => changeAccount(open, given, 'account.enabled', { disabledAt: null }),
};

async function changeAccount(open: Opener, given: Given, action: string, change: AccountChange): Promise<number> {
  const [name = ''] = given.words;
  const store = await migratedStore(open);
  const before = await accountNamed(store, name);
  const after = await store.updateAccount(before.id, change, audited(open, action, before.id));
  printRow(open, given, rowOf(after ?? before));
  return 0;
}

function rowOf(account: AccountRow): Row {
  return {
    id: account.id,
    name: account.name,
    available: account.balance - account.held,
    held: account.held,
    state: account.disabledAt === undefined ? 'active' : 'disabled',
    created: timeText(account.createdAt),
  };
}

export const ACCOUNT_COMMANDS: readonly Command[] = [list, create, update, disable, enable, balance];
