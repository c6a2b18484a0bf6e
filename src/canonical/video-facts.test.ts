import { expect, test } from 'bun:test';
import { createVideoReader } from './video-facts.ts';

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer).reverse();
const box = (name: string, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.length + 8), Buffer.from(name, 'latin1'), content]);
};
const zeros = (length: number) => Buffer.alloc(length);

const HANDLER = (kind: string) => box('hdlr', zeros(8), Buffer.from(kind, 'latin1'), zeros(12));
const length = (scale: number, units: number) => [zeros(12), u32(scale), u32(units), zeros(4)];
const track = (kind: string, frames: number) =>
  box(
    'trak',
    box('tkhd', zeros(76), u32(1280 * 0x10000), u32(720 * 0x10000)),
    box(
      'mdia',
      box('mdhd', ...length(600, 1500)),
      HANDLER(kind),
      box('minf', box('stbl', box('stts', zeros(4), u32(1), u32(frames), u32(25)))),
    ),
  );
const MOOV = box('moov', box('mvhd', ...length(1000, 2500)), track('soun', 7), track('vide', 60));
const FACTS = { width: 1280, height: 720, seconds: 2.5, fps: 24 };
const HEAD = box('ftyp', Buffer.from('isom'));
const DATA = box('mdat', zeros(500));

function read(video: Buffer, step = video.length): object {
  const reader = createVideoReader();
  for (let at = 0; at < video.length; at += step) reader.see(video.subarray(at, at + step));
  return reader.facts();
}

test('size, length and frame rate are read, wherever the box is and however the file is split', () => {
  for (const video of [Buffer.concat([HEAD, MOOV, DATA]), Buffer.concat([HEAD, DATA, MOOV])])
    for (const step of [1, 3, 7, 64, video.length]) expect(read(video, step)).toEqual(FACTS);
  const long = Buffer.concat([u32(1), Buffer.from('mdat'), u32(0), u32(16 + 500), zeros(500)]);
  expect(read(Buffer.concat([HEAD, long, MOOV]), 5)).toEqual(FACTS);
});

test('a file that is not a video, is incomplete or contradicts itself has no facts, and is skipped at once', () => {
  expect(read(Buffer.from('0123456789 a video of its own kind'))).toEqual({});
  expect(read(Buffer.concat([HEAD, MOOV.subarray(0, -1)]))).toEqual({});
  expect(read(Buffer.concat([HEAD, u32(9 * 1024 * 1024), Buffer.from('moov'), zeros(100)]))).toEqual({});
  expect(read(Buffer.concat([u32(4), Buffer.from('free'), MOOV]))).toEqual({});
  expect(read(zeros(100))).toEqual({});
  for (let at = 8; at < MOOV.length; at++) {
    const broken = Buffer.from(MOOV);
    broken[at] = 0xff;
    expect(() => read(broken)).not.toThrow();
  }
});
