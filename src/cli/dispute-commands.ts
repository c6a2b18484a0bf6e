/** Commands for disputed calls. */
import { moneyIn, part } from './admin-client.ts';
import type { Command } from './command.ts';
import { adminOf } from './opened.ts';
import { printRow, printRows, type Row } from './printed.ts';
import type { ShownCall, ShownEntry } from './shown.ts';

const list: Command = {
  name: 'disputes list',
  usage: '',
  summary: 'Lists calls whose provider reported implausible usage: what was charged, and what the provider claims.',
  words: [0, 0],
  async run(open, given) {
    const calls = await adminOf(open, given).list<ShownCall>('/calls', { outcome: 'disputed' });
    const rows = calls.map(({ at, id, account, model, provider, dispute }): Row => {
      const [charged, claimed] = dispute ? [moneyIn(dispute.charged), moneyIn(dispute.claimed)] : [];
      return { at, id, account, model, provider, charged, claimed, decision: dispute?.decision ?? 'open' };
    });
    printRows(open, given, rows, 'No call is disputed.');
    return 0;
  },
};

const settling = (decision: 'accept' | 'reject', summary: string): Command => ({
  name: `disputes ${decision}`,
  usage: 'CALL',
  summary,
  words: [1, 1],
  async run(open, given) {
    const [id = ''] = given.words;
    const admin = adminOf(open, given);
    const { account } = await admin.get<ShownCall>(`/calls/${part(id)}`);
    const entry = await admin.send<ShownEntry>('POST', `/calls/${part(id)}/dispute`, { decision });
    printRow(open, given, { call: id, account, moved: moneyIn(entry.amount), balance: moneyIn(entry.balanceAfter) });
    return 0;
  },
});

export const DISPUTE_COMMANDS: readonly Command[] = [
  list,
  settling('accept', "Charges what a disputed call's provider claims beyond the charge."),
  settling('reject', 'Refunds what a disputed call was charged beyond the delivered usage.'),
];
