/** Makes or previews the corrections that follow from a verification. */
import { writeMoney } from '../canonical/money.ts';
import type { Audit } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type Correction, REPAIRABLE } from '../store/verify/repair.ts';
import type { Finding, VerifyReport } from '../store/verify/report.ts';

/** `corrections` were made, or would be made by a repair that enters them. */
export interface Repaired {
  corrections: Correction[];
  /** Findings for a person: altered or missing rows, and everything of their accounts. */
  left: Finding[];
}

/**
 * Corrects what the findings name, account by account. `enter: false` only computes the corrections. An account with an altered or missing row
 * is left unchanged. Rejects if the database does not answer; corrections made before stay.
 */
export async function repairBooks(
  store: Store,
  { findings }: VerifyReport,
  enter: boolean,
  audit: (of: Correction) => Audit<object>,
): Promise<Repaired> {
  // Recomputing sums from altered rows would hide that they were altered.
  const untouched = new Set(
    findings.flatMap(({ kind, account }) => (REPAIRABLE.has(kind) || account === undefined ? [] : [account])),
  );
  const byAccount = new Map<string, Finding[]>();
  const left: Finding[] = [];
  for (const finding of findings) {
    const { kind, account } = finding;
    if (!REPAIRABLE.has(kind) || account === undefined || untouched.has(account)) left.push(finding);
    else byAccount.set(account, [...(byAccount.get(account) ?? []), finding]);
  }
  const corrections: Correction[] = [];
  for (const [account, damage] of byAccount) corrections.push(...(await store.repair(account, damage, enter, audit)));
  return { corrections, left };
}

/** Members that are counts, not amounts. */
const COUNTS = new Set(['calls', 'input_tokens', 'output_tokens', 'costed_calls']);

/** Writes the differences: `held 0.02 -> 0.01`. */
export function writeCorrection({ what, before, after }: Correction): string {
  const figures = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
  if (figures.length === 0) return what;
  const written = (name: string, figure: bigint | undefined) => {
    if (figure === undefined) return 'none';
    return COUNTS.has(name) ? `${figure}` : `${writeMoney(figure)} USD`;
  };
  return `${what}: ${figures.map((name) => `${name.replace('_', ' ')} ${written(name, before[name])} -> ${written(name, after[name])}`).join(', ')}`;
}
