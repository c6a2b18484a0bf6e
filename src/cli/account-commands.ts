/** Commands for accounts. */
import { type AdminClient, moneyIn, part } from './admin-client.ts';
import type { Command } from './command.ts';
import { changeBody, LIMIT_OPTIONS, LIMIT_USAGE, readLimitChanges, withoutNulls } from './limit-options.ts';
import { adminOf } from './opened.ts';
import { type PrintedRow, printRow, printRows } from './printed.ts';
import { changeIn, listCommand, switchCommands } from './shared-commands.ts';
import type { ShownAccount } from './shown.ts';

const NO_ACCOUNTS = 'There are no accounts yet.';
const changeAccount = changeIn<ShownAccount>('accounts', rowOf);

const create: Command = {
  name: 'accounts create',
  usage: `NAME ${LIMIT_USAGE}`,
  summary: 'Creates an account with a balance of zero.',
  options: LIMIT_OPTIONS,
  async run(open, given) {
    const [name = ''] = given.words;
    const limits = changeBody(withoutNulls(readLimitChanges(given)));
    printRow(open, given, rowOf(await adminOf(open, given).send('POST', '/accounts', { name, ...limits })));
    return 0;
  },
};

const list = listCommand<ShownAccount>(
  { name: 'accounts list', summary: 'Lists the accounts.' },
  { path: '/accounts', row: rowOf, empty: NO_ACCOUNTS },
);

const balance: Command = {
  name: 'balance',
  usage: '[ACCOUNT]',
  summary: 'Shows what accounts can spend, and what active calls hold.',
  async run(open, given) {
    const admin = adminOf(open, given);
    const [name] = given.words;
    const accounts =
      name === undefined ? await admin.list<ShownAccount>('/accounts') : [await accountNamed(admin, name)];
    const rows = accounts.map((account) => ({
      account: account.name,
      available: moneyIn(account.available),
      held: moneyIn(account.held),
    }));
    printRows(open, given, rows, NO_ACCOUNTS);
    return 0;
  },
};

const update: Command = {
  name: 'accounts update',
  usage: `ACCOUNT ${LIMIT_USAGE}`,
  summary:
    'Changes the limits of an account, for all its keys together. Options that are not given stay; "none" removes a limit.',
  options: LIMIT_OPTIONS,
  run: (open, given) => changeAccount(open, given, 'PATCH', '', changeBody(readLimitChanges(given))),
};

const [disable, enable] = switchCommands('accounts', 'ACCOUNT', changeAccount, {
  disable: 'Disables an account: all its keys are refused.',
  enable: 'Enables a disabled account.',
});

/** Looks up by id or name. */
export function accountNamed(admin: AdminClient, idOrName: string): Promise<ShownAccount> {
  return admin.get(`/accounts/${part(idOrName)}`);
}

function rowOf(account: ShownAccount): PrintedRow {
  return {
    id: account.id,
    name: account.name,
    available: moneyIn(account.available),
    held: moneyIn(account.held),
    state: account.disabledAt === undefined ? 'active' : 'disabled',
    created: account.createdAt,
  };
}

export const ACCOUNT_COMMANDS: readonly Command[] = [list, create, update, disable, enable, balance];
