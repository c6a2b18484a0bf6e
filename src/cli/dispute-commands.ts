/** Commands for disputed calls. */
import { moneyIn, part } from './admin-client.ts';
import type { Command } from './command.ts';
import { adminOf } from './opened.ts';
import { printRow } from './printed.ts';
import { listCommand } from './shared-commands.ts';
import type { ShownCall, ShownEntry } from './shown.ts';

const list = listCommand<ShownCall>(
  {
    name: 'disputes list',
    summary: 'Lists calls whose provider reported implausible usage: what was charged, and what the provider claims.',
  },
  {
    path: '/calls',
    query: () => ({ outcome: 'disputed' }),
    row({ at, id, account, model, provider, dispute }) {
      const [charged, claimed] = dispute ? [moneyIn(dispute.charged), moneyIn(dispute.claimed)] : [];
      return { at, id, account, model, provider, charged, claimed, decision: dispute?.decision ?? 'open' };
    },
    empty: 'No call is disputed.',
  },
);

const settling = (decision: 'accept' | 'reject', summary: string): Command => ({
  name: `disputes ${decision}`,
  usage: 'CALL',
  summary,
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
