/** Admin API: what the gateway did in a period, beside the period before. */

import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { writeMoney } from '../../../canonical/money.ts';
import { DAY_MS } from '../../../canonical/time.ts';
import type { OverviewLine } from '../../../store/overview.ts';
import { type OverviewSpan, spanOf } from '../../../store/sums/overview-slots.ts';
import {
  addFigures,
  countOf,
  noFigures,
  type OverviewFigures,
  quantile,
  SLOT_MS,
  type TimedCount,
} from '../../../store/sums/overview-sums.ts';
import { Time, TimeInput, timeOf, writeTime } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';

const LONGEST_MS = 366 * DAY_MS;
const MOST_LINES = 6;
const MOST_TARGETS = 20;

const Quantiles = Type.Optional(
  Type.Object(
    { p50: Type.Integer(), p95: Type.Integer() },
    { description: 'milliseconds, estimated from counts by range; absent without such calls' },
  ),
);
const FIGURES = {
  calls: Type.Integer(),
  failed: Type.Integer({ description: 'calls with the outcome failed, broken or interrupted' }),
  errorRate: Type.Optional(Type.Number({ description: 'absent without calls' })),
  spend: Usd,
  saved: Usd,
  tokens: Type.Object(
    {
      input: Type.Integer(),
      cachedInput: Type.Integer(),
      cacheWrite: Type.Integer(),
      output: Type.Integer(),
      reasoning: Type.Integer(),
    },
    { description: '`input` includes cached input and cache writes, `output` includes reasoning' },
  ),
  cacheShare: Type.Optional(Type.Number({ description: 'cached input of all input; absent without input' })),
  firstTokenMs: Quantiles,
  durationMs: Quantiles,
};
const LINE = { calls: Type.Integer(), spend: Usd, tokens: Type.Integer() };

const Overview = Type.Object({
  from: Time,
  to: Time,
  before: Type.Object({ from: Time, to: Time }),
  stepSeconds: Type.Integer({ description: 'of the series: 300, 3600 or 86400' }),
  current: Type.Object(FIGURES),
  previous: Type.Object(FIGURES, { description: 'the same time after the beginning of the period before' }),
  series: Type.Array(Type.Object({ at: Time, ...FIGURES }), { description: 'steps without calls are left out' }),
  previousSeries: Type.Array(Type.Object({ at: Time, calls: Type.Integer(), spend: Usd })),
  models: Type.Array(Type.Object({ model: Type.String(), ...FIGURES }), { description: 'the six that cost most' }),
  keys: Type.Array(
    Type.Object({ key: Type.String(), name: Type.Optional(Type.String()), account: Type.String(), ...LINE }),
  ),
  accounts: Type.Array(Type.Object({ account: Type.String(), name: Type.Optional(Type.String()), ...LINE })),
  topFrom: Type.Optional({
    ...Time,
    description: 'if `keys` and `accounts` count from an earlier time than `from`: the beginning of its hour',
  }),
  holds: Type.Object({ open: Type.Integer(), amount: Usd, oldestAt: Type.Optional(Time) }),
  cooldowns: Type.Object({
    count: Type.Integer({ description: 'targets in cooldown in the process that answers' }),
    targets: Type.Array(Type.Object({ id: Type.String(), until: Type.Optional(Time) })),
  }),
});

export const OVERVIEW_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/overview', {
    gate: 'admin',
    permission: 'overview:read',
    summary:
      'Figures of a period of up to 366 days (the last day by default) beside the period before: spend, calls, errors, times, tokens, and what costs most. Read from sums: the times are rounded outwards to five minutes (up to two hours, not long ago), hours (up to eight days, not long ago) or UTC days.',
    query: Type.Object({ from: Type.Optional(TimeInput), to: Type.Optional(TimeInput) }),
    reply: Overview,
    answer: async (deps, { query }) => {
      const now = deps.now();
      const to = query.to === undefined ? now : timeOf(query.to, 'to');
      const from = query.from === undefined ? to - DAY_MS : timeOf(query.from, 'from');
      if (from >= to) throw invalid('"from" must be earlier than "to".');
      if (to - from > LONGEST_MS) throw invalid('The period has at most 366 days. Choose a later "from".');
      return overviewOf(deps, spanOf(from, to, now), now);
    },
  }),
];

