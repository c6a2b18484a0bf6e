/** Which configuration files the running processes were started with. */
import type { ConfigFileStore } from '../config-files.ts';
import { type Database, putInto, sql } from '../database.ts';

interface ConfigFileColumns {
  fingerprint: string;
  name: string;
  host: string;
  seen_at: bigint;
}

/** Files not seen for this long are removed. */
const FORGOTTEN_MS = 86_400_000;

export function configFileTable(db: Database): ConfigFileStore {
  return {
    async sawConfigFile({ fingerprint, name, host, seenAt }) {
      await db.together([
        putInto('config_files', 'fingerprint', { fingerprint, name, host, seen_at: seenAt }),
        sql`DELETE FROM config_files WHERE seen_at < ${seenAt - FORGOTTEN_MS}`,
      ]);
    },

    async configFiles(since) {
      const rows = await db.all<ConfigFileColumns>(
        sql`SELECT fingerprint, name, host, seen_at FROM config_files WHERE seen_at >= ${since} ORDER BY fingerprint`,
      );
      return rows.map(({ seen_at, ...row }) => ({ ...row, seenAt: Number(seen_at) }));
    },
  };
}
