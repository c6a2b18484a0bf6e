import { expect, test } from 'bun:test';
import { uploadOf } from '../../../canonical/upload.ts';
import { lengthOf } from './audio-length.ts';

interface WaveFormat {
  tag?: number;
  channels?: number;
  rate?: number;
  bits?: number;
  /** The header's own figure for the bytes of a second. */
  stated?: number;
  /** The tag inside an extensible format. */
  inner?: number;
  /** Bytes of another chunk before the format. */
  junk?: number;
}

const SECONDS = 10;
const SPEECH = 32_000 * SECONDS;

/** Ten seconds of speech, 16 bits at 16 kHz, under this header. */
function wave({ tag = 1, channels = 1, rate = 16_000, bits = 16, stated = 32_000, inner, junk = 0 }: WaveFormat = {}) {
  const format = Buffer.alloc(inner === undefined ? 16 : 40);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(stated, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(bits, 14);
  if (inner !== undefined) format.writeUInt16LE(inner, 24);
  const chunk = (name: string, bytes: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(name);
    head.writeUInt32LE(bytes.length, 4);
    return Buffer.concat([head, bytes]);
  };
  // What a reader of fixed positions would take for a huge rate.
  const before = junk > 0 ? chunk('JUNK', Buffer.alloc(junk, 0xff)) : Buffer.alloc(0);
  const chunks = [before, chunk('fmt ', format), chunk('data', Buffer.alloc(SPEECH))];
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...chunks]);
}

test.each<[string, WaveFormat]>([
  ['is read from the format', {}],
  ['does not become shorter by a false figure for the bytes of a second', { stated: 0xffff_ffff }],
  ['is read behind other chunks', { junk: 64 }],
  ['is read from an extensible format', { tag: 0xfffe, inner: 1 }],
])('the length of a WAV file %s', (_, format) => {
  const { seconds, mostSeconds } = lengthOf(uploadOf(wave(format)));
  expect(Math.round(seconds)).toBe(SECONDS);
  expect(mostSeconds).toBe(seconds);
});

test.each<[string, Uint8Array]>([
  ['compressed audio in a WAV file', wave({ tag: 0x55 })],
  ['compressed audio in an extensible one', wave({ tag: 0xfffe, inner: 0x11 })],
  ['a rate that no file has', wave({ rate: 0xffff_ffff })],
  ['no bits', wave({ bits: 0 })],
  ['a format that stands beyond the first bytes', wave({ junk: 5000 })],
  ['another file of this family', Buffer.concat([Buffer.from('RIFF\0\0\0\0AVI '), wave().subarray(12)])],
  ['a cut header', Buffer.concat([wave().subarray(0, 30)])],
  ['no header at all', Buffer.alloc(SPEECH)],
])('%s counts by its size', (_, bytes) => {
  expect(lengthOf(uploadOf(bytes))).toEqual({ seconds: bytes.length / 16_000, mostSeconds: bytes.length / 2000 });
});
