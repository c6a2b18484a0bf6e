/** Corrects sums from the rows that they are computed from. */

import { HOUR_MS } from '../../canonical/time.ts';
import { type Database, insertInto, raw, type Statement, type Steps, sql, type Value } from '../database.ts';
import { FIGURES, type FigureColumns, SUMS_OF_CALLS } from '../sums/sum-columns.ts';
import { CHANGED, HOURS_PER_DAY } from '../sums/usage-days.ts';
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
  for (const finding of findings) {
    if (finding.kind === 'hour-sum' || finding.kind === 'usage-sum') yield* repairHour(account, finding, corrections);
    if (finding.kind === 'usage-day') yield* repairDay(account, finding, corrections);
  }
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
  const name = `key ${key} on ${model}`;
  const time = `in the hour of ${new Date(hour * HOUR_MS).toISOString()}`;
  if (made && !Bun.deepEquals(kept, made)) {
    yield sql`DELETE FROM call_sums WHERE ${place}`;
    yield sql`INSERT INTO call_sums (account, hour, key, model, ${raw(FIGURES)})
      SELECT account, at / 3600000, key, model, ${raw(SUMS_OF_CALLS)} FROM calls WHERE ${ofCalls} GROUP BY 1, 2, 3, 4`;
    corrections.push({ account, what: `sum of ${name} ${time}`, before: { ...kept }, after: { ...made } });
  }
  const stored = (yield sql`SELECT provider, tag, ${raw(FIGURES)} FROM usage_sums WHERE ${place}`) as PartColumns[];
  const right = (yield sql`SELECT provider, '' AS tag, ${raw(SUMS_OF_CALLS)} FROM calls WHERE ${ofCalls} GROUP BY 1
    UNION ALL SELECT provider, tag, ${raw(SUMS_OF_CALLS)}
    FROM calls JOIN call_tags ON call_tags.id = calls.id AND call_tags.at = calls.at WHERE ${ofCalls} GROUP BY 1, 2`) as PartColumns[];
  const wrong = differences(stored, right);
  if (wrong.length > 0) {
    yield sql`DELETE FROM usage_sums WHERE ${place}`;
    for (const part of right)
      yield insertInto('usage_sums', { account, hour, key, model, ...part } as { [column: string]: Value });
  }
  for (const { provider, tag, before, after } of wrong) {
    const what = `sum of ${name} by provider "${provider}"${tag === '' ? '' : ` and tag "${tag}"`} ${time}`;
    corrections.push({ account, what, before, after });
  }
  yield sql`${raw(CHANGED)} = ${Math.floor(hour / HOURS_PER_DAY)}`;
}

interface PartColumns extends FigureColumns {
  provider: string;
  tag: string;
}

/** The sums by provider and tag that are wrong. One without calls may be there or not. */
function differences(stored: readonly PartColumns[], right: readonly PartColumns[]) {
  const figures = ({ provider: _, tag: __, ...rest }: PartColumns): { [name: string]: bigint } => ({ ...rest });
  const isSame = (one: PartColumns, other: PartColumns) => one.provider === other.provider && one.tag === other.tag;
  const ofRight = right.map((after) => ({ after, before: stored.find((one) => isSame(one, after)) }));
  const gone = stored.filter((one) => !right.some((other) => isSame(one, other)));
  return [
    ...ofRight
      .filter(({ before, after }) => !before || !Bun.deepEquals(figures(before), figures(after)))
      .map(({ before, after }) => ({
        provider: after.provider,
        tag: after.tag,
        before: before ? figures(before) : {},
        after: figures(after),
      })),
    ...gone
      .filter((one) => Object.values(figures(one)).some((figure) => figure !== 0n))
      .map((one) => ({ provider: one.provider, tag: one.tag, before: figures(one), after: {} })),
  ];
}

/** The sums of the day are made anew with the next hourly cleaning; until then reports read its hours. */
function* repairDay(account: string, { day = 0 }: Finding, corrections: Correction[]): Steps<void> {
  const date = new Date(day * HOURS_PER_DAY * HOUR_MS).toISOString().slice(0, '2026-01-01'.length);
  const what = `sums of ${date}: made anew from its hours`;
  if (corrections.some((one) => one.what === what)) return;
  const marked = yield sql`${raw(CHANGED)} = ${day} RETURNING day`;
  if (marked.length > 0) corrections.push({ account, what, before: {}, after: {} });
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
