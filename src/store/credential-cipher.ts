/** Encryption of providers' credentials in the database: AES-256-GCM. Each text is bound to its place and names its key. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** The source of keys. It is read again when a text names an unknown key, because keys are rotated while processes run. */
export interface KeySource {
  /** The key to encrypt with, and earlier keys that can still decrypt. Any text is a key. `undefined`: there is no key yet. */
  read(): { current: string | undefined; previous: readonly string[] };
  /** Creates the first key if `read` finds none, and returns the current key. */
  make(): string;
}

export interface CredentialCipher {
  /** `place`: where the text is stored. It can be decrypted only for the same place. */
  encrypt(text: string, place: string): string;
  /** A text that was never encrypted is returned unchanged. Throws an Error if no key decrypts it. */
  decrypt(text: string, place: string): string;
  /** Whether the text is encrypted with the current key; or with any key. */
  isCurrent(text: string): boolean;
  isEncrypted(text: string): boolean;
  /** Creates a key if there is none. */
  ensure(): void;
}

interface Key {
  id: string;
  bytes: Buffer;
}

const MARK = 'sealed:1:';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const ID_LENGTH = 8;
const MOST_DECRYPTED = 10_000;

export function createCredentialCipher(source: KeySource): CredentialCipher {
  let known = new Map<string, Key>();
  /** Decrypted texts by place and text: each change of the configuration reads all providers, several times. */
  const decrypted = new Map<string, string>();

  /** Read each time: a rotated key must not be used to encrypt any more. */
  function current(): Key {
    const key = keyOf(source.read().current ?? source.make());
    known.set(key.id, key);
    return key;
  }

  function find(id: string): Key | undefined {
    const found = known.get(id);
    if (found) return found;
    const { current: text, previous } = source.read();
    const keys = [...(text === undefined ? [] : [text]), ...previous].map(keyOf);
    known = new Map(keys.map((key) => [key.id, key]));
    return known.get(id);
  }

  return {
    encrypt(text, place) {
      const { id, bytes } = current();
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(Buffer.from(place));
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${MARK}${id}:${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`;
    },
    decrypt(text, place) {
      if (!text.startsWith(MARK)) return text;
      const key = find(idOf(text));
      if (!key) throw new Error(UNKNOWN_KEY);
      const cached = decrypted.get(place + text);
      if (cached !== undefined) return cached;
      const all = Buffer.from(text.slice(MARK.length + ID_LENGTH + 1), 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key.bytes, all.subarray(0, IV_BYTES));
        decipher.setAAD(Buffer.from(place)).setAuthTag(all.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        const plain = decipher.update(all.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
        if (decrypted.size >= MOST_DECRYPTED) decrypted.clear();
        decrypted.set(place + text, plain);
        return plain;
      } catch {
        throw new Error(
          `A credential in the database was altered, or moved from another place: set it again (${place}).`,
        );
      }
    },
    isCurrent: (text) => text.startsWith(MARK) && idOf(text) === current().id,
    isEncrypted: (text) => text.startsWith(MARK),
    ensure: () => void current(),
  };
}

const UNKNOWN_KEY =
  "The providers' credentials in the database are encrypted with another key: set MODELPORT_SECRET_KEY to the one they were encrypted with, or put its file secret.key into the data directory.";

const idOf = (encrypted: string) => encrypted.slice(MARK.length, MARK.length + ID_LENGTH);

/** Derives a key of the right length from any text. The key's id reveals nothing of it. */
function keyOf(text: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', text, 'modelport', 'provider credentials', KEY_BYTES));
  const id = createHash('sha256').update('modelport key id').update(bytes).digest('hex').slice(0, ID_LENGTH);
  return { id, bytes };
}
