/** Commands for accounts. */

import type { AccountChange } from '../store/rows.ts';
import { type AdminClient, moneyIn, part } from './admin-client.ts';
import type { Command, Given } from './command.ts';
import { changeBody, LIMIT_OPTIONS, LIMIT_USAGE, readLimitChanges, withoutNulls } from './limit-options.ts';
import { type PrintedRow, printRow, printRows } from './printed.ts';
import { adminCommand, changeIn, listCommand, switchCommands } from './shared-commands.ts';
import type { ShownAccount } from './shown.ts';

const NO_ACCOUNTS = 'There are no accounts yet.';
const changeAccount = changeIn<ShownAccount>('accounts', rowOf);

const ACCOUNT_OPTIONS = { 'price-group': { type: 'string' }, ...LIMIT_OPTIONS } as const;

function readAccountChanges(given: Given): AccountChange {
  const group = given.option('price-group');
  const change = readLimitChanges(given);
  return group === undefined ? change : { ...change, priceGroup: group === 'none' ? null : group };
}

const create = adminCommand(
  {
    name: 'accounts create',
    usage: `NAME [--price-group GROUP] ${LIMIT_USAGE}`,
    summary: 'Creates an account with a balance of zero.',
    options: ACCOUNT_OPTIONS,
  },
  async (admin, open, given) => {
    const [name = ''] = given.words;
    const limits = changeBody(withoutNulls(readAccountChanges(given)));
    printRow(open, given, rowOf(await admin.send('POST', '/accounts', { name, ...limits })));
  },
);

const list = listCommand<ShownAccount>(
  { name: 'accounts list', summary: 'Lists the accounts.' },
  { path: '/accounts', row: rowOf, empty: NO_ACCOUNTS },
);

const balance = adminCommand(
  {
    name: 'balance',
    usage: '[ACCOUNT]',
    summary: 'Shows what accounts can spend, and what active calls hold.',
  },
  async (admin, open, given) => {
    const [name] = given.words;
    const accounts =
      name === undefined ? await admin.list<ShownAccount>('/accounts') : [await findAccount(admin, name)];
    const rows = accounts.map((account) => ({
      account: account.name,
      available: moneyIn(account.available),
      held: moneyIn(account.held),
    }));
    printRows(open, given, rows, NO_ACCOUNTS);
  },
);

const update: Command = {
  name: 'accounts update',
  usage: `ACCOUNT [--price-group GROUP] ${LIMIT_USAGE}`,
  summary:
    'Changes the price group and the limits of an account, for all its keys together. Options that are not given stay; "none" removes a limit.',
  options: ACCOUNT_OPTIONS,
  run: (open, given) => changeAccount(open, given, 'PATCH', '', changeBody(readAccountChanges(given))),
};

const [disable, enable] = switchCommands('accounts', 'ACCOUNT', changeAccount, {
  disable: 'Disables an account: all its keys are refused.',
  enable: 'Enables a disabled account.',
});

/** Looks up by id or name. */
export function findAccount(admin: AdminClient, idOrName: string): Promise<ShownAccount> {
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
