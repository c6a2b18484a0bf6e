/** Stores generated images for a limited time, at URLs that cannot be guessed, identify no account, and contain their expiry. */
import { newId } from '../canonical/id.ts';
import type { Files } from './files.ts';

export interface ImageStore {
  /** Stores an image and resolves with its URL. */
  put(image: Uint8Array, mimeType: string): Promise<string>;
}

export interface ImageStoreSettings {
  /** The public URL of the gateway. */
  publicUrl: string;
  keepMs: number;
  now(): number;
}

export function createImageStore(files: Files, { publicUrl, keepMs, now }: ImageStoreSettings): ImageStore {
  return {
    async put(image, mimeType) {
      const name = imageName(now() + keepMs, mimeType);
      await files.write(name, once(image), image.length);
      return `${publicUrl}/files/${name}`;
    },
  };
}

/** Removes expired images. */
export async function removeExpiredImages(files: Files, now: number): Promise<void> {
  for (const prefix of [PREFIX, EARLIER_PREFIX]) await clearNamed(files, prefix, now);
}

async function clearNamed(files: Files, prefix: string, now: number): Promise<void> {
  for await (const name of files.names(prefix)) {
    const known = readImageName(name);
    // Names start with the expiry and are sorted: the following ones expire later.
    if (known && known.endsAt > now) return;
    await files.remove(name);
  }
}

const PREFIX = 'image_';
/** Clients still have URLs of earlier versions. */
const EARLIER_PREFIX = 'picture_';
const TYPES: readonly (readonly [letter: string, mimeType: string])[] = [
  ['p', 'image/png'],
  ['j', 'image/jpeg'],
  ['w', 'image/webp'],
  ['g', 'image/gif'],
  ['a', 'image/avif'],
  ['s', 'image/svg+xml'],
];
const OTHER = ['o', 'application/octet-stream'] as const;
/** For times in milliseconds of about ten thousand years. */
const DIGITS = 9;
const NAME = /^(?:image|picture)_([0-9a-z]{9})([a-z])_[0-9A-Za-z]{32}$/;

function imageName(endsAt: number, mimeType: string): string {
  const [letter] = TYPES.find(([, type]) => type === mimeType) ?? OTHER;
  return newId(`${PREFIX}${endsAt.toString(36).padStart(DIGITS, '0')}${letter}_`, 32);
}

/** The expiry and type in a name, or `undefined` if it is not the name of an image. */
export function readImageName(name: string): { endsAt: number; mimeType: string } | undefined {
  const [, end = '', letter] = NAME.exec(name) ?? [];
  const known = [...TYPES, OTHER].find(([own]) => own === letter);
  return known && { endsAt: Number.parseInt(end, 36), mimeType: known[1] };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
