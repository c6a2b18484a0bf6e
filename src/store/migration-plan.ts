/** Which steps bring a schema up to date: forward only, and only where what was done before is what this code would have done. */
import { hash } from 'node:crypto';
import { raw, type Statement, sql } from './database.ts';

/** A step as the database remembers it: that it was done, and what it said. */
export interface AppliedStep {
  version: bigint;
  fingerprint: string;
}

const fingerprintOf = (step = '') => hash('sha256', step, 'hex');

/**
 * The steps that a database of this version lacks. Throws a sentence where it is newer than the code, or a step that it remembers
 * is another than the code's.
 */
export function pendingSteps(steps: readonly string[], version: number, applied: readonly AppliedStep[]): string[] {
  if (version > steps.length) {
    throw new Error(
      `The database has schema version ${version}, this Modelport knows versions up to ${steps.length}: start a newer Modelport or use another database.`,
    );
  }
  const other = applied.find((step) => step.fingerprint !== fingerprintOf(steps[Number(step.version) - 1]));
  if (other) {
    throw new Error(
      `Step ${other.version} of the database's schema is not the one this Modelport knows: start the Modelport that made it or use another database.`,
    );
  }
  return steps.slice(version);
}

export const READ_STEPS: Statement = raw('SELECT version, fingerprint FROM migrations ORDER BY version');

/** Remembers all steps; those remembered already stay as they are. */
export function rememberSteps(steps: readonly string[]): Statement[] {
  return steps.map(
    (step, index) =>
      sql`INSERT INTO migrations VALUES (${index + 1}, ${fingerprintOf(step)}) ON CONFLICT (version) DO NOTHING`,
  );
}
