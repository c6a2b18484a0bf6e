/** Signs verification checkpoints with a key that is not in the database. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import {
  type CheckpointRow,
  type Checkpoints,
  type Reached,
  readReached,
  writeReached,
} from '../store/verify/checkpoint.ts';

/** Signs checkpoints and checks their signatures. */
export interface CheckpointSigner {
  /** Identifies the rows of this key; reveals nothing about it. */
  name: string;
  sign(reached: Reached): CheckpointRow;
  /** Rows with valid signatures, and the subjects of rows whose signatures are invalid. */
  read(rows: readonly CheckpointRow[]): { known: Checkpoints; forged: string[] };
}

/** HMAC-SHA-256 over subject and body. `key` is `MODELPORT_LEDGER_KEY`, or the content of `ledger.key`. */
export function checkpointSigner(key: string): CheckpointSigner {
  const signatureOf = ({ subject, body }: Pick<CheckpointRow, 'subject' | 'body'>) =>
    createHmac('sha256', key)
      .update(JSON.stringify([subject, body]))
      .digest();
  const isSigned = (row: CheckpointRow) => {
    const given = Buffer.from(row.signature, 'hex');
    const due = signatureOf(row);
    return given.length === due.length && timingSafeEqual(given, due);
  };
  return {
    name: hash('sha256', `modelport verification ${key}`, 'hex').slice(0, 16),
    sign(reached) {
      const row = writeReached(reached);
      return { ...row, signature: signatureOf(row).toString('hex') };
    },
    read(rows) {
      const signed = rows.filter(isSigned);
      const forged = rows.filter((row) => !signed.includes(row)).map(({ subject }) => subject);
      return { known: readReached(signed), forged };
    },
  };
}
