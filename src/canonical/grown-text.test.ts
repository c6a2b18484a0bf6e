import { isRope } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { grown } from './grown-text.ts';

test('a text of many pieces is the same text', () => {
  const pieces = Array.from({ length: 3000 }, (_, n) => (n % 7 === 0 ? '' : `${n} ä😀`));
  expect(pieces.reduce(grown, '')).toBe(pieces.join(''));
});

test('at most an eighth of a text, or its first characters, are kept as pieces', () => {
  let text = '';
  let joined = 0;
  let joins = 0;
  for (let n = 0; n < 20_000; n++) {
    text = grown(text, `piece ${n % 10}`);
    if (!isRope(text)) {
      joined = text.length;
      joins++;
    }
    expect(text.length - joined).toBeLessThan(Math.max(520, text.length / 8));
  }
  // Each copies the whole text.
  expect(joins).toBeLessThan(110);
});
