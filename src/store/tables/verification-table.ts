/** Signed checkpoints of verifications, and the running verification. */
import { type Database, insertInto, sql } from '../database.ts';
import type { CheckpointRow } from '../verify/checkpoint.ts';
import type { VerificationStore } from '../verify/verification-store.ts';

/** Only one verification runs at a time. */
const NAME = 'books';
const SAVED_AT_ONCE = 200;

interface VerificationColumns {
  owner: string;
  started_at: bigint;
  lease_until: bigint;
  done: bigint;
  total: bigint;
}

export function verificationTable(db: Database): Omit<VerificationStore, 'verify'> {
  return {
    checkpoints: (signer) =>
      db.all<CheckpointRow>(
        sql`SELECT subject, body, signature FROM ledger_checkpoints WHERE signer = ${signer} ORDER BY subject`,
      ),

    async saveCheckpoints(signer, rows) {
      for (let at = 0; at < rows.length; at += SAVED_AT_ONCE) {
        await db.together(
          rows.slice(at, at + SAVED_AT_ONCE).map(
            (row) => sql`${insertInto('ledger_checkpoints', { signer, ...row })}
              ON CONFLICT (signer, subject) DO UPDATE SET body = excluded.body, signature = excluded.signature`,
          ),
        );
      }
    },

    async leaseVerification({ owner, startedAt, leaseUntil, done, total }, now) {
      const columns = { name: NAME, owner, started_at: startedAt, lease_until: leaseUntil, done, total };
      const taken = await db.all(sql`${insertInto('ledger_verifications', columns)}
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, started_at = excluded.started_at,
          lease_until = excluded.lease_until, done = excluded.done, total = excluded.total
        WHERE ledger_verifications.owner = excluded.owner OR ledger_verifications.lease_until <= ${now}
        RETURNING name`);
      return taken.length > 0;
    },

    async endVerification(owner) {
      await db.all(sql`DELETE FROM ledger_verifications WHERE name = ${NAME} AND owner = ${owner}`);
    },

    async runningVerification(now) {
      const [row] = await db.all<VerificationColumns>(
        sql`SELECT owner, started_at, lease_until, done, total FROM ledger_verifications WHERE name = ${NAME} AND lease_until > ${now}`,
      );
      if (!row) return undefined;
      return {
        owner: row.owner,
        startedAt: Number(row.started_at),
        leaseUntil: Number(row.lease_until),
        done: Number(row.done),
        total: Number(row.total),
      };
    },
  };
}
