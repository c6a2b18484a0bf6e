/** Sessions, passkeys, tokens that work once, and failed attempts to sign in. */

import { GatewayError } from '../../canonical/errors.ts';
import { DAY_MS } from '../../canonical/time.ts';
import { type Database, insertInto, sql, updateRow, where, within } from '../database.ts';
import type { PasskeyRow, PeopleStore, SessionRow, TokenRow } from '../people.ts';
import { type PersonColumns, personWhere, refuseWithoutWayIn, toPerson } from './people-table.ts';

interface SessionColumns {
  id: string;
  hash: string;
  person: string;
  way: string;
  at: bigint;
  seen_at: bigint;
  ends_at: bigint;
  address: string;
  agent: string;
}

interface PasskeyColumns {
  id: string;
  person: string;
  credential: string;
  host: string;
  public_key: string;
  counter: bigint;
  transports: string;
  is_syncable: bigint;
  is_synced: bigint;
  name: string;
  created_at: bigint;
  used_at: bigint | null;
}

interface TokenColumns {
  id: string;
  kind: string;
  hash: string;
  person: string | null;
  body: string;
  created_at: bigint;
  expires_at: bigint;
}

type SessionTable = Pick<
  PeopleStore,
  'createSession' | 'session' | 'seeSession' | 'sessions' | 'endSession' | 'endSessions'
>;

export function sessionTable(db: Database): SessionTable {
  return {
    async createSession(session) {
      const { id, hash, person, way, at, seenAt, endsAt, address, agent } = session;
      await db.together([
        insertInto('sessions', { id, hash, person, way, at, seen_at: seenAt, ends_at: endsAt, address, agent }),
        sql`UPDATE people SET seen_at = ${at} WHERE id = ${person}`,
      ]);
    },
    async session(hash, now) {
      const [row] = await db.all<SessionColumns>(sql`SELECT * FROM sessions WHERE hash = ${hash} AND ends_at > ${now}`);
      if (!row) return undefined;
      const [person] = await db.all<PersonColumns>(personWhere(sql`people.id = ${row.person}`));
      return person && { session: toSession(row), person: toPerson(person) };
    },
    async seeSession(id, now) {
      await db.together([
        sql`UPDATE sessions SET seen_at = ${now} WHERE id = ${id} AND seen_at < ${now}`,
        sql`UPDATE people SET seen_at = ${now} WHERE id = (SELECT person FROM sessions WHERE id = ${id})`,
      ]);
    },
    async sessions(person, now) {
      const rows = await db.all<SessionColumns>(
        sql`SELECT * FROM sessions WHERE person = ${person} AND ends_at > ${now} ORDER BY seen_at DESC, id`,
      );
      return rows.map(toSession);
    },
    async endSession(person, id) {
      const ended = await db.all(sql`DELETE FROM sessions WHERE person = ${person} AND id = ${id} RETURNING id`);
      return ended.length > 0;
    },
    async endSessions(person, except = '') {
      const ended = await db.all(sql`DELETE FROM sessions WHERE person = ${person} AND id <> ${except} RETURNING id`);
      return ended.length;
    },
  };
}

const toSession = ({ seen_at, ends_at, at, ...row }: SessionColumns): SessionRow => ({
  ...row,
  at: Number(at),
  seenAt: Number(seen_at),
  endsAt: Number(ends_at),
});

type PasskeyTable = Pick<
  PeopleStore,
  'addPasskey' | 'passkeys' | 'passkeyOf' | 'usePasskey' | 'renamePasskey' | 'removePasskey'
>;

export function passkeyTable(db: Database): PasskeyTable {
  return {
    async addPasskey({ publicKey, transports, isSyncable, isSynced, createdAt, usedAt: _, ...columns }) {
      const flags = { is_syncable: Number(isSyncable), is_synced: Number(isSynced) };
      const stored = { ...columns, ...flags, public_key: publicKey, created_at: createdAt };
      const insert = insertInto('passkeys', { ...stored, transports: JSON.stringify(transports) });
      const added = await db.all(sql`${insert} ON CONFLICT (credential) DO NOTHING RETURNING id`);
      if (added.length === 0) throw new GatewayError('conflict', 'This passkey is known already.');
    },
    async passkeys(person) {
      const rows = await db.all<PasskeyColumns>(
        sql`SELECT * FROM passkeys WHERE person = ${person} ORDER BY created_at, id`,
      );
      return rows.map(toPasskey);
    },
    async passkeyOf(credential) {
      const rows = await db.all<PasskeyColumns>(sql`SELECT * FROM passkeys WHERE credential = ${credential}`);
      return rows.map(toPasskey)[0];
    },
    async usePasskey(id, before, { counter, isSynced }, now) {
      const used = await db.all(
        sql`UPDATE passkeys SET counter = ${counter}, is_synced = ${Number(isSynced)}, used_at = ${now}
          WHERE id = ${id} AND counter = ${before} RETURNING id`,
      );
      return used.length > 0;
    },
    async renamePasskey(person, id, name) {
      const rows = await db.all<PasskeyColumns>(
        sql`UPDATE passkeys SET name = ${name} WHERE id = ${id} AND person = ${person} RETURNING *`,
      );
      return rows.map(toPasskey)[0];
    },
    removePasskey: (person, id) =>
      db.steps(function* () {
        // Two removals at once must not take the last way in together.
        yield updateRow('people', person, {});
        const gone = yield sql`DELETE FROM passkeys WHERE id = ${id} AND person = ${person} RETURNING id`;
        if (gone.length > 0) yield* refuseWithoutWayIn(person);
        return gone.length > 0;
      }),
  };
}