const invalid = (message: string) => new GatewayError('invalid_request', message, { param: 'from' });
const timeAt = (slot: number): string => writeTime(Math.max(0, slot * SLOT_MS));

async function overviewOf(deps: HttpDeps, span: OverviewSpan, now: number): Promise<object> {
  const { store } = deps;
  const [{ steps, models }, held] = await Promise.all([store.overview(span, MOST_LINES), store.heldSum()]);
  const [current, previous] = [noFigures(), noFigures()];
  for (const { slot, figures } of steps) {
    if (slot >= span.from) addFigures(current, figures);
    else if (slot < span.beforeTo) addFigures(previous, figures);
  }
  const top = await store.topSpenders(span, MOST_LINES, countOf(current, 'calls'));
  const [keys, accounts] = await Promise.all([
    Promise.all(
      top.keys.map(async (line) => ({ key: line.key!, ...(await named(store.keyById(line.key!))), ...lineOf(line) })),
    ),
    Promise.all(top.accounts.map(async (line) => ({ ...(await named(store.account(line.account))), ...lineOf(line) }))),
  ]);
  return {
    from: timeAt(span.from),
    to: writeTime(Math.min(Math.max(now, span.from * SLOT_MS), span.to * SLOT_MS)),
    before: { from: timeAt(span.before), to: timeAt(span.beforeTo) },
    stepSeconds: (span.step * SLOT_MS) / 1000,
    current: writeFigures(current),
    previous: writeFigures(previous),
    series: steps
      .filter(({ slot }) => slot >= span.from)
      .map(({ slot, figures }) => ({ at: timeAt(slot), ...writeFigures(figures) })),
    previousSeries: steps
      .filter(({ slot }) => slot < span.from)
      .map(({ slot, figures }) => ({
        at: timeAt(slot),
        calls: countOf(figures, 'calls'),
        spend: writeMoney(figures.cost),
      })),
    models: models.map(({ model, figures }) => ({ model, ...writeFigures(figures) })),
    keys,
    accounts,
    ...(top.from < span.from * SLOT_MS && { topFrom: writeTime(top.from) }),
    holds: {
      open: held.open,
      amount: writeMoney(held.amount),
      ...(held.oldest !== undefined && { oldestAt: writeTime(held.oldest) }),
    },
    cooldowns: cooldownsOf(deps),
  };
}

const lineOf = ({ account, calls, cost, tokens }: OverviewLine) => ({
  account,
  calls,
  spend: writeMoney(cost),
  tokens,
});

/** Keys can be removed. */
async function named(row: Promise<{ name: string } | undefined>): Promise<{ name?: string }> {
  const found = await row;
  return found ? { name: found.name } : {};
}

function writeFigures(figures: OverviewFigures): object {
  const [calls, failed, input] = [countOf(figures, 'calls'), countOf(figures, 'failed'), countOf(figures, 'input')];
  const cachedInput = countOf(figures, 'cachedInput');
  return {
    calls,
    failed,
    ...(calls > 0 && { errorRate: failed / calls }),
    spend: writeMoney(figures.cost),
    saved: writeMoney(figures.saved),
    tokens: {
      input,
      cachedInput,
      cacheWrite: countOf(figures, 'cacheWrite'),
      output: countOf(figures, 'output'),
      reasoning: countOf(figures, 'reasoning'),
    },
    ...(input > 0 && { cacheShare: cachedInput / input }),
    ...quantilesOf('firstTokenMs', figures, 'firstByteMs'),
    ...quantilesOf('durationMs', figures, 'durationMs'),
  };
}

function quantilesOf(name: string, figures: OverviewFigures, time: TimedCount): object {
  const [p50, p95] = [quantile(figures, time, 0.5), quantile(figures, time, 0.95)];
  return p50 === undefined || p95 === undefined ? {} : { [name]: { p50: Math.round(p50), p95: Math.round(p95) } };
}

function cooldownsOf({ catalog }: HttpDeps): object {
  const targets = new Map(catalog.list().flatMap((model) => model.targets.map((target) => [target.id, target])));
  const cooling = [...targets.values()].flatMap((target) => {
    const { id, phase, nextProbeAt } = catalog.routing.targetState(target);
    return phase === 'open' ? [{ id, ...(nextProbeAt !== undefined && { until: writeTime(nextProbeAt) }) }] : [];
  });
  return { count: cooling.length, targets: cooling.slice(0, MOST_TARGETS) };
}
