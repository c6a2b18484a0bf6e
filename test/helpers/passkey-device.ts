/** An authenticator and its browser: makes the answers that `navigator.credentials` would give (WebAuthn level 3). */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

export type DeviceKey = 'ES256' | 'EdDSA' | 'RS256';

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const SYNCABLE = 0x08;
const SYNCED = 0x10;
const HAS_CREDENTIAL = 0x40;

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

interface Shown {
  challenge: string;
}

function newKeys(kind: DeviceKey): { privateKey: KeyObject; publicKey: KeyObject } {
  if (kind === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return kind === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** COSE (RFC 9053): type 1 is an octet key pair, 2 an elliptic curve, 3 RSA. */
function coseOf(kind: DeviceKey, publicKey: KeyObject): Map<number, number | Uint8Array> {
  const jwk = publicKey.export({ format: 'jwk' });
  const bytes = (member: 'x' | 'y' | 'n' | 'e') => new Uint8Array(Buffer.from(String(jwk[member]), 'base64url'));
  const members: { [kind in DeviceKey]: () => [number, number | Uint8Array][] } = {
    ES256: () => [...pairs([1, 2], [3, -7], [-1, 1]), [-2, bytes('x')], [-3, bytes('y')]],
    EdDSA: () => [...pairs([1, 1], [3, -8], [-1, 6]), [-2, bytes('x')]],
    RS256: () => [...pairs([1, 3], [3, -257]), [-1, bytes('n')], [-2, bytes('e')]],
  };
  return new Map(members[kind]());
}

const pairs = (...all: [number, number][]) => all;

export function newPasskeyDevice(origin: string, kind: DeviceKey = 'ES256') {
  const { privateKey, publicKey } = newKeys(kind);
  const id = randomBytes(32);
  /** Tests change these as a broken or hostile device would. */
  const device = {
    ...{ origin, type: '', crossOrigin: false, userHandle: '' },
    /** Of the key: bytes that no algorithm has. */
    padding: 0,
    ...{ counter: 0, counts: true, isVerified: true, isSyncable: false, isSynced: false },
  };

  const clientData = (type: string, { challenge }: Shown) => {
    const { origin, crossOrigin } = device;
    return Buffer.from(JSON.stringify({ type: device.type || type, challenge, origin, crossOrigin }));
  };

  /** The counter is 32 bits, big-endian. */
  function authenticatorData(rpId: string, flags: number, credential: Uint8Array = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(device.counter);
    const copies = (device.isSyncable ? SYNCABLE : 0) | (device.isSynced ? SYNCED : 0);
    const all = USER_PRESENT | (device.isVerified ? USER_VERIFIED : 0) | copies | flags;
    return Buffer.concat([sha256(rpId), Buffer.of(all), counter, credential]);
  }

  const answer = <Parts>(response: Parts) => ({
    ...{ id: base64url(id), rawId: base64url(id), type: 'public-key' as const },
    ...{ clientExtensionResults: {}, response },
  });

  return Object.assign(device, {
    create(options: Shown & { rp: { id?: string }; user: { id: string } }, format = 'none', statement = new Map()) {
      device.userHandle = options.user.id;
      const length = Buffer.of(0, id.length);
      const key = coseOf(kind, publicKey);
      if (device.padding > 0) key.set(-70_000, new Uint8Array(device.padding));
      const credential = Buffer.concat([Buffer.alloc(16), length, id, isoCBOR.encode(key)]);
      const authData = new Uint8Array(authenticatorData(options.rp.id ?? '', HAS_CREDENTIAL, credential));
      const attestation = new Map<string, string | Map<string, string> | Uint8Array>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', authData],
      ]);
      return answer({
        clientDataJSON: base64url(clientData('webauthn.create', options)),
        attestationObject: base64url(isoCBOR.encode(attestation)),
        transports: ['internal' as const],
      });
    },
    get(options: Shown & { rpId?: string }) {
      if (device.counts) device.counter++;
      const client = clientData('webauthn.get', options);
      const data = authenticatorData(options.rpId ?? '', 0);
      const signed = Buffer.concat([data, sha256(client)]);
      return answer({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(sign(kind === 'EdDSA' ? null : 'sha256', signed, privateKey)),
        userHandle: device.userHandle,
      });
    },
  });
}
