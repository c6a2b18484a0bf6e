/** Passkeys (WebAuthn level 3): the server's side of the ceremonies that add one, sign in with one, and confirm an act with one. */
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { GatewayError } from '../canonical/errors.ts';
import { newTimedId } from '../canonical/id.ts';
import type { PasskeyRow, PeopleStore, PersonRow } from '../store/people.ts';
import type { RelyingParty } from './relying-party.ts';
import { hashSecret, newSecret } from './secrets.ts';
import type { SignedIn } from './sessions.ts';
import { signInFailed } from './sign-in-failed.ts';
import { createWebauthn } from './webauthn.ts';
import type { ExpectedAnswer } from './webauthn-worker.ts';

export interface Ceremony<Options> {
  options: Options;
  /** Identifies the ceremony of a response. Only the requester of the options has it. It works once. */
  ceremony: string;
}

export interface PasskeyAnswer {
  ceremony: string;
  response: AuthenticationResponseJSON;
}

export interface UsedPasskey {
  person: PersonRow;
  passkey: PasskeyRow;
}

type OwnSession = Pick<SignedIn, 'person' | 'session'>;

export interface Passkeys {
  startAdding(me: OwnSession, at: RelyingParty): Promise<Ceremony<PublicKeyCredentialCreationOptionsJSON>>;
  /** Throws `sign_in_failed`, and `conflict` if the passkey is known. */
  add(
    me: OwnSession,
    answer: { ceremony: string; response: RegistrationResponseJSON; name: string },
  ): Promise<PasskeyRow>;
  startSignIn(at: RelyingParty): Promise<Ceremony<PublicKeyCredentialRequestOptionsJSON>>;
  /** Whose passkey it is. Throws `sign_in_failed`. `failed`: called before with the person, as far as one is known. */
  signIn(answer: PasskeyAnswer, failed?: (person: PersonRow | undefined) => Promise<void>): Promise<UsedPasskey>;
  /** Throws `conflict` without a passkey for this host. */
  startConfirming(me: OwnSession, at: RelyingParty): Promise<Ceremony<PublicKeyCredentialRequestOptionsJSON>>;
  /** Verifies that the person of this session is here. Throws `sign_in_failed`. */
  confirm(
    me: OwnSession,
    answer: PasskeyAnswer,
  ): Promise<{ passkey: PasskeyRow; confirmation: string; expiresAt: number }>;
  /** Whether the session has this confirmation; it is used up. */
  useConfirmation(me: OwnSession, confirmation: string): Promise<boolean>;
}

type CeremonyKind = 'passkey-new' | 'passkey-sign-in' | 'passkey-confirm';
const CONFIRMATION = 'passkey-confirmation';

/** A person looks for a security key or a telephone meanwhile. */
const CEREMONY_MS = 5 * 60_000;
const MOST_PASSKEYS = 20;
/** Of COSE (RFC 9053), best first: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257] as const;
/** WebAuthn level 3, 4: a credential ID has at most 1023 bytes. */
const LONGEST_CREDENTIAL = Math.ceil((1023 * 4) / 3);
/** In base64url: an RSA key of 8192 bits takes 1,400 characters. */
const LONGEST_KEY = 2048;

/** What the row of a ceremony has. */
interface StartedCeremony extends ExpectedAnswer {
  /** Only this session may finish it. */
  session?: string;
}

