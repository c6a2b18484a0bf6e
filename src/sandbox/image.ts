/** Generates the sandbox's images: a valid PNG of the requested size with a pattern derived from the prompt. */
import { GatewayError } from '../canonical/errors.ts';

export const IMAGE_MODEL = 'sandbox-image';

export interface Size {
  width: number;
  height: number;
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOURS = 16;
/** Fields per row and column, for any size. */
const FIELDS = 8;
const MOST_PIXELS = 4096 * 4096;

/** Node's module is loaded when it is first needed: loading it takes 7 ms of the start. */
const deflated = (bytes: Uint8Array) => process.getBuiltinModule('node:zlib').deflateSync(bytes, { level: 1 });

/** The same prompt and size give the same bytes. */
export function generateImage(prompt: string, { width, height }: Size): Uint8Array {
  const noise = noiseOf(prompt);
  const palette = Buffer.from(Array.from({ length: COLOURS * 3 }, () => noise() & 255));
  const fields = Array.from({ length: FIELDS * FIELDS }, () => noise() % COLOURS);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits per pixel, with a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    const field = Math.floor((y * FIELDS) / height) * FIELDS;
    const start = y * (width + 1) + 1;
    // Rows of the same fields are equal.
    if (y > 0 && field === Math.floor(((y - 1) * FIELDS) / height) * FIELDS)
      rows.copyWithin(start, start - width - 1, start - 1);
    else for (let x = 0; x < width; x++) rows[start + x] = fields[field + Math.floor((x * FIELDS) / width)] ?? 0;
  }
  const chunks = [chunk('IHDR', header), chunk('PLTE', palette), chunk('IDAT', deflated(rows))];
  return Buffer.concat([SIGNATURE, ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

/** The size of a PNG in pixels, or `undefined` for other data. */
export function pngSize(bytes: Uint8Array): Size | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 24 || !view.subarray(0, 8).equals(SIGNATURE)) return undefined;
  return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
}

const LONGEST_SIDES: { readonly [size: string]: number } = { '512': 512, '1K': 1024, '2K': 2048, '4K': 4096 };
/** Width and height are multiples of this. */
const GRID = 32;

/** The pixels of an aspect ratio (`16:9`) at a size (`1K`, the side of the square). */
export function imageSize({ aspectRatio = '1:1', size = '1K' }: { aspectRatio?: string; size?: string }): Size {
  const side = LONGEST_SIDES[size.toUpperCase()];
  if (side === undefined) throw wrong('size', '`512`, `1K`, `2K` or `4K`');
  const [, across, down] = /^([1-9]\d?):([1-9]\d?)$/.exec(aspectRatio) ?? [];
  if (across === undefined || down === undefined) throw wrong('aspect ratio', 'two whole numbers such as `16:9`');
  const ratio = Number(across) / Number(down);
  const width = onGrid(side * Math.sqrt(ratio));
  const height = onGrid(side / Math.sqrt(ratio));
  if (width * height > MOST_PIXELS) throw wrong('size', 'smaller for this aspect ratio');
  return { width, height };
}

const onGrid = (pixels: number) => Math.max(GRID, Math.round(pixels / GRID) * GRID);

function wrong(what: string, right: string): GatewayError {
  return new GatewayError('invalid_request', `The sandbox generates no image of this ${what}: it must be ${right}.`);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const named = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(Bun.hash.crc32(named), named.length + 4);
  return framed;
}

/** Pseudorandom numbers seeded by a text. */
function noiseOf(text: string): () => number {
  let state = Number(BigInt.asUintN(32, BigInt(Bun.hash(text)))) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
