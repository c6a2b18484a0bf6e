/** The text of each alert, and its key: there is one alert for a rule, a subject and a period, whichever process sees it first. */

import { type Money, writeMoney } from '../canonical/money.ts';
import { HOUR_MS, MINUTE_MS } from '../canonical/time.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import type { BudgetUse, ChangedPrice, LowBalance, RaisedAlert } from '../store/alerts.ts';
import type { CallRow } from '../store/rows.ts';
import { RULES, type RuleName } from './rules.ts';

/** All but its id and time. */
export type Draft = Omit<RaisedAlert, 'id' | 'at' | 'rule' | 'severity'> & {
  rule: RuleName;
  severity?: RaisedAlert['severity'];
};

/** A condition that comes and goes causes one alert in this time. */
export const FLAPPING_MS = 10 * MINUTE_MS;

const hourOf = (now: number) => Math.floor(now / HOUR_MS);
const dayOf = (now: number) => new Date(now).toISOString().slice(0, 'YYYY-MM-DD'.length);
const monthOf = (now: number) => new Date(now).toISOString().slice(0, 'YYYY-MM'.length);

/** A draft as an alert. */
export function alertFrom(draft: Draft, id: string, at: number): RaisedAlert {
  return { ...draft, id, at, severity: draft.severity ?? RULES[draft.rule].severity };
}

/** The periods of a budget. Days and months are in UTC. */
export const WINDOWS = ['total', 'month', 'day'] as const;
export type BudgetWindow = (typeof WINDOWS)[number];
const WINDOW_NAMES: { readonly [window in BudgetWindow]: string } = {
  total: 'total budget',
  day: 'daily budget',
  month: 'monthly budget',
};

/** A share of the budget is used up. `percent`: one of the thresholds of the rule. Once for each threshold and period. */
export function budgetDraft(use: BudgetUse, window: BudgetWindow, percent: number, now: number): Draft {
  const { kind, name } = use;
  const title = `The ${kind} "${name}" has used ${percent} % of its ${WINDOW_NAMES[window]}`;
  return budgetAlert(use, window, percent, now, {
    title,
    what: String(percent),
    end: 'Calls beyond the budget are refused.',
  });
}

/** A call was refused: its hold is more than the budget leaves, which is seldom exactly nothing. */
export function exhaustedDraft(use: BudgetUse, window: BudgetWindow, now: number): Draft {
  const title = `Calls of the ${use.kind} "${use.name}" are refused by its ${WINDOW_NAMES[window]}`;
  return budgetAlert(use, window, 100, now, { title, what: 'refused', end: 'A call that may cost more was refused.' });
}

function budgetAlert(
  { kind, id, account, budget, used: uses }: BudgetUse,
  window: BudgetWindow,
  percent: number,
  now: number,
  { title, what, end }: { title: string; what: string; end: string },
): Draft {
  const limit = writeMoney(budget[window] ?? 0n);
  const used = writeMoney(uses[window]);
  const period = { total: limit, day: dayOf(now), month: monthOf(now) }[window];
  return {
    rule: 'budget',
    key: `budget:${id}:${window}:${period}:${what}`,
    subject: id,
    ...(percent >= 100 && { severity: 'error' as const }),
    title,
    text: `${used} of ${limit} USD are spent or held by calls in progress. ${end}`,
    data: { kind, account, window, percent, used, limit },
  };
}

export function balanceDraft({ id, name, balance }: LowBalance, below: Money): Draft {
  return {
    rule: 'low_balance',
    // Until the balance is higher again.
    key: `low_balance:${id}`,
    subject: id,
    title: `The balance of the account "${name}" is low`,
    text: `${writeMoney(balance)} USD are left, less than ${writeMoney(below)} USD. Calls are refused when nothing is left.`,
    data: { account: id, balance: writeMoney(balance), below: writeMoney(below) },
  };
}

export function priceDraft({ id, model, effectiveAt }: ChangedPrice): Draft {
  const from = effectiveAt === undefined ? undefined : new Date(effectiveAt).toISOString();
  return {
    rule: 'price_changed',
    key: `price_changed:${id}`,
    subject: model,
    title: `The model "${model}" has a new price`,
    text: `Its price version is ${id}${from === undefined ? '' : `, from ${from} on`}. Who changed it is in the audit log.`,
    data: { model, price: id, ...(from !== undefined && { from }) },
  };
}

