/** Disputed calls from a terminal: listed, and settled either way. */
import { readComponents } from '../catalog/price-text.ts';
import { type Decision, disputeOf, settleDispute } from '../ledger/disputes.ts';
import type { Command } from './command.ts';
import { allRows, auditedEntry, migratedStore } from './opened.ts';
import { printRow, printRows, type Row, timeText } from './printed.ts';

const list: Command = {
  name: 'disputes list',
  usage: '',
  summary: "Lists the calls whose provider's report was not believed: what was charged, and what it claims.",
  words: [0, 0],
  async run(open, given) {
    const store = await migratedStore(open);
    const calls = await allRows((page) => store.calls({ ...page, outcome: 'disputed' }));
    const rows: Row[] = [];
    for (const call of calls) {
      const dispute = await disputeOf(store, call);
      const { id, account, model, provider } = call;
      const { charged, claimed, decision = 'open' } = dispute ?? {};
      rows.push({ at: timeText(call.at), id, account, model, provider, charged, claimed, decision });
    }
    printRows(open, given, rows, 'No call is disputed.');
    return 0;
  },
};

const settling = (decision: Decision, summary: string): Command => ({
  name: `disputes ${decision}`,
  usage: 'CALL',
  summary,
  words: [1, 1],
  async run(open, given) {
    const [id = ''] = given.words;
    const store = await migratedStore(open);
    const settings = { store, ledger: await open.ledger(), readPrice: readComponents };
    const audit = () => auditedEntry(open, `call.dispute-${decision}ed`, id);
    const entry = await settleDispute(settings, id, decision, open.now(), audit);
    printRow(open, given, { call: id, account: entry.account, moved: entry.amount, balance: entry.balanceAfter });
    return 0;
  },
});

export const DISPUTE_COMMANDS: readonly Command[] = [
  list,
  settling('accept', "Charges what a disputed call's provider claims beyond what was charged."),
  settling('reject', 'Gives back what a disputed call was charged beyond what was delivered.'),
];
