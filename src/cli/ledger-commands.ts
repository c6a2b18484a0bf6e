/** The proof of the books from a terminal. */
import { writeMoney } from '../canonical/money.ts';
import type { Verifier } from '../ledger/verifier.ts';
import type { VerifyReport } from '../store/verify/report.ts';
import type { Command } from './command.ts';
import { migratedStore } from './opened.ts';
import { printRow } from './printed.ts';
import type { Opener } from './rooms.ts';

/** Who waits longer than this sees how far it is. */
const SAY_MS = 2000;

const verify: Command = {
  name: 'ledger verify',
  usage: '[--full]',
  summary:
    'Proves that sums, holds and calls agree and that no entry was altered, from the last signed checkpoints on; with --full from the first entry.',
  options: { full: { type: 'boolean' } },
  words: [0, 0],
  async run(open, given) {
    await migratedStore(open);
    const report = await verified(open, await open.verifier(), given.flag('full'));
    const { ok, accounts, entries, holds, counters, faults, read } = report;
    const books = Object.fromEntries(Object.entries(counters).map(([name, sum]) => [name, writeMoney(sum)]));
    const now = { 'entries read': read.entries, 'calls read': read.calls };
    const row = {
      ok,
      accounts,
      entries,
      holds,
      ...now,
      ...books,
      ...((given.json || faults.length > 0) && { faults }),
    };
    printRow(open, given, row);
    return ok ? 0 : 1;
  },
};

async function verified(open: Opener, verifier: Verifier, full: boolean): Promise<VerifyReport> {
  const say = async () => {
    const running = await verifier.running();
    if (running) open.terminal.err(`${running.done} of ${running.total} entries and calls read.`);
  };
  const saying = setInterval(() => void say().catch(() => {}), SAY_MS);
  try {
    return await verifier.verify({ full });
  } finally {
    clearInterval(saying);
  }
}

export const LEDGER_COMMANDS: readonly Command[] = [verify];
