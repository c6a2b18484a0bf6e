/** People and their memberships. TOTP secrets are encrypted if there is a key. */
import { GatewayError } from '../../canonical/errors.ts';
import type { CredentialCipher } from '../credential-cipher.ts';
import {
  type Database,
  insertInto,
  raw,
  type Statement,
  type Steps,
  sql,
  updateRow,
  type Value,
  where,
} from '../database.ts';
import type { PeopleStore, PersonChange, PersonRow } from '../people.ts';
import { recorded } from './audit-table.ts';

export interface PersonColumns {
  id: string;
  name: string;
  role: string;
  email: string | null;
  language: string | null;
  password_hash: string | null;
  totp_secret: string | null;
  totp_step: bigint;
  recovery_codes: string | null;
  oidc_issuer: string | null;
  oidc_subject: string | null;
  created_at: bigint;
  seen_at: bigint | null;
  disabled_at: bigint | null;
  /** Ids of the accounts, separated by commas, each with its place before it. */
  accounts: string | null;
}

type PeopleTable = Pick<
  PeopleStore,
  | 'createPerson'
  | 'person'
  | 'personByEmail'
  | 'personByOidc'
  | 'people'
  | 'updatePerson'
  | 'removePerson'
  | 'firstOwner'
  | 'setTotp'
  | 'totpSecret'
  | 'useTotpStep'
  | 'useRecoveryCode'
  | 'reencryptPeople'
>;

export function peopleTable(db: Database, cipher: CredentialCipher | undefined): PeopleTable {
  const first = async (condition: Statement) => (await db.all<PersonColumns>(personWhere(condition))).map(toPerson)[0];
  return {
    createPerson: (person, audit) =>
      db.steps(function* () {
        yield* refuseTaken(person.id, person);
        yield* insertPerson(person);
        yield* recorded(audit, undefined, person);
      }),
    person: (id) => first(sql`people.id = ${id}`),
    personByEmail: (email) => first(sql`people.email = ${email}`),
    personByOidc: (issuer, subject) => first(sql`people.oidc_issuer = ${issuer} AND people.oidc_subject = ${subject}`),
    async people({ limit, after }) {
      const beyond = after === undefined ? undefined : sql`people.id > ${after}`;
      const rows = await db.all<PersonColumns>(sql`${PEOPLE} ${where([beyond])} ORDER BY people.id LIMIT ${limit}`);
      return rows.map(toPerson);
    },
    updatePerson: (id, change, audit) => db.steps(updateSteps(id, change, audit)),
    removePerson: (id, audit) =>
      db.steps(function* () {
        yield LOCK_OWNERS;
        const [old] = (yield personWhere(sql`people.id = ${id}`)) as PersonColumns[];
        if (!old) return false;
        for (const table of ['memberships', 'sessions', 'passkeys', 'sign_in_tokens'])
          yield sql`DELETE FROM ${raw(table)} WHERE person = ${id}`;
        yield sql`DELETE FROM people WHERE id = ${id}`;
        if (old.role === 'owner') yield* refuseWithoutOwner();
        yield* recorded(audit, toPerson(old), undefined);
        return true;
      }),
    firstOwner: async () =>
      (
        await db.all<PersonColumns>(
          sql`${PEOPLE} WHERE people.role = 'owner' AND people.disabled_at IS NULL ORDER BY people.id LIMIT 1`,
        )
      ).map(toPerson)[0],

    async setTotp(id, secret) {
      const written = secret === undefined || !cipher ? secret : cipher.encrypt(secret, totpPlace(id));
      await db.all(
        sql`UPDATE people SET totp_secret = ${written ?? null}, totp_step = ${PENDING}, recovery_codes = NULL WHERE id = ${id}`,
      );
    },
    totpSecret: ({ id, totpStored }) =>
      totpStored === undefined || !cipher ? totpStored : cipher.decrypt(totpStored, totpPlace(id)),
    async useTotpStep(id, step) {
      const used = await db.all(
        sql`UPDATE people SET totp_step = ${step} WHERE id = ${id} AND totp_step < ${step} RETURNING id`,
      );
      return used.length > 0;
    },
    useRecoveryCode: (id, hash) =>
      db.steps(function* () {
        const [row] = (yield updateRow('people', id, {})) as PersonColumns[];
        const codes = JSON.parse(row?.recovery_codes ?? '[]') as string[];
        if (!codes.includes(hash)) return false;
        yield updateRow('people', id, { recovery_codes: JSON.stringify(codes.filter((code) => code !== hash)) });
        return true;
      }),
    async reencryptPeople() {
      if (!cipher) return 0;
      const rows = await db.all<{ id: string; totp_secret: string }>(
        sql`SELECT id, totp_secret FROM people WHERE totp_secret IS NOT NULL ORDER BY id`,
      );
      let changed = 0;
      for (const { id, totp_secret: old } of rows) {
        if (cipher.isCurrent(old)) continue;
        const place = totpPlace(id);
        const fresh = cipher.encrypt(cipher.decrypt(old, place), place);
        const done = await db.all(
          sql`UPDATE people SET totp_secret = ${fresh} WHERE id = ${id} AND totp_secret = ${old} RETURNING id`,
        );
        changed += done.length;
      }
      return changed;
    },
  };
}

/** In `totp_step`: no code has been used yet. */
const PENDING = -1;

