/** Corrects sums from the rows that they are computed from. */
import { HOUR_MS } from '../call-sums.ts';
import { type Database, raw, type Statement, type Steps, sql } from '../database.ts';
import { FIGURES, type FigureColumns, SUMS_OF_CALLS } from '../sum-columns.ts';
import { CHANGED, HOURS_PER_DAY } from '../usage-days.ts';
import type { Correction, RepairStore } from '../verify/repair.ts';
import type { Finding } from '../verify/report.ts';
import { insertAudit } from './audit-table.ts';

/** Thrown to roll back a preview. */
class Preview extends Error {
  readonly corrections: Correction[];
  constructor(corrections: Correction[]) {
    super('A preview is rolled back.');
    this.corrections = corrections;
  }
}

const sumOf = (column: string) => raw(`CAST(coalesce(sum(${column}), 0) AS BIGINT)`);

/** `touch`: an update of an account's row that locks it and makes the caches of other processes invalid. */
export function repairTable(db: Database, touch: Statement): RepairStore {
  return {
    async repair(account, findings, enter, audit) {
      try {
        return await db.steps(function* () {
          const corrections = yield* repairAccount(account, findings, touch);
          for (const one of corrections) yield insertAudit(audit(one)(one.before, one.after));
          if (!enter) throw new Preview(corrections);
          return corrections;
        });
      } catch (thrown) {
        if (thrown instanceof Preview) return thrown.corrections;
        throw thrown;
      }
    },
  };
}

interface RepairAccountColumns {
  balance: bigint;
  held: bigint;
  spent: bigint;
  last_seq: bigint;
  last_hash: string;
}

function* repairAccount(account: string, findings: readonly Finding[], touch: Statement): Steps<Correction[]> {
  const [row] = (yield sql`UPDATE accounts SET ${touch} WHERE id = ${account}
    RETURNING balance, held, spent, last_seq, last_hash`) as RepairAccountColumns[];
  if (!row) return [];
  const corrections: Correction[] = [];
  const keys = new Set(findings.flatMap(({ key }) => key ?? []));
  // Corrects first what later corrections are computed from.
  for (const { kind, callId } of findings)
    if (kind === 'hold-ended' && callId !== undefined) yield* endHold(account, callId, keys, corrections);
  for (const finding of findings) if (finding.kind === 'hour-sum') yield* repairHour(account, finding, corrections);
  for (const key of keys) yield* repairKey(account, key, corrections);
  const [{ held } = { held: 0n }] = (yield sql`SELECT ${sumOf('amount')} AS held FROM holds
    WHERE account = ${account}`) as { held: bigint }[];
  if (held !== row.held) {
    yield sql`UPDATE accounts SET held = ${held} WHERE id = ${account}`;
    corrections.push({ account, what: `holds of account ${account}`, before: { held: row.held }, after: { held } });
  }
  if (findings.some(({ kind }) => kind === 'account-balance' || kind === 'account-spent'))
    yield* repairBalance(account, row, corrections);
  return corrections;
}

function* endHold(account: string, callId: string, keys: Set<string>, corrections: Correction[]): Steps<void> {
  const [hold] = (yield sql`DELETE FROM holds WHERE call_id = ${callId} AND account = ${account}
    AND coalesce((SELECT 1 FROM calls WHERE calls.id = holds.call_id LIMIT 1), 0) = 1
    RETURNING key, amount`) as { key: string; amount: bigint }[];
  if (!hold) return;
  keys.add(hold.key);
  corrections.push({
    account,
    what: `hold of call ${callId}, which has ended`,
    before: { held: hold.amount },
    after: {},
  });
}

