/**
 * The worker thread that verifies what authenticators answer. Its library takes 0.1 s and 16 MB to load, which a gateway without passkeys
 * never pays and which never blocks calls.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

// With `import`, bundles run a part of the library (tsyringe) before the polyfill that it needs (reflect-metadata).
const library = require('@simplewebauthn/server') as typeof import('@simplewebauthn/server');
const helpers = require('@simplewebauthn/server/helpers') as typeof import('@simplewebauthn/server/helpers');

declare const self: Worker;

/** What the answer must be made for. */
export interface ExpectedAnswer {
  /** In base64url. */
  challenge: string;
  origin: string;
  host: string;
}

export interface NewCredential {
  credential: string;
  /** In COSE, as base64url. */
  publicKey: string;
  counter: number;
  isSyncable: boolean;
  isSynced: boolean;
}

export type UsedCredential = Pick<NewCredential, 'counter' | 'isSynced'>;

export type PasskeyCheck =
  | { kind: 'new'; expected: ExpectedAnswer; response: RegistrationResponseJSON; algorithms: readonly number[] }
  | {
      kind: 'used';
      expected: ExpectedAnswer;
      response: AuthenticationResponseJSON;
      known: Omit<NewCredential, 'isSynced'>;
    };

export interface PasskeyRequest {
  id: number;
  check: PasskeyCheck;
}

export interface VerificationAnswered {
  id: number;
  /** Absent: something of the answer is wrong. */
  verified?: NewCredential | UsedCredential;
}

self.onmessage = async ({ data: { id, check } }: MessageEvent<PasskeyRequest>) => {
  // The library's messages say which check has failed. A sign-in does not.
  const verified = await verify(check).catch(() => undefined);
  self.postMessage({ id, ...(verified && { verified }) } satisfies VerificationAnswered);
};

async function verify(check: PasskeyCheck): Promise<NewCredential | UsedCredential | undefined> {
  const { expected, response } = check;
  // The console is never in the frame of another page (`frame-ancestors`). The library allows it where a browser does not name the page.
  if (helpers.decodeClientDataJSON(response.response.clientDataJSON).crossOrigin) return undefined;
  const common = {
    ...{ expectedChallenge: expected.challenge, expectedOrigin: expected.origin, expectedRPID: expected.host },
    requireUserVerification: true,
  };
  if (check.kind === 'new') {
    const { registrationInfo } = await library.verifyRegistrationResponse({
      ...common,
      response: withoutAttestation(check.response),
      supportedAlgorithmIDs: [...check.algorithms],
    });
    if (!registrationInfo) return undefined;
    const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo;
    return {
      credential: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      ...{ isSyncable: credentialDeviceType === 'multiDevice', isSynced: credentialBackedUp },
    };
  }
  const { credential, publicKey, counter, isSyncable } = check.known;
  const { verified, authenticationInfo } = await library.verifyAuthenticationResponse({
    ...common,
    response: check.response,
    credential: { id: credential, counter, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')) },
  });
  const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo;
  // WebAuthn level 3, 7.2: whether a credential may be copied never changes.
  if (!verified || (credentialDeviceType === 'multiDevice') !== isSyncable) return undefined;
  return { counter: newCounter, isSynced: credentialBackedUp };
}

/** None is requested. To verify one, the library would fetch lists of revoked certificates from URLs that the client chooses. */
function withoutAttestation(response: RegistrationResponseJSON): RegistrationResponseJSON {
  const written = new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url'));
  const bare = new Map<string, string | Map<string, string> | Uint8Array>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, string>()],
    ['authData', helpers.decodeAttestationObject(written).get('authData')],
  ]);
  const attestationObject = Buffer.from(helpers.isoCBOR.encode(bare)).toString('base64url');
  return { ...response, response: { ...response.response, attestationObject } };
}
