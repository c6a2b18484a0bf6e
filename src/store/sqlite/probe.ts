/** Whether the database takes a row: as much of one as a call needs. */
import type { SqliteConnection } from './connection.ts';

/** Pages of a call's commit and more, of what no disk has seen before: a row that fits where a call does not would tell nothing. */
const PROBE_BYTES = 65_536;

/** Writes a row of its own, committed as a call's are. */
export async function probeSqlite({ all }: SqliteConnection, at: number): Promise<void> {
  await all({
    text: `INSERT INTO probes (name, at, body) VALUES ('ready', $1, randomblob($2))
      ON CONFLICT (name) DO UPDATE SET at = excluded.at, body = excluded.body`,
    values: [at, PROBE_BYTES],
  });
}
