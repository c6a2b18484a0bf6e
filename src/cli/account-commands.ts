/** Accounts and their money from a terminal. */
import { newId } from '../canonical/id.ts';
import { readMoney } from '../canonical/money.ts';
import type { AccountRow } from '../store/store.ts';
import { type Command, UsageError } from './command.ts';
import { accountNamed, allRows, migratedStore } from './opened.ts';
import { printRow, printRows, type Row, timeText } from './printed.ts';

const create: Command = {
  name: 'accounts create',
  usage: 'NAME',
  summary: 'Makes an account, with a balance of zero.',
  words: [1, 1],
  async run(open, given) {
    const [name = ''] = given.words;
    const store = await migratedStore(open);
    if (await store.account(name)) throw new UsageError(`There is an account "${name}" already.`);
    const account: AccountRow = { id: newId('acct_'), name, balance: 0n, held: 0n, createdAt: open.now() };
    await store.createAccount(account);
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

const topUp: Command = {
  name: 'top-up',
  usage: 'ACCOUNT AMOUNT [--note TEXT]',
  summary: 'Adds USD to an account: modelport top-up default 5.00',
  options: { note: { type: 'string' } },
  words: [2, 2],
  async run(open, given) {
    const [name = '', text = ''] = given.words;
    const amount = readMoney(text);
    if (amount === undefined || amount <= 0n) {
      throw new UsageError(`"${text}" is no amount to add: write USD above zero, such as 5.00.`);
    }
    const account = await accountNamed(await migratedStore(open), name);
    const note = given.option('note');
    const ledger = await open.ledger();
    const entry = await ledger.topUp(account.id, amount, { at: open.now(), ...(note !== undefined && { note }) });
    printRow(open, given, { account: account.name, added: entry.amount, balance: entry.balanceAfter });
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

function rowOf(account: AccountRow): Row {
  return {
    id: account.id,
    name: account.name,
    available: account.balance - account.held,
    held: account.held,
    created: timeText(account.createdAt),
  };
}

export const ACCOUNT_COMMANDS: readonly Command[] = [list, create, topUp, balance];
