/** Compares the counts with those of the library that the vocabulary comes from. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { fc } from '../../../test/helpers/property.ts';
import { createByteCounter } from './byte-pairs.ts';

const file = Bun.fileURLToPath(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'));
const count = createByteCounter(readFileSync(file), O200K_TOKEN_SPLIT_REGEX);
const reference = (text: string) => countTokens(text, { disallowedSpecial: new Set<string>() });

test.each([
  ['', 0],
  ['hello world', 2],
  ['a <|endoftext|> b', 9],
  ['The quick brown fox jumps over the lazy dog.', 10],
])('%p has %d tokens', (text, tokens) => {
  expect(count(text)).toBe(tokens);
});

test('any text has the same count as in the library', () => {
  const words = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.stringMatching(/^[a-z]{1,30}$/),
      fc.constantFrom(
        ' ',
        '\n\n',
        "don't",
        'HTTPServer',
        '12345',
        '日本語',
        'привет',
        '\u{1F600}\u{1F3FD}',
        '\ud800',
        '   ',
      ),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(words, (parts) => {
      const text = parts.join('');
      expect(count(text)).toBe(reference(text));
    }),
    { numRuns: 300 },
  );
});

test('a text longer than all previous ones is counted', () => {
  const text = 'ab'.repeat(700);
  expect(count(text)).toBe(reference(text));
});

test.each(['IQ== 1\n', 'IQ== 0\nIg==\n'])('an invalid vocabulary is refused: %j', (text) => {
  expect(() => createByteCounter(Buffer.from(text), /./gu)).toThrow('order');
});
