/** Commands for keys. */
import { findAccount } from './account-commands.ts';
import type { CliDeps } from './cli-deps.ts';
import { type Command, UsageError } from './command.ts';
import { changeBody, KEY_OPTIONS, KEY_USAGE, readKeyChanges, withoutNulls } from './limit-options.ts';
import { type PrintedRow, printRow } from './printed.ts';
import { adminCommand, changeIn, deleteCommand, listCommand, switchCommands } from './shared-commands.ts';
import type { ShownKey } from './shown.ts';

/** A new secret is shown only once. */
const changeKey = changeIn<ShownKey>('keys', (key, open) => ({ ...rowOf(key, open), key: key.key }));

const create = adminCommand(
  {
    name: 'keys create',
    usage: `ACCOUNT NAME [--admin] ${KEY_USAGE}`,
    summary: 'Creates a key for an account; the key itself is shown only once.',
    options: { admin: { type: 'boolean' }, ...KEY_OPTIONS },
  },
  async (admin, open, given) => {
    const [accountName = '', name = ''] = given.words;
    const limits = changeBody(withoutNulls(readKeyChanges(given)));
    const account = await findAccount(admin, accountName);
    const kind = given.flag('admin') ? 'admin' : 'caller';
    const { id, key } = await admin.send<ShownKey>('POST', '/keys', { account: account.id, name, kind, ...limits });
    printRow(open, given, { id, account: account.name, name, key });
  },
);

const list = listCommand<ShownKey>(
  {
    name: 'keys list',
    usage: '[--account ACCOUNT]',
    summary: 'Lists keys. Only their last four characters are shown.',
    options: { account: { type: 'string' } },
  },
  {
    path: '/keys',
    query: (given) => ({ account: given.option('account') }),
    row: rowOf,
    empty: 'There are no keys yet.',
  },
);

const update: Command = {
  name: 'keys update',
  usage: `ID [--name NAME] ${KEY_USAGE}`,
  summary: 'Changes what a key may do. Options that are not given stay; "none" removes a limit.',
  options: { name: { type: 'string' }, ...KEY_OPTIONS },
  run(open, given) {
    const name = given.option('name');
    const body = { ...changeBody(readKeyChanges(given)), ...(name !== undefined && { name }) };
    return changeKey(open, given, 'PATCH', '', body);
  },
};

const [disable, enable] = switchCommands('keys', 'ID', changeKey, {
  disable: 'Disables a key.',
  enable: 'Enables a disabled key.',
});

const rotate: Command = {
  name: 'keys rotate',
  usage: 'ID [--grace SECONDS]',
  summary: 'Gives a key a new secret. The old one ends at once, or after the grace period.',
  options: { grace: { type: 'string' } },
  run(open, given) {
    const written = given.option('grace') ?? '0';
    if (!/^\d{1,7}$/.test(written)) throw new UsageError('--grace must be a number of seconds.');
    return changeKey(open, given, 'POST', '/rotate', { graceSeconds: Number(written) });
  },
};

const remove = deleteCommand(
  {
    name: 'keys delete',
    usage: 'ID',
    summary: 'Removes a key permanently; its calls and its spending are kept.',
  },
  'keys',
);

function rowOf(key: ShownKey, open: CliDeps): PrintedRow {
  const expired = key.expiresAt !== undefined && Date.parse(key.expiresAt) <= open.now();
  return {
    id: key.id,
    name: key.name,
    account: key.account,
    kind: key.kind,
    last4: key.last4,
    state: key.disabledAt !== undefined ? 'disabled' : expired ? 'expired' : 'active',
    created: key.createdAt,
  };
}

export const KEY_COMMANDS: readonly Command[] = [list, create, update, disable, enable, rotate, remove];
