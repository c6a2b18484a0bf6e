/** Which steps bring a schema up to date: forward only, and only where what was done before is what this code would have done. */
import { hash } from 'node:crypto';
import { raw, type Statement, sql } from './database.ts';

/**
 * A step of the schema. A text alone only adds: programs that do not know the step go on using the database. A step that they would
 * break on, or break, says the smallest number of steps (`minimum`) that a program must know to use the database after it.
 */
export type MigrationStep = string | { readonly text: string; readonly minimum: number };

/** A step as the database remembers it: that it was done, what it said, and what it asks of programs. */
export interface AppliedStep {
  version: bigint;
  fingerprint: string;
  /** Null where a program from before this was recorded did the step. */
  minimum: bigint | null;
}

/** What a program may do with a database. */
export type SchemaState =
  /** Its schema is the program's. */
  | { is: 'current' }
  /** It lacks steps that the program knows. */
  | { is: 'behind'; pending: string[] }
  /** It has steps that the program does not know and can live with. */
  | { is: 'ahead'; version: number }
  /** The program must not touch it; `why` is a sentence. */
  | { is: 'unusable'; why: string };

const textOf = (step: MigrationStep): string => (typeof step === 'string' ? step : step.text);
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
      why: `The database has schema version ${version}, this Modelport knows versions up to ${known}: start a newer Modelport or use another database.`,
    };
  }
  const other = applied.find(
    (step) => step.version <= known && step.fingerprint !== fingerprintOf(stepOf(steps, step)),
  );
  if (other) {
    return {
      is: 'unusable',
      why: `Step ${other.version} of the database's schema is not the one this Modelport knows: start the Modelport that made it or use another database.`,
    };
  }
  if (version > known) return { is: 'ahead', version };
  return version === known ? { is: 'current' } : { is: 'behind', pending: steps.slice(version).map(textOf) };
}

const stepOf = (steps: readonly MigrationStep[], { version }: AppliedStep) => steps[Number(version) - 1];

/** The steps to do now; none where the database is as new as the program, or newer and usable. Throws a sentence where it is unusable. */
export function pendingSteps(
  steps: readonly MigrationStep[],
  version: number,
  applied: readonly AppliedStep[],
): readonly string[] {
  const state = schemaState(steps, version, applied);
  if (state.is === 'unusable') throw new Error(state.why);
  return state.is === 'behind' ? state.pending : [];
}

export const READ_STEPS: Statement = raw('SELECT version, fingerprint, minimum FROM migrations ORDER BY version');

/** Remembers all steps; those remembered already stay as they are. */
export function rememberSteps(steps: readonly MigrationStep[]): Statement[] {
  return steps.map(
    (step, index) =>
      sql`INSERT INTO migrations (version, fingerprint, minimum) VALUES (${index + 1}, ${fingerprintOf(step)}, ${minimumOf(step)})
        ON CONFLICT (version) DO NOTHING`,
  );
}
