/** People who sign in to the console, their sessions and what they sign in with. */
import type { Audit, Page } from './rows.ts';

export interface PersonRow {
  id: string;
  name: string;
  /** owner, operator, finance, support, member. */
  role: string;
  /** The accounts that are the person's own, oldest membership first. */
  accounts: readonly string[];
  createdAt: number;
  /** In lower case. */
  email?: string;
  language?: string;
  /** As `Bun.password` writes it. */
  passwordHash?: string;
  /** As stored: encrypted if there is a key. `totpSecret` of the store decrypts it. */
  totpStored?: string;
  /** The same, before a code of it was confirmed. */
  totpPending?: string;
  /** SHA-256 of the recovery codes that are left. */
  recoveryCodes?: readonly string[];
  /** Who the person is at the OIDC provider. */
  oidc?: { issuer: string; subject: string };
  seenAt?: number;
  disabledAt?: number;
}

/** Absent members stay unchanged; `null` removes a value. */
export interface PersonChange {
  name?: string;
  role?: string;
  accounts?: readonly string[];
  email?: string | null;
  language?: string | null;
  passwordHash?: string | null;
  recoveryCodes?: readonly string[] | null;
  oidc?: { issuer: string; subject: string };
  disabledAt?: number | null;
}

export interface SessionRow {
  id: string;
  /** SHA-256 of the cookie's value, in hex. */
  hash: string;
  person: string;
  /** How the person signed in: link, password, passkey, oidc, invitation, registration. */
  way: string;
  at: number;
  seenAt: number;
  endsAt: number;
  address: string;
  agent: string;
}

export interface PasskeyRow {
  id: string;
  person: string;
  credential: string;
  /** The host that the passkey was made for (the relying party's ID). */
  host: string;
  /** In COSE, as base64url. */
  publicKey: string;
  /** Of signatures, as the authenticator counts them. Stays 0 where it does not count. */
  counter: number;
  transports: readonly string[];
  /** Whether the passkey may be copied to other devices. It never changes. */
  isSyncable: boolean;
  /** Whether it was copied at its last use. */
  isSynced: boolean;
  name: string;
  createdAt: number;
  usedAt?: number;
}

/** What works once: a link, an invitation, the challenge of a ceremony. */
export interface TokenRow {
  id: string;
  kind: string;
  /** SHA-256 of the token, in hex. */
  hash: string;
  person?: string;
  /** JSON. */
  body: string;
  createdAt: number;
  expiresAt: number;
}

export interface PeopleStore {
  /** Throws `conflict` if the address or the identity is taken. */
  createPerson(person: PersonRow, audit?: Audit<PersonRow>): Promise<void>;
  person(id: string): Promise<PersonRow | undefined>;
  personByEmail(email: string): Promise<PersonRow | undefined>;
  personByOidc(issuer: string, subject: string): Promise<PersonRow | undefined>;
  /** Oldest first. */
  people(page: Page): Promise<PersonRow[]>;
  /** Throws `conflict` if the address is taken, or if no owner that may sign in would be left. */
  updatePerson(id: string, change: PersonChange, audit?: Audit<PersonRow>): Promise<PersonRow | undefined>;
  /** With sessions, passkeys and memberships. Throws `conflict` if no owner would be left. */
  removePerson(id: string, audit?: Audit<PersonRow>): Promise<boolean>;
  /** The first owner that may sign in. */
  firstOwner(): Promise<PersonRow | undefined>;

  /** Encrypts and stores the secret, which counts from the first code that is used; `undefined` removes it. */
  setTotp(id: string, secret: string | undefined): Promise<void>;
  /** Throws an Error if it was encrypted with an unknown key. */
  totpSecret(person: PersonRow): string | undefined;
  /** Whether this step is later than the last one that was used; it is used then. */
  useTotpStep(id: string, step: number): Promise<boolean>;
  /** Whether the code was left; it is used then. */
  useRecoveryCode(id: string, hash: string): Promise<boolean>;
  /** Encrypts secrets with the current key. Resolves with the number changed. */
  reencryptPeople(): Promise<number>;

  createSession(session: SessionRow): Promise<void>;
  /** The session and its person, if it has not ended. */
  session(hash: string, now: number): Promise<{ session: SessionRow; person: PersonRow } | undefined>;
  seeSession(id: string, now: number): Promise<void>;
  sessions(person: string, now: number): Promise<SessionRow[]>;
  endSession(person: string, id: string): Promise<boolean>;
  /** Ends all but `except`. Resolves with their number. */
  endSessions(person: string, except?: string): Promise<number>;

  /** Throws `conflict` if the credential is known. */
  addPasskey(passkey: PasskeyRow): Promise<void>;
  passkeys(person: string): Promise<PasskeyRow[]>;
  passkeyOf(credential: string): Promise<PasskeyRow | undefined>;
  /** Whether the passkey is still there and its counter still stands at `before`; it is used then. */
  usePasskey(id: string, before: number, used: Pick<PasskeyRow, 'counter' | 'isSynced'>, now: number): Promise<boolean>;
  renamePasskey(person: string, id: string, name: string): Promise<PasskeyRow | undefined>;
  /** Throws `conflict` if the person would have neither a password, another passkey nor a company sign-in. */
  removePasskey(person: string, id: string): Promise<boolean>;

  putToken(token: TokenRow): Promise<void>;
  token(kind: string, hash: string, now: number): Promise<TokenRow | undefined>;
  /** Returns the token once. */
  takeToken(kind: string, hash: string, now: number): Promise<TokenRow | undefined>;
  tokens(kind: string, now: number, page: Page): Promise<TokenRow[]>;
  removeToken(kind: string, id: string): Promise<boolean>;

  /** Failed attempts since `since`, by subject. */
  failures(subjects: readonly string[], since: number): Promise<Map<string, { count: number; last: number }>>;
  /** Counts one more failure of each; those before `since` are forgotten. */
  addFailures(subjects: readonly string[], now: number, since: number): Promise<void>;
  clearFailures(subject: string): Promise<void>;
  /** Removes what has ended. */
  sweepPeople(now: number): Promise<void>;
}
