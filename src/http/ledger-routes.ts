/** The admin API's proof that entries, balances, holds, calls and their sums agree. */
import { Type } from 'typebox';
import { writeMoney } from '../canonical/money.ts';
import type { Running } from '../ledger/verifier.ts';
import type { VerifyReport } from '../store/verify/report.ts';
import { Usd, writeTime } from './fields.ts';
import { type AnsweredRoute, route } from './route.ts';

/** A client waits so long for the whole answer; then it is told how far the verification is. */
const WAIT_MS = 10_000;
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
    }),
    reply: Verified,
    answer: async ({ verifier }, { query }) => {
      const answer = await verifier.ask({ full: query.full === 'true' }, WAIT_MS);
      return 'ok' in answer ? writeReport(answer) : writeRunning(answer);
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
