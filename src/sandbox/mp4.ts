/** The sandbox's video: an MP4 file (ISO/IEC 14496-12) of a bar that crosses the frame, coloured by the prompt. */
import { BLOCK, type Image, imageUnit, parameterUnit, sequenceUnit } from './h264.ts';

export interface Film {
  prompt: string;
  width: number;
  height: number;
  seconds: number;
}

const FRAMES_A_SECOND = 4;
/** About 2 ms each; then other requests can run. */
const FRAMES_AT_ONCE = 8;
/** Frames are uncompressed, so they are small, whatever size was requested. */
const LARGEST_SIDE = 160;
const LONGEST_SECONDS = 20;
const BAR = 24;
/** Units of time per second. */
const SCALE = 1000;
const FRAME_MS = SCALE / FRAMES_A_SECOND;

/** Width and height of the video: the requested ones, reduced to what the sandbox generates. */
export function videoSides({ width, height }: Pick<Film, 'width' | 'height'>): { width: number; height: number } {
  const shrink = Math.min(1, LARGEST_SIDE / Math.max(width, height));
  const side = (length: number) => Math.max(BLOCK, Math.round((length * shrink) / BLOCK) * BLOCK);
  return { width: side(width), height: side(height) };
}

export async function generateVideo(video: Film): Promise<Uint8Array> {
  const { width, height } = videoSides(video);
  const frames = Math.max(1, Math.round(Math.min(LONGEST_SECONDS, video.seconds) * FRAMES_A_SECOND));
  const hue = Bun.hash.xxHash32(video.prompt) % 256;
  const samples: Uint8Array[] = [];
  for (let frame = 0; frame < frames; frame++) {
    if (frame % FRAMES_AT_ONCE === FRAMES_AT_ONCE - 1) await new Promise(setImmediate);
    const nal = imageUnit(drawFrame(width, height, hue, frame / frames), width, height, frame);
    samples.push(Buffer.concat([u32(nal.length), nal]));
  }
  const head = box('ftyp', text('isom'), u32(0x200), text('isomavc1'));
  const media = (offset: number) => movie(width, height, samples, offset);
  // The index has positions after itself, and its own length does not depend on them.
  const offset = head.length + media(0).length + 8;
  return Buffer.concat([head, media(offset), box('mdat', ...samples)]);
}

function drawFrame(width: number, height: number, hue: number, place: number): Image {
  const luma = new Uint8Array(width * height);
  const at = Math.round(place * width);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      luma[y * width + x] = Math.abs(x - at) < BAR / 2 ? 220 : 40 + Math.round((y / height) * 90);
  }
  const chroma = (width * height) / 4;
  return {
    luma,
    blue: new Uint8Array(chroma).fill(16 + (hue % 200)),
    red: new Uint8Array(chroma).fill(16 + ((hue * 7) % 200)),
  };
}

function movie(width: number, height: number, samples: readonly Uint8Array[], offset: number): Uint8Array {
  const duration = samples.length * FRAME_MS;
  const matrix = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));
  const header = full(
    'mvhd',
    u32(0),
    u32(0),
    u32(SCALE),
    u32(duration),
    u32(0x10000),
    u16(0x100),
    zeros(10),
    matrix,
    zeros(24),
    u32(2),
  );
  const track = full(
    'tkhd',
    u32(0),
    u32(0),
    u32(1),
    u32(0),
    u32(duration),
    zeros(16),
    matrix,
    u32(width << 16),
    u32(height << 16),
  );
  track[11] = 3;
  const mediaHeader = full('mdhd', u32(0), u32(0), u32(SCALE), u32(duration), u16(0x55c4), u16(0));
  const handler = full('hdlr', u32(0), text('vide'), zeros(12), text('Modelport sandbox\0'));
  const itself = full('url ');
  itself[11] = 1;
  const data = box('dinf', full('dref', u32(1), itself));
  const videoHeader = full('vmhd', zeros(8));
  videoHeader[11] = 1;
  const information = box('minf', videoHeader, data, sampleTable(width, height, samples, offset));
  return box('moov', header, box('trak', track, box('mdia', mediaHeader, handler, information)));
}

function sampleTable(width: number, height: number, samples: readonly Uint8Array[], offset: number): Uint8Array {
  const sequence = sequenceUnit(width, height);
  const parameters = parameterUnit();
  const settings = box(
    'avcC',
    Uint8Array.of(1, ...sequence.subarray(1, 4), 0xff, 0xe1),
    u16(sequence.length),
    sequence,
    Uint8Array.of(1),
    u16(parameters.length),
    parameters,
  );
  const entry = box(
    'avc1',
    zeros(6),
    u16(1),
    zeros(16),
    u16(width),
    u16(height),
    u32(0x480000),
    u32(0x480000),
    u32(0),
    u16(1),
    zeros(32),
    u16(24),
    u16(0xffff),
    settings,
  );
  return box(
    'stbl',
    full('stsd', u32(1), entry),
    full('stts', u32(1), u32(samples.length), u32(FRAME_MS)),
    full('stsc', u32(1), u32(1), u32(samples.length), u32(1)),
    full('stsz', u32(0), u32(samples.length), ...samples.map((sample) => u32(sample.length))),
    full('stco', u32(1), u32(offset)),
  );
}

function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), text(type), body]);
}

/** A box with version and flags, all zero. */
function full(type: string, ...parts: readonly Uint8Array[]): Buffer {
  return box(type, zeros(4), ...parts);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const text = (characters: string) => Buffer.from(characters, 'latin1');
const zeros = (length: number) => Buffer.alloc(length);