const toPasskey = ({
  public_key,
  counter,
  transports,
  is_syncable,
  is_synced,
  created_at,
  used_at,
  ...row
}: PasskeyColumns): PasskeyRow => ({
  ...row,
  publicKey: public_key,
  counter: Number(counter),
  transports: JSON.parse(transports) as string[],
  isSyncable: Number(is_syncable) === 1,
  isSynced: Number(is_synced) === 1,
  createdAt: Number(created_at),
  ...(used_at !== null && { usedAt: Number(used_at) }),
});

type TokenTable = Pick<PeopleStore, 'putToken' | 'token' | 'takeToken' | 'tokens' | 'removeToken'>;

export function tokenTable(db: Database): TokenTable {
  return {
    async putToken({ id, kind, hash, person, body, createdAt, expiresAt }) {
      const times = { created_at: createdAt, expires_at: expiresAt };
      await db.all(insertInto('sign_in_tokens', { id, kind, hash, person, body, ...times }));
    },
    async token(kind, hash, now) {
      const rows = await db.all<TokenColumns>(
        sql`SELECT * FROM sign_in_tokens WHERE hash = ${hash} AND kind = ${kind} AND expires_at > ${now}`,
      );
      return rows.map(toToken)[0];
    },
    async takeToken(kind, hash, now) {
      const rows = await db.all<TokenColumns>(
        sql`DELETE FROM sign_in_tokens WHERE hash = ${hash} AND kind = ${kind} RETURNING *`,
      );
      return rows.map(toToken).find(({ expiresAt }) => expiresAt > now);
    },
    async tokens(kind, now, { limit, after }) {
      const beyond = after === undefined ? undefined : sql`id > ${after}`;
      const rows = await db.all<TokenColumns>(
        sql`SELECT * FROM sign_in_tokens ${where([sql`kind = ${kind}`, sql`expires_at > ${now}`, beyond])} ORDER BY id LIMIT ${limit}`,
      );
      return rows.map(toToken);
    },
    async removeToken(kind, id) {
      const gone = await db.all(sql`DELETE FROM sign_in_tokens WHERE kind = ${kind} AND id = ${id} RETURNING id`);
      return gone.length > 0;
    },
  };
}

const toToken = ({ person, created_at, expires_at, ...row }: TokenColumns): TokenRow => ({
  ...row,
  ...(person !== null && { person }),
  createdAt: Number(created_at),
  expiresAt: Number(expires_at),
});

type FailureTable = Pick<PeopleStore, 'failures' | 'addFailures' | 'clearFailures' | 'sweepPeople'>;

export function failureTable(db: Database): FailureTable {
  return {
    async failures(subjects, since) {
      const rows = await db.all<{ subject: string; failures: bigint; last_at: bigint }>(
        sql`SELECT * FROM sign_in_failures WHERE subject ${within(subjects)} AND last_at > ${since}`,
      );
      return new Map(
        rows.map(({ subject, failures, last_at }) => [subject, { count: Number(failures), last: Number(last_at) }]),
      );
    },
    async addFailures(subjects, now, since) {
      await db.together(
        // In one order: two transactions that lock the same rows must not wait for each other.
        subjects.toSorted().map(
          (subject) => sql`${insertInto('sign_in_failures', { subject, failures: 1, last_at: now })}
            ON CONFLICT (subject) DO UPDATE SET last_at = ${now},
            failures = CASE WHEN sign_in_failures.last_at > ${since} THEN sign_in_failures.failures + 1 ELSE 1 END`,
        ),
      );
    },
    async clearFailures(subject) {
      await db.all(sql`DELETE FROM sign_in_failures WHERE subject = ${subject}`);
    },
    async sweepPeople(now) {
      await db.together([
        sql`DELETE FROM sessions WHERE ends_at <= ${now}`,
        sql`DELETE FROM sign_in_tokens WHERE expires_at <= ${now}`,
        sql`DELETE FROM sign_in_failures WHERE last_at <= ${now - DAY_MS}`,
      ]);
    },
  };
}
