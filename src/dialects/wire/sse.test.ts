/** Compares the cutter with a simple reading of the standard, for any bytes and chunk boundaries. */
import { describe, expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { SseCutter, type SseEvent } from './sse.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function cutAll(chunks: readonly Uint8Array[], maxEventBytes?: number): SseEvent[] {
  const cutter = new SseCutter(maxEventBytes);
  return [...chunks.flatMap((chunk) => cutter.read(chunk)), ...cutter.end()];
}

/** Splits after each of the given positions. */
function pieces(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, i) => bytes.slice(from, cuts[i] ?? bytes.length));
}

const view = (events: readonly SseEvent[]) =>
  events.map((event) => ({ text: decoder.decode(event.bytes), event: event.event, data: event.data }));

const joined = (events: readonly SseEvent[]) => Buffer.concat(events.map((event) => event.bytes));

const text = fc.array(
  fc.constantFrom(
    'data: ',
    'data:',
    'data',
    'event: ping',
    ': ka',
    'id: 1',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    'ü',
    '💶',
    'x',
  ),
  { maxLength: 30 },
);

describe('SseCutter', () => {
  test('chunk boundaries do not change the events, whose bytes join to the input', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (words, places) => {
        const bytes = encoder.encode(words.join(''));
        const whole = cutAll([bytes]);
        expect(view(cutAll(pieces(bytes, places)))).toEqual(view(whole));
        expect(view(cutAll([...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(view(whole));
        expect(joined(whole).equals(bytes)).toBe(true);
      }),
    );
  });

  test.each(['\n', '\r\n', '\r'])('reads the same events from lines that end in %j', (end) => {
    const lines = [
      'event: a',
      'data: one',
      'data:two',
      '',
      ': comment',
      '',
      'data',
      '',
      'id: 3',
      'data: {"ü":1}',
      '',
      '',
    ];
    const events = cutAll([encoder.encode(lines.join(end))]);
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ['a', 'one\ntwo'],
      [undefined, undefined],
      [undefined, ''],
      [undefined, '{"ü":1}'],
    ]);
  });

  test('gives the range of one-line data', () => {
    const [event, several] = cutAll([encoder.encode('data: {"a":1}\r\n\r\ndata: 1\ndata: 2\n\n')]);
    expect([event?.dataStart, event?.dataEnd]).toEqual([6, 13]);
    expect([several?.dataStart, several?.dataEnd, several?.data]).toEqual([0, 0, '1\n2']);
  });

  test('keeps a byte order mark in the bytes and out of the fields', () => {
    const bytes = encoder.encode('\ufeffdata: x\n\n');
    const [event] = cutAll([bytes]);
    expect(event?.data).toBe('x');
    expect(event?.bytes).toEqual(bytes);
  });

  test('gives complete events as views and leaves an unterminated rest for the end', () => {
    const chunk = encoder.encode('data: 1\n\ndata: 2\n\ndata: 3');
    const cutter = new SseCutter();
    const events = cutter.read(chunk);
    expect(events.map((event) => event.bytes.buffer === chunk.buffer)).toEqual([true, true]);
    expect(cutter.end().map((event) => event.data)).toEqual(['3']);
    expect(cutter.end()).toEqual([]);
  });

  test('gives the events before an oversized one, then throws', () => {
    const bytes = encoder.encode(`data: 1\n\ndata: ${'x'.repeat(100)}\n\ndata: 2\n\n`);
    for (const chunks of [[bytes], pieces(bytes, [3, 20, 90]), [...bytes].map((byte) => Uint8Array.of(byte))]) {
      const cutter = new SseCutter(50);
      const seen: SseEvent[] = [];
      const readAll = () => {
        for (const chunk of chunks) seen.push(...cutter.read(chunk));
        seen.push(...cutter.end());
      };
      expect(readAll).toThrow(GatewayError);
      expect(seen.map((event) => event.data)).toEqual(['1']);
    }
  });

  test('reads a line of 16 MiB in tiny chunks in linear time', () => {
    const crumb = new Uint8Array(1024).fill(120);
    const cutter = new SseCutter();
    const began = performance.now();
    for (let i = 0; i < 16 * 1024; i++) expect(cutter.read(crumb).length).toBe(0);
    const [event] = cutter.read(encoder.encode('\n\n'));
    expect(event?.bytes.length).toBe(16 * 1024 * 1024 + 2);
    expect(performance.now() - began).toBeLessThan(6000);
  });
});