const totpPlace = (person: string) => `person ${person}, totp`;

const SEPARATOR = ',';
/** Ids of accounts contain no comma. Places have four digits, so that they sort as text. */
const PEOPLE = raw(`SELECT people.*, (
    SELECT string_agg(memberships.place || ' ' || memberships.account, '${SEPARATOR}')
    FROM memberships WHERE memberships.person = people.id) AS accounts
  FROM people`);

export const personWhere = (condition: Statement): Statement => sql`${PEOPLE} WHERE ${condition}`;

/** Two changes of owners wait for each other: together they could leave no owner. */
const LOCK_OWNERS = raw("UPDATE people SET role = role WHERE role = 'owner'");

function* refuseWithoutOwner(): Steps<void> {
  const owners = yield raw("SELECT id FROM people WHERE role = 'owner' AND disabled_at IS NULL LIMIT 1");
  if (owners.length === 0)
    throw new GatewayError('conflict', 'This is the last owner: make somebody else an owner first.');
}

/** Of a person whose password or passkey has just been removed. The row of the person is locked. */
export function* refuseWithoutWayIn(person: string): Steps<void> {
  const ways =
    yield sql`SELECT id FROM people WHERE id = ${person} AND (password_hash IS NOT NULL OR oidc_issuer IS NOT NULL
    OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.person = people.id))`;
  if (ways.length > 0) return;
  throw new GatewayError('conflict', 'This is the only way in: set a password or add a passkey first.');
}

function updateSteps(id: string, change: PersonChange, audit: Parameters<PeopleStore['updatePerson']>[2]) {
  return function* (): Steps<PersonRow | undefined> {
    const concernsOwners = change.role !== undefined || change.disabledAt !== undefined;
    if (concernsOwners) yield LOCK_OWNERS;
    yield updateRow('people', id, {});
    const [old] = (yield personWhere(sql`people.id = ${id}`)) as PersonColumns[];
    if (!old) return undefined;
    yield* refuseTaken(id, change);
    yield updateRow('people', id, changedColumns(change));
    if (change.passwordHash === null) yield* refuseWithoutWayIn(id);
    if (change.accounts) yield* replaceMemberships(id, change.accounts);
    if (old.role === 'owner' && concernsOwners) yield* refuseWithoutOwner();
    const [changed] = (yield personWhere(sql`people.id = ${id}`)) as PersonColumns[];
    if (!changed) return undefined;
    const after = toPerson(changed);
    yield* recorded(audit, toPerson(old), after);
    return after;
  };
}

function* refuseTaken(id: string, { email, oidc }: PersonChange): Steps<void> {
  if (email) {
    const taken = yield sql`SELECT id FROM people WHERE email = ${email} AND id <> ${id}`;
    if (taken.length > 0)
      throw new GatewayError('conflict', 'Somebody has this e-mail address already.', { param: 'email' });
  }
  if (oidc) {
    const taken =
      yield sql`SELECT id FROM people WHERE oidc_issuer = ${oidc.issuer} AND oidc_subject = ${oidc.subject} AND id <> ${id}`;
    if (taken.length > 0) throw new GatewayError('conflict', 'Somebody has this identity already.');
  }
}

export function* insertPerson(person: PersonRow): Steps<void> {
  yield insertInto('people', { id: person.id, created_at: person.createdAt, ...changedColumns(person) });
  yield* replaceMemberships(person.id, person.accounts);
}

function* replaceMemberships(person: string, accounts: readonly string[]): Steps<void> {
  yield sql`DELETE FROM memberships WHERE person = ${person}`;
  for (const [place, account] of accounts.entries())
    yield insertInto('memberships', { person, account, place: FIRST_PLACE + place });
}

const FIRST_PLACE = 1000;

function changedColumns(change: PersonChange): { [column: string]: Value | undefined } {
  const { recoveryCodes } = change;
  return {
    name: change.name,
    role: change.role,
    email: change.email,
    language: change.language,
    password_hash: change.passwordHash,
    recovery_codes: recoveryCodes ? JSON.stringify(recoveryCodes) : recoveryCodes,
    ...(change.oidc && { oidc_issuer: change.oidc.issuer, oidc_subject: change.oidc.subject }),
    disabled_at: change.disabledAt,
  };
}

export function toPerson(row: PersonColumns): PersonRow {
  const accounts = (row.accounts ?? '').split(SEPARATOR).filter(Boolean).toSorted();
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    accounts: accounts.map((one) => one.slice(one.indexOf(' ') + 1)),
    createdAt: Number(row.created_at),
    ...(row.email !== null && { email: row.email }),
    ...(row.language !== null && { language: row.language }),
    ...(row.password_hash !== null && { passwordHash: row.password_hash }),
    ...(row.totp_secret !== null &&
      (row.totp_step === BigInt(PENDING) ? { totpPending: row.totp_secret } : { totpStored: row.totp_secret })),
    ...(row.recovery_codes !== null && { recoveryCodes: JSON.parse(row.recovery_codes) as string[] }),
    ...(row.oidc_issuer !== null &&
      row.oidc_subject !== null && { oidc: { issuer: row.oidc_issuer, subject: row.oidc_subject } }),
    ...(row.seen_at !== null && { seenAt: Number(row.seen_at) }),
    ...(row.disabled_at !== null && { disabledAt: Number(row.disabled_at) }),
  };
}
