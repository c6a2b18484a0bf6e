/** Keys from a terminal: made, listed, changed, disabled, given a new secret, removed. */
import { issueKey } from '../access/key.ts';
import { newId } from '../canonical/id.ts';
import type { KeyChange, KeyRow, Store } from '../store/store.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { KEY_OPTIONS, KEY_USAGE, readKeyChanges, withoutNulls } from './limit-options.ts';
import { accountNamed, allRows, audited, migratedStore } from './opened.ts';
import { printRow, printRows, type Row, timeText } from './printed.ts';
import type { Opener } from './rooms.ts';

const create: Command = {
  name: 'keys create',
  usage: `ACCOUNT NAME [--admin] ${KEY_USAGE}`,
  summary: 'Makes a key of an account; the key itself is shown this once.',
  options: { admin: { type: 'boolean' }, ...KEY_OPTIONS },
  words: [2, 2],
  async run(open, given) {
    const [accountName = '', name = ''] = given.words;
    const limits = withoutNulls(readKeyChanges(given));
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
    await store.createKey(row, audited(open, 'key.created', row.id));
    printRow(open, given, { id: row.id, account: account.name, name, key });
    return 0;
  },
};

const list: Command = {
  name: 'keys list',
  usage: '[--account ACCOUNT]',
  summary: 'Lists the keys; of the keys themselves only their last four characters.',
  options: { account: { type: 'string' } },
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

const update: Command = {
  name: 'keys update',
  usage: `ID [--name NAME] ${KEY_USAGE}`,
  summary: 'Changes what a key may do: options that are not given stay, "none" takes a limit away.',
  options: { name: { type: 'string' }, ...KEY_OPTIONS },
  words: [1, 1],
  run(open, given) {
    const name = given.option('name');
    const change = { ...readKeyChanges(given), ...(name !== undefined && { name }) };
    return changeKey(open, given, 'key.changed', () => ({ change }));
  },
};

const disable: Command = {
  name: 'keys disable',
  usage: 'ID',
  summary: 'Disables a key.',
  words: [1, 1],
  run: (open, given) => changeKey(open, given, 'key.disabled', () => ({ change: { disabledAt: open.now() } })),
};

const enable: Command = {
  name: 'keys enable',
  usage: 'ID',
  summary: 'Enables a key again.',
  words: [1, 1],
  run: (open, given) => changeKey(open, given, 'key.enabled', () => ({ change: { disabledAt: null } })),
};

const rotate: Command = {
  name: 'keys rotate',
  usage: 'ID [--grace SECONDS]',
  summary: 'Gives a key a new secret; the old one opens nothing from now on, or goes on for the grace.',
  options: { grace: { type: 'string' } },
  words: [1, 1],
  run(open, given) {
    const written = given.option('grace') ?? '0';
    if (!/^\d{1,7}$/.test(written)) throw new UsageError('--grace must be a number of seconds.');
    const graceMs = Number(written) * 1000;
    return changeKey(open, given, 'key.rotated', (before) => {
      const { key, hash, last4 } = issueKey(before.kind);
      const grace = { priorHash: before.hash, priorUntil: open.now() + graceMs };
      return { change: { hash, last4, ...(graceMs > 0 ? grace : { priorHash: null, priorUntil: null }) }, key };
    });
  },
};

const remove: Command = {
  name: 'keys delete',
  usage: 'ID',
  summary: 'Removes a key for good; its calls and what it spent stay on record.',
  words: [1, 1],
  async run(open, given) {
    const store = await migratedStore(open);
    const { id } = await keyOf(store, given);
    await store.removeKey(id, audited(open, 'key.removed', id));
    printRow(open, given, { id, removed: true });
    return 0;
  },
};

async function keyOf(store: Store, { words: [id = ''] }: Given): Promise<KeyRow> {
  const key = await store.keyById(id);
  if (key) return key;
  throw new UsageError(`There is no key with the id "${id}". "modelport keys list" shows those there are.`);
}

/** Changes the key named; a new secret is shown this once. */
async function changeKey(
  open: Opener,
  given: Given,
  action: string,
  changeTo: (before: KeyRow) => { change: KeyChange; key?: string },
): Promise<number> {
  const store = await migratedStore(open);
  const before = await keyOf(store, given);
  const { change, key } = changeTo(before);
  const after = (await store.updateKey(before.id, change, audited(open, action, before.id))) ?? before;
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

export const KEY_COMMANDS: readonly Command[] = [list, create, update, disable, enable, rotate, remove];
