/** Reads of the ledger's tables include the calls that are still unfiled: those are filed first. */
import type { Database, Statement, Steps } from '../database.ts';
import type { SqliteConnection } from './connection.ts';

const LEDGER_TABLES = /\b(entries|calls|call_sums|usage_sums|usage_days|usage_days_done|overview_sums|key_days)\b/;
const concerns = ({ text }: Statement) => LEDGER_TABLES.test(text);

/** `file`: files all unfiled calls, within a transaction. */
export function filedFirst(db: SqliteConnection, file: () => void): Database {
  return {
    async all<Row>(statement: Statement) {
      if (concerns(statement)) await db.transact(file);
      return db.all<Row>(statement);
    },
    async scan<Row>(statement: Statement) {
      if (concerns(statement)) await db.transact(file);
      return db.scan<Row>(statement);
    },
    together<Row>(statements: readonly Statement[]) {
      return db.transact(() => {
        if (statements.some(concerns)) file();
        return statements.map((statement) => db.run<Row>(statement));
      });
    },
    steps<T>(steps: () => Steps<T>) {
      return db.steps(function* () {
        const asked = steps();
        let step = asked.next();
        while (!step.done) {
          if (concerns(step.value)) file();
          step = asked.next(yield step.value);
        }
        return step.value;
      });
    },
  };
}
