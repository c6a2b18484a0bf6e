/** Decides which migrations to run. Only forward, and only if the applied steps are the ones that this code knows. */
import { hash } from 'node:crypto';
import { raw, type Statement, sql } from './database.ts';

/**
 * A migration step. A plain text only adds to the schema, so older programs can continue to use the database. A step that is incompatible
 * with older programs has `minimum`: the smallest number of steps that a program must know to use the database after it.
 */
export type MigrationStep = string | { readonly text: string; readonly minimum: number };

/** A recorded step: its version, the hash of its text, and its `minimum`. */
export interface AppliedStep {
  version: bigint;
  fingerprint: string;
  /** Null if the step was applied by a program that did not record this yet. */
  minimum: bigint | null;
}

/** Whether and how a program may use a database. */
export type SchemaState =
  /** The schema is the one that the program knows. */
  | { is: 'current' }
  /** Steps that the program knows are missing. */
  | { is: 'behind'; version: number; pending: readonly MigrationStep[] }
  /** There are newer steps, compatible with the program. */
  | { is: 'ahead'; version: number }
  /** The program must not use the database. `why` is a sentence. */
  | { is: 'unusable'; why: string };

export const textOf = (step: MigrationStep): string => (typeof step === 'string' ? step : step.text);
const minimumOf = (step: MigrationStep): number => (typeof step === 'string' ? 0 : step.minimum);
const fingerprintOf = (step: MigrationStep = '') => hash('sha256', textOf(step), 'hex');

export function schemaState(
  steps: readonly MigrationStep[],
  version: number,
  applied: readonly AppliedStep[],
): SchemaState {
  const known = steps.length;
  const unknown = applied.filter((step) => step.version > known);
  const mayBeUsed = unknown.every(({ minimum }) => minimum !== null && minimum <= known);
  if (version > known && (unknown.length === 0 || !mayBeUsed)) {
    return {
      is: 'unusable',
      why: `The database has schema version ${version}, this Modelport supports versions up to ${known}: start a newer Modelport or use another database.`,
    };
  }
  const other = applied.find(
    (step) => step.version <= known && step.fingerprint !== fingerprintOf(stepOf(steps, step)),
  );
  if (other) {
    return {
      is: 'unusable',
      why: `Step ${other.version} of the database's schema is not the one of this Modelport: start the Modelport that created it or use another database.`,
    };
  }
  if (version > known) return { is: 'ahead', version };
  return version === known ? { is: 'current' } : { is: 'behind', version, pending: steps.slice(version) };
}

const stepOf = (steps: readonly MigrationStep[], { version }: AppliedStep) => steps[Number(version) - 1];

/** The steps to apply now; none if the database is up to date, or newer and compatible. Throws an Error if it cannot be used. */
export function pendingSteps(
  steps: readonly MigrationStep[],
  version: number,
  applied: readonly AppliedStep[],
): readonly string[] {
  const state = schemaState(steps, version, applied);
  if (state.is === 'unusable') throw new Error(state.why);
  return state.is === 'behind' ? state.pending.map(textOf) : [];
}

/** The number of steps that a program must know to use the database after these. */
export const leastVersionAfter = (steps: readonly MigrationStep[]): number => Math.max(0, ...steps.map(minimumOf));

/** The statements of a step, each in one line. */
export function statementsOf(step: MigrationStep): string[] {
  const statements = textOf(step)
    .replace(/--.*$/gm, '')
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim().replace(/\s+/g, ' '));
  return statements.filter(Boolean);
}

/** What a step does, a line for each statement: `CREATE TABLE call_tags`, `ALTER TABLE calls ADD COLUMN receipt`. */
export const linesOf = (step: MigrationStep): string[] =>
  statementsOf(step).map((statement) => HEAD.exec(statement)?.[0] ?? statement.slice(0, 80));

/** The beginning of a statement, with the name of what it changes. */
const HEAD =
  /^(CREATE (UNIQUE )?INDEX \w+|CREATE TABLE (IF NOT EXISTS )?\w+|ALTER TABLE \w+ (ADD|DROP) COLUMN \w+|DROP \w+ \w+|UPDATE \w+|INSERT INTO \w+)/;

export const READ_STEPS: Statement = raw('SELECT version, fingerprint, minimum FROM migrations ORDER BY version');

/** Records all steps. Steps that are already recorded stay unchanged. */
export function rememberSteps(steps: readonly MigrationStep[]): Statement[] {
  return steps.map(
    (step, index) =>
      sql`INSERT INTO migrations (version, fingerprint, minimum) VALUES (${index + 1}, ${fingerprintOf(step)}, ${minimumOf(step)})
        ON CONFLICT (version) DO NOTHING`,
  );
}