export function createPasskeys(people: PeopleStore, now: () => number, webauthn = createWebauthn()): Passkeys {
  async function put(kind: string, body: object, person: string | undefined) {
    const { text, hash } = newSecret();
    const createdAt = now();
    const expiresAt = createdAt + CEREMONY_MS;
    const id = newTimedId('ceremony_', createdAt);
    await people.putToken({
      id,
      kind,
      hash,
      ...(person && { person }),
      body: JSON.stringify(body),
      createdAt,
      expiresAt,
    });
    return { secret: text, expiresAt };
  }

  async function begin(kind: CeremonyKind, at: RelyingParty, me?: OwnSession) {
    const challenge = newSecret().text;
    const begun: StartedCeremony = { challenge, ...at, ...(me && { session: me.session.id }) };
    const { secret } = await put(kind, begun, me?.person.id);
    return { ceremony: secret, common: { challenge, timeout: CEREMONY_MS, userVerification: 'required' as const } };
  }

  /** The ceremony is used up, even if it fails. */
  async function take(kind: CeremonyKind, ceremony: string, me?: OwnSession): Promise<ExpectedAnswer | undefined> {
    const row = await people.takeToken(kind, hashSecret(ceremony), now());
    if (!row || row.person !== me?.person.id) return undefined;
    const { session, ...expected } = JSON.parse(row.body) as StartedCeremony;
    return session === me?.session.id ? expected : undefined;
  }

  async function verifyUse(expected: ExpectedAnswer, passkey: PasskeyRow, response: AuthenticationResponseJSON) {
    const { id, host, counter } = passkey;
    const { userHandle } = response.response;
    // Browsers give no handle where the credential was named to them.
    if (host !== expected.host || (userHandle != null && userHandle !== handleOf(passkey.person))) return false;
    const used = await webauthn.verifyUse({ expected, response, known: passkey });
    // A copy of the authenticator may move the counter at the same time, and the passkey may be removed.
    return used !== undefined && (await people.usePasskey(id, counter, used, now()));
  }

  return {
    async startAdding(me, at) {
      const { person } = me;
      const known = await people.passkeys(person.id);
      if (known.length >= MOST_PASSKEYS) throw tooMany();
      const { ceremony, common } = await begin('passkey-new', at, me);
      const { userVerification, ...rest } = common;
      const options: PublicKeyCredentialCreationOptionsJSON = {
        ...rest,
        rp: { id: at.host, name: 'Modelport' },
        user: { id: handleOf(person.id), name: person.email ?? person.name, displayName: person.name },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: known.filter(({ host }) => host === at.host).map(describe),
        // Found without a name, and the person is verified: it replaces a password and a second factor.
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
        attestation: 'none',
      };
      return { options, ceremony };
    },
    async add(me, { ceremony, response, name }) {
      const expected = await take('passkey-new', ceremony, me);
      if (!expected) throw signInFailed();
      const made = await webauthn.verifyNew({ expected, response, algorithms: ALGORITHMS });
      if (!made || made.credential.length > LONGEST_CREDENTIAL || made.publicKey.length > LONGEST_KEY)
        throw signInFailed();
      const { id: person } = me.person;
      if ((await people.passkeys(person)).length >= MOST_PASSKEYS) throw tooMany();
      const { transports = [] } = response.response;
      const [id, createdAt] = [newTimedId('passkey_', now()), now()];
      const row: PasskeyRow = { id, person, host: expected.host, ...made, transports, name, createdAt };
      await people.addPasskey(row);
      return row;
    },
    async startSignIn(at) {
      const { ceremony, common } = await begin('passkey-sign-in', at);
      return { options: { ...common, rpId: at.host }, ceremony };
    },
    async signIn({ ceremony, response }, failed) {
      const expected = await take('passkey-sign-in', ceremony);
      if (!expected) throw signInFailed();
      const passkey = await people.passkeyOf(response.id);
      const person = passkey && (await people.person(passkey.person));
      // Without a name, the authenticator must identify the person.
      const isWhole = response.response.userHandle != null && person?.disabledAt === undefined;
      if (passkey && person && isWhole && (await verifyUse(expected, passkey, response))) return { person, passkey };
      await failed?.(person);
      throw signInFailed();
    },
    async startConfirming(me, at) {
      const known = (await people.passkeys(me.person.id)).filter(({ host }) => host === at.host);
      if (known.length === 0) throw new GatewayError('conflict', `You have no passkey for ${at.host}: add one first.`);
      const { ceremony, common } = await begin('passkey-confirm', at, me);
      return { options: { ...common, rpId: at.host, allowCredentials: known.map(describe) }, ceremony };
    },
    async confirm(me, { ceremony, response }) {
      const expected = await take('passkey-confirm', ceremony, me);
      const passkey = expected && (await people.passkeyOf(response.id));
      if (!passkey || passkey.person !== me.person.id || !(await verifyUse(expected, passkey, response)))
        throw signInFailed();
      const { secret, expiresAt } = await put(CONFIRMATION, { session: me.session.id }, me.person.id);
      return { passkey, confirmation: secret, expiresAt };
    },
    async useConfirmation(me, confirmation) {
      const row = await people.takeToken(CONFIRMATION, hashSecret(confirmation), now());
      return row !== undefined && (JSON.parse(row.body) as StartedCeremony).session === me.session.id;
    },
  };
}

/** How the authenticator stores whose passkey it is. */
const handleOf = (person: string): string => Buffer.from(person).toString('base64url');

const describe = ({ credential, transports }: PasskeyRow) => ({
  ...{ id: credential, type: 'public-key' as const },
  // Browsers ignore those that they do not know.
  transports: [...transports] as AuthenticatorTransport[],
});

const tooMany = () => new GatewayError('conflict', `You have ${MOST_PASSKEYS} passkeys already: remove one first.`);
