/** The rules of alerts: what they are about, and their settings. */
import type { Money } from '../canonical/money.ts';
import type { AlertRow, AlertRuleRow } from '../store/alerts.ts';

interface Rule {
  summary: string;
  severity: AlertRow['severity'];
  /** Percent of a budget. */
  thresholds?: readonly number[];
  /** In nano-USD. */
  below?: Money;
}

export const RULES = {
  budget: {
    summary: 'An account or a key has used so many percent of a budget.',
    severity: 'warning',
    thresholds: [80, 95, 100],
  },
  low_balance: {
    summary: 'The balance of an account that is in use is below this amount.',
    severity: 'warning',
    below: 1_000_000_000n,
  },
  target_down: { summary: 'A target fails and is in cooldown.', severity: 'error' },
  target_up: { summary: 'A target that was down answers again.', severity: 'info' },
  credential_refused: { summary: 'A provider refuses a credential.', severity: 'error' },
  disputed_usage: { summary: 'A provider reported implausible usage.', severity: 'warning' },
  price_changed: { summary: 'A model has a new price.', severity: 'info' },
  ledger_fault: { summary: 'A verification of the ledger found a fault.', severity: 'error' },
  database_lost: { summary: 'The database does not answer.', severity: 'error' },
  redis_lost: { summary: 'Redis does not answer.', severity: 'error' },
  task_failed: { summary: 'A task, such as a video, has failed.', severity: 'warning' },
} as const satisfies { readonly [name: string]: Rule };

/** The name of a rule, as `/admin/v1/alerts/rules` shows it. */
export type RuleName = keyof typeof RULES;
export const RULE_NAMES = Object.keys(RULES) as readonly RuleName[];

/** `thresholds` are percent of a budget; `below` is a balance in nano-USD. */
export interface RuleSettings {
  enabled: boolean;
  thresholds: readonly number[];
  below: Money;
}

export type AllRules = { readonly [rule in RuleName]: RuleSettings };

/** What is set, with defaults for the rest. */
export function settingsFrom(rows: readonly AlertRuleRow[]): AllRules {
  const settings = RULE_NAMES.map((name): [RuleName, RuleSettings] => {
    const { thresholds = [], below = 0n }: Rule = RULES[name];
    const row = rows.find(({ rule }) => rule === name);
    return [
      name,
      {
        enabled: row?.enabled ?? true,
        thresholds: row?.thresholds ?? thresholds,
        below: row?.below === undefined ? below : BigInt(row.below),
      },
    ];
  });
  return Object.fromEntries(settings) as AllRules;
}

/** The highest threshold, in percent, that `used` has reached. */
export function thresholdReached(used: Money, limit: Money, thresholds: readonly number[]): number | undefined {
  if (limit <= 0n) return undefined;
  const reached = thresholds.filter((percent) => used * 100n >= limit * BigInt(percent));
  return reached.length > 0 ? Math.max(...reached) : undefined;
}
