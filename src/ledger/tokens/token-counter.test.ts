import { afterAll, expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { countText } from './count-text.ts';
import { createTokenCounter, estimateText } from './token-counter.ts';

const counter = createTokenCounter({ timeoutMs: 60_000 });
afterAll(() => counter.close());

test('the tokenizer is loaded on first use', () => {
  expect(createTokenCounter().isLoaded).toBe(false);
});

test('token counts equal those of OpenAI, counted in a worker thread', async () => {
  let turns = 0;
  const ticking = setInterval(() => turns++, 5);
  // Reference counts by tiktoken, o200k_base.
  const counts = await counter.count([
    'hello world',
    'a <|endoftext|> b',
    '',
    'The quick brown fox jumps over the lazy dog.',
  ]);
  clearInterval(ticking);
  expect(counts).toEqual([2, 9, 0, 10]);
  expect(turns).toBeGreaterThan(5);
  expect(counter.isLoaded).toBe(true);
}, 60_000);

test('no text blocks the worker for long', async () => {
  await counter.count(['warm']);
  const started = performance.now();
  const texts = [
    'a'.repeat(100_000),
    ' '.repeat(100_000),
    '日本語'.repeat(10_000),
    '\u{1F600}'.repeat(10_000),
    '\ud800'.repeat(1000),
  ];
  const counts = await counter.count(texts);
  expect(performance.now() - started).toBeLessThan(20_000);
  for (const count of counts) expect(count).toBeGreaterThan(100);
}, 60_000);

test('after a timeout and after close, counts are estimated from lengths', async () => {
  const hasty = createTokenCounter({ timeoutMs: 1 });
  expect(await hasty.count(['abcdefgh', 'äö'])).toEqual([2, 1]);
  expect(hasty.isLoaded).toBe(false);
  const closing = createTokenCounter();
  const waiting = closing.count(['abcdefgh']);
  closing.close();
  expect(await waiting).toEqual([2]);
  expect(await closing.count(['abcde'])).toEqual([estimateText('abcde')]);
});

test('the thread ends when idle', async () => {
  const short = createTokenCounter({ idleMs: 10, timeoutMs: 60_000 });
  await short.count(['x']);
  for (const end = performance.now() + 30_000; short.isLoaded && performance.now() < end; ) await Bun.sleep(10);
  expect(short.isLoaded).toBe(false);
  expect(await short.count(['hello world'])).toEqual([2]);
  short.close();
}, 60_000);

test('pieces join to the whole text, and are short without white space', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string(),
          fc.constantFrom('x', ' ', '\n').map((c) => c.repeat(150)),
        ),
      ),
      (parts) => {
        const text = parts.join('');
        let seen = '';
        countText(text, (piece) => {
          seen += piece;
          expect(piece).not.toMatch(/\S{65}|\s{65}/);
          return 1;
        });
        expect(seen).toBe(text);
      },
    ),
  );
});

test('the count of a very long text is extrapolated from its beginning', () => {
  expect(countText('ab '.repeat(400_000), (piece) => piece.length / 3)).toBe(400_000);
});
