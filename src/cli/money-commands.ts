/** Commands for money: top-ups, refunds, adjustments, codes, and recomputed bills. */
import { ENTRY_ACTIONS } from '../access/audit.ts';
import { type Money, readMoney, writeMoney } from '../canonical/money.ts';
import { readComponents } from '../catalog/price-text.ts';
import { checkIdempotencyKey } from '../ledger/idempotency-key.ts';
import { type ChargeDifference, enterCorrection, replay } from '../ledger/replay.ts';
import { findAccount } from './account-commands.ts';
import { moneyIn } from './admin-client.ts';
import type { CliDeps } from './cli-deps.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { adminOf, auditedEntry, migratedStore } from './opened.ts';
import { type PrintedRow, printRow, printRows, timeText } from './printed.ts';
import { adminCommand, listCommand } from './shared-commands.ts';
import type { ShownCode, ShownEntry } from './shown.ts';

const text = { type: 'string' } as const;

const topUp: Command = {
  name: 'top-up',
  usage: 'ACCOUNT AMOUNT [--note TEXT] [--idempotency-key TEXT]',
  summary: 'Adds USD to an account: modelport top-up default 5.00',
  options: { note: text, 'idempotency-key': text },
  run: (open, given) => move(open, given, 'top-ups', amountToAdd),
};

const refund: Command = {
  name: 'refund',
  usage: 'ACCOUNT AMOUNT [--call ID] [--note TEXT] [--idempotency-key TEXT]',
  summary: 'Refunds the cost of a call, in whole or in part.',
  options: { call: text, note: text, 'idempotency-key': text },
  run: (open, given) => move(open, given, 'refunds', amountToAdd),
};

const adjust: Command = {
  name: 'adjust',
  usage: 'ACCOUNT AMOUNT --note TEXT [--idempotency-key TEXT]',
  summary: 'Corrects a balance, with a note: modelport adjust default --note "counted twice" -- -0.25',
  options: { note: text, 'idempotency-key': text },
  run(open, given) {
    if (given.option('note') === undefined) throw new UsageError('Give a reason: --note TEXT.');
    return move(open, given, 'adjustments', amountToSet);
  },
};

const amountToAdd = (written: string): Money | undefined => {
  const amount = readMoney(written);
  return amount !== undefined && amount > 0n ? amount : undefined;
};

const amountToSet = (written: string): Money | undefined => {
  const amount = readMoney(written);
  return amount === 0n ? undefined : amount;
};

async function move(
  open: CliDeps,
  given: Given,
  moves: 'top-ups' | 'refunds' | 'adjustments',
  read: (written: string) => Money | undefined,
): Promise<number> {
  const [name = '', written = ''] = given.words;
  const amount = read(written);
  if (amount === undefined) {
    const right = moves === 'adjustments' ? 'above or below zero, such as -0.25' : 'above zero, such as 5.00';
    throw new UsageError(`"${written}" is not a valid amount: write USD ${right}.`);
  }
  const admin = adminOf(open, given);
  const account = await findAccount(admin, name);
  const [note, callId, key] = ['note', 'call', 'idempotency-key'].map((option) => given.option(option));
  const body = {
    amount: writeMoney(amount),
    ...(note !== undefined && { note }),
    ...(callId !== undefined && { callId }),
  };
  const idempotencyKey = key === undefined ? undefined : checkIdempotencyKey(key);
  const entry = await admin.send<ShownEntry>('POST', `/accounts/${account.id}/${moves}`, body, { idempotencyKey });
  printEntry(open, given, account.name, entry);
  return 0;
}

function printEntry(open: CliDeps, given: Given, account: string, entry: ShownEntry): void {
  printRow(open, given, { account, added: moneyIn(entry.amount), balance: moneyIn(entry.balanceAfter) });
}

const createCode = adminCommand(
  {
    name: 'codes create',
    usage: 'AMOUNT [--expires TIME] [--note TEXT]',
    summary: 'Creates a redemption code, which one account can redeem once; the code itself is shown only once.',
    options: { expires: text, note: text },
  },
  async (admin, open, given) => {
    const amount = amountToAdd(given.words[0] ?? '');
    if (amount === undefined)
      throw new UsageError(`"${given.words[0]}" is not a valid amount: write USD above zero, such as 5.00.`);
    const expires = given.option('expires');
    const note = given.option('note');
    const { id, code } = await admin.send<ShownCode>('POST', '/codes', {
      amount: writeMoney(amount),
      ...(expires !== undefined && { expiresAt: timeText(timeOf(expires, 'expires')) }),
      ...(note !== undefined && { note }),
    });
    printRow(open, given, { id, amount, code });
  },
);

const listCodes = listCommand<ShownCode>(
  { name: 'codes list', summary: 'Lists redemption codes and who redeemed them.' },
  {
    path: '/codes',
    row: (code) => ({
      id: code.id,
      last4: code.last4,
      amount: moneyIn(code.amount),
      created: code.createdAt,
      expires: code.expiresAt,
      redeemed: code.redeemedAt,
      by: code.redeemedBy,
      note: code.note,
    }),
    empty: 'There are no codes yet.',
  },
);

const redeem = adminCommand(
  {
    name: 'redeem',
    usage: 'ACCOUNT CODE',
    summary: 'Redeems a code for an account.',
  },
  async (admin, open, given) => {
    const [name = '', code = ''] = given.words;
    const account = await findAccount(admin, name);
    const entry = await admin.send<ShownEntry>('POST', `/accounts/${account.id}/redemptions`, { code });
    printEntry(open, given, account.name, entry);
  },
);

const replayBills: Command = {
  name: 'ledger replay',
  isLocal: true,
  usage: '--since TIME [--until TIME] [--enter]',
  summary:
    'Recomputes bills from stored usage and price versions and shows those that differ; --enter corrects them by entries.',
  options: { since: text, until: text, enter: { type: 'boolean' } },
  async run(open, given) {
    const since = given.option('since');
    if (since === undefined) throw new UsageError('Give a start time: --since 2027-01-31.');
    const until = given.option('until');
    const store = await migratedStore(open);
    const differences: ChargeDifference[] = [];
    const replayed = await replay(store, {
      from: timeOf(since, 'since'),
      to: until === undefined ? open.now() + 1 : timeOf(until, 'until'),
      readPrice: readComponents,
      found: (difference) => void differences.push(difference),
    });
    if (given.flag('enter')) {
      const ledger = await open.ledger();
      for (const difference of differences) {
        const audit = auditedEntry(open, ENTRY_ACTIONS.adjustment, difference.call.account);
        await enterCorrection(ledger, difference, open.now(), audit);
      }
    }
    if (!given.json) open.terminal.out(`${replayed.calls} calls, ${replayed.skipped} of them without usage or price.`);
    printRows(open, given, differences.map(differenceRow), 'Every bill matches its usage and price.');
    return differences.length === 0 || given.flag('enter') ? 0 : 1;
  },
};

function differenceRow({ call, charged, due }: ChargeDifference): PrintedRow {
  return { at: timeText(call.at), id: call.id, account: call.account, model: call.model, charged, due };
}

function timeOf(written: string, option: string): number {
  const time = Date.parse(written);
  if (Number.isNaN(time)) throw new UsageError(`--${option} must be a time such as 2027-01-31T12:00:00Z.`);
  return time;
}

export const MONEY_COMMANDS: readonly Command[] = [topUp, refund, adjust, createCode, listCodes, redeem, replayBills];
