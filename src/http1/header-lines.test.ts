import { describe, expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import { HeaderLines, listHas } from './header-lines.ts';

const read = (text: string) => HeaderLines.read(Buffer.from(`${text}\r\n\r\n`, 'latin1'), 0, text.length);

/** The same rules as expressions: what is a line, and what is the value of a name. */
const LINES = /^(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const valuesOf = (text: string, name: string) =>
  text
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).replace(/^[ \t]+|[ \t]+$/g, ''));

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const word = fc.constantFrom('host', 'Host', 'x-a', 'X_A', 'x-a-b', 'x^a', 'content-length', '', 'a b', 'é', '`', '~');
const value = fc.constantFrom(
  ' 1',
  '1 ',
  '\t x y \t',
  '',
  ':',
  ' é',
  'a\rb',
  'a\nb',
  '\0',
  '\x7f',
  '\x1f',
  '\x80',
  'a: b',
);
const line = fc.tuple(
  fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r', ''),
  word,
  fc.constantFrom(':', ':', ':', ' :', ''),
  value,
);
const text = fc.oneof(
  fc.array(line, { maxLength: 6 }).map((lines) => lines.flat().join('')),
  fc.array(fc.oneof(byte, fc.constantFrom('\r\n', 'x', ':')), { maxLength: 30 }).map((bytes) => bytes.join('')),
);

describe('header lines', () => {
  test('any bytes are accepted and read as the expressions accept and read them', () => {
    let accepted = 0;
    const property = fc.property(text, (lines) => {
      const headers = read(lines);
      expect(headers !== undefined).toBe(LINES.test(lines));
      if (!headers) return;
      accepted++;
      for (const name of ['host', 'x-a', 'x_a', 'x-a-b', 'x^a', 'x~a', '`', '~', 'content-length', 'absent']) {
        const values = valuesOf(lines, name);
        expect(headers.get(name)).toBe(values.length === 0 ? null : values.join(', '));
        expect(headers.has(name)).toBe(values.length > 0);
        for (const one of ['1', 'x', 'a: b', '']) {
          const same = values.length === 1 && values[0]!.toLowerCase() === one;
          expect(headers.is(name, one)).toBe(same);
        }
        const digits = values.length === 1 && /^\d{1,15}$/.test(values[0]!);
        expect(headers.number(name)).toBe(digits ? Number(values[0]) : undefined);
        expect(headers.hasStart(name)).toBe(lines.toLowerCase().includes(`\r\n${name}`));
      }
      const all = lines.split('\r\n').slice(1);
      expect([...headers.toHeaders()].length).toBeLessThanOrEqual(all.length);
    });
    fc.assert(property, { numRuns: 3000, seed: 16 });
    expect(accepted).toBeGreaterThan(300);
  });

  test('lines are found wherever they are in the bytes, and later messages do not change them', () => {
    const bytes = Buffer.from('GET / HTTP/1.1\r\nA: 1\r\nb:2\r\n\r\nrest');
    const headers = HeaderLines.read(bytes, 14, bytes.indexOf('\r\n\r\n'));
    read('\r\nlonger-name: x\r\nanother: y\r\nthird: z');
    bytes.fill(0);
    expect([headers?.get('a'), headers?.get('b'), headers?.get('c')]).toEqual(['1', '2', null]);
    expect([...(headers?.toHeaders() ?? [])]).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  test('a word in a list', () => {
    for (const list of ['close', 'Close', 'keep-alive, CLOSE', 'x ,\tclose ,y'])
      expect(listHas(list, 'close')).toBe(true);
    for (const list of ['', 'closed', 'keep-alive', 'not close, x']) expect(listHas(list, 'close')).toBe(false);
  });
});
