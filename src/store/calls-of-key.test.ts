import { expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { HOUR_MS } from '../canonical/time.ts';
import type { RefusedCallRow } from './refused-call-row.ts';
import type { CallFilter, CallRow, LedgerStep } from './rows.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const QUARTER_MS = HOUR_MS / 4;

/** Four calls an hour over three days. Some keys and models appear in adjacent hours, some rarely, one only once. */
const CALLS = Array.from(
  { length: 4 * 72 },
  (_, index): CallRow =>
    callRow({
      id: `call_${String(index).padStart(4, '0')}`,
      at: NOON + index * QUARTER_MS,
      key: index % 37 === 0 ? 'key_rare' : index === 100 ? 'key_once' : 'key_1',
      model: Math.floor(index / 12) % 2 === 0 ? 'model_1' : 'model_2',
      provider: index % 50 === 3 ? 'spare' : 'main',
      cost: index % 29 === 1 ? 900n : BigInt(index % 5),
      ...(index % 3 === 0 && { tags: index % 6 === 0 ? ['batch', 'team-a'] : ['batch'] }),
      ...(index % 11 === 5 && { outcome: 'failed', status: 502, errorCode: 'upstream_failed' }),
      ...(index % 40 === 7 && { outcome: 'refused', status: 400, errorCode: 'upstream_refused' }),
    }),
);

/** Refused before they were admitted: at the times of calls, so that pages end between them. */
const REFUSED = Array.from(
  { length: 60 },
  (_, index): RefusedCallRow => ({
    id: `refused_${String(index).padStart(4, '0')}`,
    at: NOON + index * QUARTER_MS * 4,
    ...(index % 4 !== 0 && { account: 'acc_1', key: index % 8 === 1 ? 'key_rare' : 'key_1' }),
    model: 'model_1',
    dialect: 'openai-chat',
    stream: false,
    status: index % 4 === 0 ? 401 : 429,
    errorCode: index % 4 === 0 ? 'invalid_api_key' : 'rate_limited',
    durationMs: 0.4,
    receipt: '{"attempts":[]}',
  }),
);

interface Found {
  id: string;
  at: number;
}

/** What a list has to show, newest first. */
function meant(filter: Partial<CallFilter>): string[] {
  const {
    account,
    key,
    model,
    provider,
    status,
    error,
    outcome,
    tag,
    costAbove,
    from = 0,
    to = Number.POSITIVE_INFINITY,
  } = filter;
  const isMeant = (call: CallRow) =>
    (account ?? call.account) === call.account &&
    (key ?? call.key) === call.key &&
    (model ?? call.model) === call.model &&
    (provider ?? call.provider) === call.provider &&
    (status ?? call.status) === call.status &&
    (error ?? call.errorCode) === call.errorCode &&
    (outcome ?? call.outcome) === call.outcome &&
    (tag === undefined || call.tags?.includes(tag) === true) &&
    (costAbove === undefined || call.cost > costAbove);
  const asks = status !== undefined || error !== undefined || outcome === 'refused';
  const withRefused =
    asks &&
    costAbove === undefined &&
    provider === undefined &&
    tag === undefined &&
    (outcome ?? 'refused') === 'refused';
  const isRefused = (call: RefusedCallRow) =>
    (account ?? call.account) === call.account &&
    (key ?? call.key) === call.key &&
    (model ?? call.model) === call.model &&
    (status ?? call.status) === call.status &&
    (error ?? call.errorCode) === call.errorCode;
  const found: Found[] = [...CALLS.filter(isMeant), ...(withRefused ? REFUSED.filter(isRefused) : [])];
  return found
    .filter(({ at }) => at >= from && at < to)
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

const FILTERS: readonly Partial<CallFilter>[] = [
  { key: 'key_rare' },
  { key: 'key_once' },
  { key: 'key_none' },
  { key: 'key_1', model: 'model_2' },
  { key: 'key_rare', model: 'model_1', account: 'acc_1' },
  { key: 'key_rare', account: 'acc_2' },
  { model: 'model_2', from: NOON + 20 * QUARTER_MS + 1, to: NOON + 230 * QUARTER_MS - 1 },
  { key: 'key_rare', from: NOON + 37 * QUARTER_MS, to: NOON + 74 * QUARTER_MS },
  { provider: 'spare' },
  { provider: 'spare', key: 'key_1', account: 'acc_1' },
  { provider: 'none' },
  { status: 200, key: 'key_rare' },
  { status: 502 },
  { status: 429, account: 'acc_1' },
  { status: 401, from: NOON + 9 * QUARTER_MS },
  { error: 'upstream_failed', key: 'key_1', model: 'model_2' },
  { error: 'rate_limited', key: 'key_rare' },
  { error: 'upstream_failed', tag: 'batch', provider: 'main' },
  { outcome: 'ok', key: 'key_rare' },
  { outcome: 'refused' },
  { outcome: 'failed', status: 502, account: 'acc_1', to: NOON + 200 * QUARTER_MS },
  { tag: 'batch' },
  { tag: 'team-a', status: 200, account: 'acc_1', model: 'model_2' },
  { tag: 'none' },
  { costAbove: 4n },
  { costAbove: 900n },
  { costAbove: 2n, key: 'key_rare', from: NOON + 3 * QUARTER_MS },
  { costAbove: 100n, tag: 'batch', account: 'acc_1' },
  { costAbove: 0n, status: 502 },
  { error: 'upstream_failed', tag: 'team-a' },
  { key: 'key_rare', provider: 'main', status: 502 },
];

test.each(ENGINES)(
  '$name: pages of every filter contain the same calls as a filtered list of all calls',
  async (engine) => {
    const { store } = await freshStore(engine);
    await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOON });
    await store.ledger(
      CALLS.map((call): LedgerStep => ({ type: 'resolve', callId: call.id, amount: call.cost, call })),
    );
    await store.refused(REFUSED);
    for (const filter of FILTERS) {
      const expected = meant(filter);
      for (const limit of [1, 3, 50]) {
        const seen: string[] = [];
        for (let more = true; more; ) {
          const after = seen.at(-1);
          const page = await store.calls({ ...filter, limit, ...(after !== undefined && { after }) });
          seen.push(...page.map(({ id }) => id));
          more = page.length === limit;
        }
        expect(seen, Bun.inspect({ ...filter, limit })).toEqual(expected);
      }
      for (const [limit, examined] of [
        [2, 40],
        [50, 25],
      ] as const) {
        const seen: string[] = [];
        let pages = 0;
        for (let after: CallFilter['after']; ; ) {
          const page = await store.callPage({ ...filter, limit, ...(after !== undefined && { after }) }, examined);
          expect(page.calls.length).toBeLessThanOrEqual(limit);
          seen.push(...page.calls.map(({ id }) => id));
          pages++;
          after = page.next;
          if (after === undefined) break;
        }
        expect(seen, Bun.inspect({ ...filter, limit, examined })).toEqual(expected);
        expect(pages).toBeLessThanOrEqual(CALLS.length + REFUSED.length + 1);
      }
    }
    expect(await store.call('refused_0001')).toMatchObject({ status: 429, receipt: '{"attempts":[]}' });
    const before = await store.callPage({ outcome: 'refused', limit: 40 }, 1000);
    await store.tidy(NOON + 60 * HOUR_MS);
    // Those of the last day are left.
    expect(await store.calls({ error: 'rate_limited', limit: 100 })).toHaveLength(18);
    // A list goes on although the call after which it goes on was removed.
    const after = before.next!;
    expect(await store.call(after.id)).toBeUndefined();
    const rest = await store.callPage({ outcome: 'refused', limit: 40, after }, 1000);
    const older = CALLS.filter(({ at, outcome }) => outcome === 'refused' && at < after.at);
    expect(older.length).toBeGreaterThan(0);
    expect(rest.calls.map(({ id }) => id)).toEqual(older.map(({ id }) => id).reverse());
    await store.tidy(NOON + 72 * HOUR_MS, NOON + 48 * HOUR_MS);
    const tagged = await store.calls({ tag: 'batch', limit: 1000 });
    expect(tagged.length).toBeLessThan(CALLS.filter(({ tags }) => tags).length);
    await store.close();
  },
  60_000,
);
