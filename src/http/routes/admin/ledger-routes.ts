/** The admin API's proof that entries, balances, holds, calls and their sums agree. */
import { Type } from 'typebox';
import { writeMoney } from '../../../canonical/money.ts';
import { repairBooks, writeCorrection } from '../../../ledger/repair.ts';
import type { Running } from '../../../ledger/verifier.ts';
import type { Correction } from '../../../store/verify/repair.ts';
import type { VerifyReport } from '../../../store/verify/report.ts';
import { Usd, writeTime } from '../../fields.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { audited } from './audit-routes.ts';

/** A client waits so long for the whole answer, unless it says less; then it is told how far the verification is. */
const WAIT_SECONDS = 10;
const Wait = Type.Optional(
  Type.String({ pattern: '^([0-9]|10)$', description: 'seconds to wait for the report before a 202; 10 where absent' }),
);
const waitMs = (wait: string | undefined) => (wait === undefined ? WAIT_SECONDS : Number(wait)) * 1000;
const RETRY_AFTER_SECONDS = 5;

const Verified = Type.Object({
  ok: Type.Boolean(),
  accounts: Type.Integer(),
  entries: Type.Integer(),
  holds: Type.Integer(),
  counters: Type.Record(Type.String(), Usd),
  faults: Type.Array(Type.String()),
  read: Type.Object(
    { entries: Type.Integer(), calls: Type.Integer() },
    { description: 'how much was read now: the rest stands before signed checkpoints' },
  ),
});

export const LEDGER_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/ledger/verify', {
    gate: 'admin',
    summary:
      'Proves that sums, holds and calls agree and that no entry was altered, from the last signed checkpoints on. What takes longer than ten seconds goes on by itself: 202 says how far it is, and the same request later answers the report. There is one verification at a time.',
    query: Type.Object({
      full: Type.Optional(
        Type.Union([Type.Literal('true'), Type.Literal('false')], { description: 'true: reads everything anew' }),
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
    summary:
      'Verifies, and corrects what follows from the rows beside it: sums by the hour, what keys and accounts have spent and hold, balances. Without `enter` it says what it would do. Accounts with altered or missing rows are left as they are, for a person. 202 while the verification goes on.',
    query: Type.Object({ wait: Wait }),
    body: Type.Object({ enter: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    reply: Type.Object({
      entered: Type.Boolean(),
      corrections: Type.Array(Type.String()),
      left: Type.Array(Type.String(), { description: 'what needs a person' }),
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

function writeReport({ ok, accounts, entries, holds, counters, faults, read }: VerifyReport): object {
  const sums = Object.fromEntries(Object.entries(counters).map(([name, sum]) => [name, writeMoney(sum)]));
  return { ok, accounts, entries, holds, counters: sums, faults, read };
}

function writeRunning({ startedAt, done, total }: Running): Response {
  const body = { state: 'running', startedAt: writeTime(startedAt), done, total };
  return Response.json(body, { status: 202, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } });
}
