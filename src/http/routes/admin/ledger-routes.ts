/** Admin API: verification and repair of the ledger. */
import { Type } from 'typebox';
import { writeMoney } from '../../../canonical/money.ts';
import { repairBooks, writeCorrection } from '../../../ledger/repair.ts';
import type { Running } from '../../../ledger/verifier.ts';
import type { Correction } from '../../../store/verify/repair.ts';
import type { VerifyReport } from '../../../store/verify/report.ts';
import { named } from '../../fields/named.ts';
import { writeTime } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { audited } from './audit-routes.ts';

/** The default time for which the request waits for the report before it answers 202. */
const WAIT_SECONDS = 10;
const Wait = Type.Optional(
  Type.String({
    pattern: '^([0-9]|10)$',
    description: 'the seconds to wait for the report before a 202; 10 by default',
  }),
);
const waitMs = (wait: string | undefined) => (wait === undefined ? WAIT_SECONDS : Number(wait)) * 1000;
const RETRY_AFTER_SECONDS = 5;

const Verified = named('LedgerVerification', {
  ok: Type.Boolean(),
  accounts: Type.Integer(),
  entries: Type.Integer(),
  holds: Type.Integer(),
  counters: Type.Record(Type.String(), Usd),
  faults: Type.Array(Type.String()),
  notes: Type.Array(Type.String(), {
    description: 'what is no fault: calls that an older release recorded without the sums of this one',
  }),
  read: Type.Object(
    { entries: Type.Integer(), calls: Type.Integer() },
    { description: 'the amount read now; signed checkpoints cover the rest' },
  ),
});

export const LEDGER_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/ledger/verify', {
    gate: 'admin',
    permission: 'money:read',
    summary:
      'Verifies that sums, holds and calls agree and that no entry was altered, starting from the last signed checkpoints. A verification above ten seconds continues in the background: 202 reports its progress, and the same request returns the report later. Only one verification runs at a time.',
    query: Type.Object({
      full: Type.Optional(
        Type.Union([Type.Literal('true'), Type.Literal('false')], {
          description: 'true: ignore checkpoints and read everything',
        }),
      ),
      wait: Wait,
    }),
    reply: Verified,
    answer: async ({ verifier }, { query }) => {
      const answer = await verifier.ask({ full: query.full === 'true' }, waitMs(query.wait));
      return 'ok' in answer ? writeReport(answer) : writeRunning(answer);
    },
  }),
  route('POST', '/admin/v1/ledger/repair', {
    gate: 'admin',
    permission: 'money:write',
    summary:
      'Verifies, and corrects derived values: hourly sums, what keys and accounts have spent and hold, balances. Without `enter` it only reports what it would do. Accounts with altered or missing rows are not touched: a person must decide. 202 while the verification continues.',
    query: Type.Object({ wait: Wait }),
    body: Type.Object({ enter: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    reply: Type.Object({
      entered: Type.Boolean(),
      corrections: Type.Array(Type.String()),
      left: Type.Array(Type.String(), { description: 'what a person must decide' }),
    }),
    answer: async (deps, { body, query, caller }) => {
      const answer = await deps.verifier.ask({}, waitMs(query.wait));
      if (!('ok' in answer)) return writeRunning(answer);
      const entered = body.enter === true;
      const audit = ({ account }: Correction) => audited(deps, caller, 'ledger.repaired', account);
      const { corrections, left } = await repairBooks(deps.store, answer, entered, audit);
      return { entered, corrections: corrections.map(writeCorrection), left: left.map(({ fault }) => fault) };
    },
  }),
];

function writeReport({ ok, accounts, entries, holds, counters, faults, notes, read }: VerifyReport): object {
  const sums = Object.fromEntries(Object.entries(counters).map(([name, sum]) => [name, writeMoney(sum)]));
  return { ok, accounts, entries, holds, counters: sums, faults, notes, read };
}

function writeRunning({ startedAt, done, total }: Running): Response {
  const body = { state: 'running', startedAt: writeTime(startedAt), done, total };
  return Response.json(body, { status: 202, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } });
}
