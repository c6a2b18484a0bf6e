/** Drawn images kept for a time: each at an address that nobody can guess, that names nobody and that says itself when it ends. */
import { newId } from '../canonical/id.ts';
import type { Files } from './files.ts';

export interface ImageShelf {
  /** Keeps an image; resolves with its address. */
  put(image: Uint8Array, mimeType: string): Promise<string>;
}

export interface ShelfSettings {
  /** Where clients reach the gateway. */
  publicUrl: string;
  keepMs: number;
  now(): number;
}

export function createImageShelf(files: Files, { publicUrl, keepMs, now }: ShelfSettings): ImageShelf {
  return {
    async put(image, mimeType) {
      const name = imageName(now() + keepMs, mimeType);
      await files.write(name, once(image), image.length);
      return `${publicUrl}/files/${name}`;
    },
  };
}

/** Lets go of the images whose time is over. */
export async function clearShelf(files: Files, now: number): Promise<void> {
  for (const prefix of [PREFIX, EARLIER_PREFIX]) await clearNamed(files, prefix, now);
}

async function clearNamed(files: Files, prefix: string, now: number): Promise<void> {
  for await (const name of files.names(prefix)) {
    const known = readImageName(name);
    // The end stands first in a name: those that follow end later.
    if (known && known.endsAt > now) return;
    await files.remove(name);
  }
}

const PREFIX = 'image_';
/** Addresses of an earlier version are still with its clients. */
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
/** Of a time in milliseconds, for some ten thousand years. */
const DIGITS = 9;
const NAME = /^(?:image|picture)_([0-9a-z]{9})([a-z])_[0-9A-Za-z]{32}$/;

function imageName(endsAt: number, mimeType: string): string {
  const [letter] = TYPES.find(([, type]) => type === mimeType) ?? OTHER;
  return newId(`${PREFIX}${endsAt.toString(36).padStart(DIGITS, '0')}${letter}_`, 32);
}

/** What a name says; `undefined` where it is no image's. */
export function readImageName(name: string): { endsAt: number; mimeType: string } | undefined {
  const [, end = '', letter] = NAME.exec(name) ?? [];
  const known = [...TYPES, OTHER].find(([own]) => own === letter);
  return known && { endsAt: Number.parseInt(end, 36), mimeType: known[1] };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
