/** The sink of events that raises alerts. A call that needs none costs a comparison. */
import type { AlertStore, RaisedAlert } from '../store/alerts.ts';
import type { EventSink } from '../telemetry/events.ts';
import {
  credentialDraft,
  type Draft,
  disputeDraft,
  ledgerDraft,
  redisBackDraft,
  redisLostDraft,
  targetDownDraft,
  targetUpDraft,
  taskDraft,
} from './drafts.ts';
import { exhaustedBudget } from './figures.ts';
import type { RuleName } from './rules.ts';

/** For so long further refused calls of a key are not looked at: a client may repeat them at once. */
const EXHAUSTED_MS = 60_000;
const MOST_EXHAUSTED = 1000;

/** What the sink needs. `now` returns milliseconds since 1970. */
export interface AlertSinkDeps {
  now(): number;
  /** There is a channel, and the rule is not switched off. */
  isOn(rule: RuleName): boolean;
  /** Does this soon, after what was given before. */
  soon(work: () => Promise<unknown>): void;
  /** The draft as an alert of now. */
  alertOf(draft: Draft): RaisedAlert;
  store: Pick<AlertStore, 'raise' | 'rearm' | 'budgetUse'>;
}

/** Turns events of the gateway into alerts. Its methods return at once: an alert is recorded later, by `soon`. */
export function createAlertSink({ now, isOn, soon, alertOf, store }: AlertSinkDeps): EventSink {
  const raise = (draft: Draft) => store.raise(alertOf(draft));
  function alert(rule: RuleName, draft: (at: number) => Draft): void {
    if (!isOn(rule)) return;
    const made = draft(now());
    soon(() => raise(made));
  }
  /** What was down is up again: an alert is sent if there was one that it was down. */
  function over(key: string, rule: RuleName, draft: (lost: string) => Draft): void {
    soon(() => store.rearm(key, (lost) => (isOn(rule) ? alertOf(draft(lost)) : undefined)));
  }
  /** When a call of a key was refused for a budget. */
  const exhausted = new Map<string, number>();
  function exhaustedOf(key: string, account: string): void {
    const at = now();
    if (!isOn('budget') || Math.abs(at - (exhausted.get(key) ?? -EXHAUSTED_MS)) < EXHAUSTED_MS) return;
    if (exhausted.size >= MOST_EXHAUSTED) exhausted.clear();
    exhausted.set(key, at);
    soon(async () => {
      const draft = await exhaustedBudget(store, { key, account }, at);
      if (draft) await raise(draft);
    });
  }

  return {
    refused({ error, key, account }) {
      if (error?.code === 'budget_exhausted' && key !== undefined && account !== undefined) exhaustedOf(key, account);
    },
    disputed: (record) => alert('disputed_usage', (at) => disputeDraft(record, at)),
    taskEnded(_, record) {
      if (record.outcome === 'failed') alert('task_failed', (at) => taskDraft(record, at));
    },
    cooldown(change) {
      const { target, place, reason } = change;
      if (place !== undefined) {
        if (reason === 'refused') alert('credential_refused', (at) => credentialDraft(change, at));
      } else if (target !== undefined && reason === 'failing')
        alert('target_down', (at) => targetDownDraft(target, change, at));
      else if (target !== undefined && reason === 'recovered' && isOn('target_down'))
        over(`target_down:${target}`, 'target_up', (down) => targetUpDraft(target, change, down));
    },
    ledgerFault: (faults) => alert('ledger_fault', (at) => ledgerDraft(faults, at)),
    redis(isUp) {
      if (!isUp) alert('redis_lost', redisLostDraft);
      else if (isOn('redis_lost')) over('redis_lost', 'redis_lost', redisBackDraft);
    },
  };
}