export function targetDownDraft(target: string, { provider }: CooldownChange, now: number): Draft {
  return {
    rule: 'target_down',
    key: `target_down:${target}`,
    // A process that ended before the target answered again has not freed the key.
    freeBefore: now - HOUR_MS,
    unlessSince: now - FLAPPING_MS,
    subject: target,
    title: `The target ${target} is down`,
    text: 'It fails, and is in cooldown until a probe succeeds. Other targets of its models answer, where there are any. See "modelport health list".',
    data: { provider, target },
  };
}

/** `down`: the id of the alert that it was down. */
export function targetUpDraft(target: string, { provider }: CooldownChange, down: string): Draft {
  return {
    rule: 'target_up',
    key: `target_up:${down}`,
    subject: target,
    title: `The target ${target} is up again`,
    text: 'A probe succeeded: it gets calls again.',
    data: { provider, target },
  };
}

export function credentialDraft({ provider, place = 1 }: CooldownChange, now: number): Draft {
  const subject = `${provider} credential ${place}`;
  return {
    rule: 'credential_refused',
    key: `credential_refused:${subject}:${dayOf(now)}`,
    subject,
    title: `The provider "${provider}" refuses its credential ${place}`,
    text: 'It answers with 401 or 403, or the account behind the credential is empty. Replace the credential.',
    data: { provider, place },
  };
}

export function disputeDraft({ id, provider, model, account, cost }: CallRow, now: number): Draft {
  const subject = `${provider}/${model}`;
  return {
    rule: 'disputed_usage',
    key: `disputed_usage:${subject}:${hourOf(now)}`,
    subject,
    title: `The provider "${provider}" reported implausible usage for "${model}"`,
    text: `The hold of the call ${id} was charged. Decide with "modelport disputes accept" or "reject". Further calls of this hour are in "modelport disputes list".`,
    data: { call: id, provider, model, account, charged: writeMoney(cost) },
  };
}

export function taskDraft(
  { id, provider, model, account, errorCode = 'upstream_failed' }: CallRow,
  now: number,
): Draft {
  const subject = `${provider}/${model}`;
  return {
    rule: 'task_failed',
    key: `task_failed:${subject}:${hourOf(now)}`,
    subject,
    title: `A task of the model "${model}" has failed`,
    text: `The task ${id} ended with the error ${errorCode}, and nothing was charged. Further failures of this hour are in "modelport calls --outcome failed".`,
    data: { task: id, provider, model, account, error: errorCode },
  };
}

export function ledgerDraft(faults: readonly string[], now: number): Draft {
  return {
    rule: 'ledger_fault',
    key: `ledger_fault:${dayOf(now)}`,
    subject: 'ledger',
    title: 'The ledger has a fault',
    text: `${faults[0] ?? 'A verification failed.'}${faults.length > 1 ? ` There are ${faults.length - 1} more.` : ''} Run "modelport ledger verify".`,
    data: { faults: faults.length },
  };
}

export function redisLostDraft(now: number): Draft {
  return {
    rule: 'redis_lost',
    key: 'redis_lost',
    freeBefore: now - HOUR_MS,
    unlessSince: now - FLAPPING_MS,
    subject: 'redis',
    title: 'Redis does not answer',
    text: 'Limits are not counted over all processes while it is lost.',
    data: {},
  };
}

export function redisBackDraft(lost: string): Draft {
  return {
    rule: 'redis_lost',
    severity: 'info',
    key: `redis_back:${lost}`,
    subject: 'redis',
    title: 'Redis answers again',
    text: 'Limits are counted over all processes.',
    data: {},
  };
}

/** Sent without the outbox, which is in the database. Processes that see the same loss use the same key within these minutes. */
export function databaseLostDraft(now: number): Draft {
  return {
    rule: 'database_lost',
    key: `database_lost:${Math.floor(now / FLAPPING_MS)}`,
    subject: 'database',
    title: 'The database does not answer',
    text: 'No call can be taken until it answers.',
    data: {},
  };
}

export function databaseBackDraft(lostAt: number, now: number): Draft {
  return {
    rule: 'database_lost',
    severity: 'info',
    key: `database_back:${Math.floor(now / FLAPPING_MS)}`,
    subject: 'database',
    title: 'The database answers again',
    text: `It did not answer from ${new Date(lostAt).toISOString()} to ${new Date(now).toISOString()}.`,
    data: { seconds: Math.round((now - lostAt) / 1000) },
  };
}
