/** For tests: blocks a gateway in the middle of one SQLite statement, until that gateway is killed. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/** A trigger's event and condition: `UPDATE ON tasks WHEN NEW.body LIKE '%…%'`. */
export type StallPoint = string;

const PATIENCE_MS = 50_000;
/** After this many failures in a row to get the write lock, the gateway is blocked. */
const BUSY_LOOKS = 10;
const LOOK_MS = 40;

/** Runs `work` with the database in this folder. */
export function inDatabase<T>(dataFolder: string, work: (file: Database) => T): T {
  const file = new Database(join(dataFolder, 'modelport.db'));
  try {
    file.run('PRAGMA busy_timeout = 5000');
    return work(file);
  } finally {
    file.close();
  }
}

/** From now on a process that reaches this point is blocked with its transaction open. */
export function layStall(dataFolder: string, point: StallPoint): void {
  inDatabase(dataFolder, (file) => {
    file.run(
      'CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n LIMIT 1000000000000',
    );
    file.run(`CREATE TRIGGER stall BEFORE ${point} BEGIN SELECT count(*) FROM endless; END`);
  });
}

/** Resolves when a process is blocked. */
export async function stalled(dataFolder: string): Promise<void> {
  const file = new Database(join(dataFolder, 'modelport.db'));
  file.run('PRAGMA busy_timeout = 0');
  const deadline = Date.now() + PATIENCE_MS;
  try {
    for (let busy = 0; busy < BUSY_LOOKS; ) {
      if (Date.now() > deadline) throw new Error('no process reached the point');
      busy = isLocked(file) ? busy + 1 : 0;
      await Bun.sleep(LOOK_MS);
    }
  } finally {
    file.close();
  }
}

export function removeStall(dataFolder: string): void {
  inDatabase(dataFolder, (file) => {
    file.run('DROP TRIGGER stall');
    file.run('DROP VIEW endless');
  });
}

function isLocked(file: Database): boolean {
  try {
    file.run('BEGIN IMMEDIATE');
    file.run('ROLLBACK');
    return false;
  } catch (thrown) {
    if (/^SQLITE_(BUSY|LOCKED)/.test(String((thrown as { code?: unknown }).code))) return true;
    throw thrown;
  }
}
