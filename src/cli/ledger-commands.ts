/** Commands that verify and repair the ledger. */
import { writeMoney } from '../canonical/money.ts';
import { repairBooks, writeCorrection } from '../ledger/repair.ts';
import type { Verifier } from '../ledger/verifier.ts';
import type { Correction } from '../store/verify/repair.ts';
import type { VerifyReport } from '../store/verify/report.ts';
import type { CliDeps } from './cli-deps.ts';
import type { Command } from './command.ts';
import { commandAudit, migratedStore } from './opened.ts';
import { printRow } from './printed.ts';

/** After this time the progress is shown. */
const SAY_MS = 2000;

const verify: Command = {
  name: 'ledger verify',
  isLocal: true,
  usage: '[--full]',
  summary:
    'Verifies that sums, holds and calls agree and that no entry was altered, starting from the last signed checkpoints; with --full from the first entry.',
  options: { full: { type: 'boolean' } },
  async run(open, given) {
    await migratedStore(open);
    const report = await verified(open, await open.verifier(), given.flag('full'));
    const { ok, accounts, entries, holds, counters, faults, notes, read } = report;
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
      ...((given.json || notes.length > 0) && { notes }),
    };
    printRow(open, given, row);
    return ok ? 0 : 1;
  },
};

async function verified(open: CliDeps, verifier: Verifier, full: boolean): Promise<VerifyReport> {
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

const repair: Command = {
  name: 'ledger repair',
  isLocal: true,
  usage: '[--enter] [--full]',
  summary:
    'Corrects what "ledger verify" found, if it can be computed from other rows (sums, spending, holds, balances). Shows the corrections; --enter makes them. Altered rows are not changed.',
  options: { enter: { type: 'boolean' }, full: { type: 'boolean' } },
  async run(open, given) {
    const store = await migratedStore(open);
    const report = await verified(open, await open.verifier(), given.flag('full'));
    const enter = given.flag('enter');
    const audit = ({ account }: Correction) => commandAudit(open, 'ledger.repaired', account);
    const { corrections, left } = await repairBooks(store, report, enter, audit);
    const lines = corrections.map(writeCorrection);
    if (given.json) {
      const faults = left.map(({ fault }) => fault);
      open.terminal.out(JSON.stringify({ entered: enter, corrections: lines, left: faults }));
    } else {
      for (const line of lines) open.terminal.out(line);
      for (const { fault } of left) open.terminal.out(`Not repaired: ${fault}`);
      open.terminal.out(endOf(corrections.length, left.length, enter));
    }
    return left.length === 0 && (enter || corrections.length === 0) ? 0 : 1;
  },
};

function endOf(corrections: number, left: number, enter: boolean): string {
  if (corrections + left === 0) return 'The ledger has no faults.';
  if (enter) return `${corrections} corrections entered.`;
  return `${corrections} corrections to be made: "modelport ledger repair --enter" makes them.`;
}

export const LEDGER_COMMANDS: readonly Command[] = [verify, repair];