function* repairHour(
  account: string,
  { key = '', model = '', hour = 0 }: Finding,
  corrections: Correction[],
): Steps<void> {
  const place = sql`account = ${account} AND hour = ${hour} AND key = ${key} AND model = ${model}`;
  const [kept] = (yield sql`SELECT ${raw(FIGURES)} FROM call_sums WHERE ${place}`) as FigureColumns[];
  const ofCalls = sql`calls.account = ${account} AND calls.at >= ${hour * HOUR_MS} AND calls.at < ${(hour + 1) * HOUR_MS}
    AND calls.key = ${key} AND calls.model = ${model}`;
  const [made] = (yield sql`SELECT ${raw(SUMS_OF_CALLS)} FROM calls WHERE ${ofCalls}`) as FigureColumns[];
  if (!made || Bun.deepEquals(kept, made)) return;
  for (const table of ['call_sums', 'usage_sums']) yield sql`DELETE FROM ${raw(table)} WHERE ${place}`;
  yield sql`${raw(CHANGED)} = ${Math.floor(hour / HOURS_PER_DAY)}`;
  const columns = raw('account, at / 3600000, key, model');
  yield sql`INSERT INTO call_sums (account, hour, key, model, ${raw(FIGURES)})
    SELECT ${columns}, ${raw(SUMS_OF_CALLS)} FROM calls WHERE ${ofCalls} GROUP BY 1, 2, 3, 4`;
  yield sql`INSERT INTO usage_sums (account, hour, key, model, provider, tag, ${raw(FIGURES)})
    SELECT ${columns}, provider, '', ${raw(SUMS_OF_CALLS)} FROM calls WHERE ${ofCalls} GROUP BY 1, 2, 3, 4, 5`;
  yield sql`INSERT INTO usage_sums (account, hour, key, model, provider, tag, ${raw(FIGURES)})
    SELECT account, calls.at / 3600000, key, model, provider, tag, ${raw(SUMS_OF_CALLS)}
    FROM calls JOIN call_tags ON call_tags.id = calls.id AND call_tags.at = calls.at WHERE ${ofCalls} GROUP BY 1, 2, 3, 4, 5, 6`;
  const what = `sum of key ${key} on ${model} in the hour of ${new Date(hour * HOUR_MS).toISOString()}`;
  corrections.push({ account, what, before: { ...kept }, after: { ...made } });
}

interface KeyFigures {
  held: bigint;
  total: bigint;
}

function* repairKey(account: string, key: string, corrections: Correction[]): Steps<void> {
  const [kept] = (yield sql`SELECT held, total FROM spendings WHERE key = ${key}`) as KeyFigures[];
  if (!kept) return;
  const [{ held } = { held: 0n }] =
    (yield sql`SELECT ${sumOf('amount')} AS held FROM holds WHERE key = ${key}`) as KeyFigures[];
  const [{ total } = { total: 0n }] = (yield sql`SELECT ${sumOf('cost')} AS total FROM call_sums
    WHERE account = ${account} AND key = ${key}`) as KeyFigures[];
  if (kept.held === held && kept.total === total) return;
  yield sql`UPDATE spendings SET held = ${held}, total = ${total} WHERE key = ${key}`;
  corrections.push({ account, what: `spending of key ${key}`, before: { ...kept }, after: { held, total } });
}

/** Only if the newest entry is the one that the account names: balances are not computed from altered entries. */
function* repairBalance(account: string, row: RepairAccountColumns, corrections: Correction[]): Steps<void> {
  const [newest] = (yield sql`SELECT seq, hash, balance_after FROM entries WHERE account = ${account}
    ORDER BY seq DESC LIMIT 1`) as { seq: bigint; hash: string; balance_after: bigint }[];
  if (newest ? newest.seq !== row.last_seq || newest.hash !== row.last_hash : row.last_seq !== 0n) return;
  const balance = newest?.balance_after ?? 0n;
  const [{ spent } = { spent: 0n }] = (yield sql`SELECT - ${sumOf('amount')} AS spent FROM entries
    WHERE account = ${account} AND kind IN ('charge', 'completion')`) as { spent: bigint }[];
  if (balance === row.balance && spent === row.spent) return;
  yield sql`UPDATE accounts SET balance = ${balance}, spent = ${spent} WHERE id = ${account}`;
  const before = { balance: row.balance, spent: row.spent };
  corrections.push({ account, what: `balance of account ${account}`, before, after: { balance, spent } });
}
