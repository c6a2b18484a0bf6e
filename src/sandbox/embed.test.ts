import { expect, test } from 'bun:test';
import { embedReply, readEmbed, vectorOf } from './embed.ts';
import { readRerank, rerankReply } from './rerank.ts';

const likeness = (a: string, b: string) => {
  const [x, y] = [vectorOf(a, 256), vectorOf(b, 256)];
  return x.reduce((sum, value, place) => sum + value * (y[place] ?? 0), 0);
};

test('similar texts have similar vectors', () => {
  const query = 'How do I reset my password?';
  expect(likeness(query, query)).toBeCloseTo(1, 5);
  expect(likeness(query, 'resetting a forgotten password')).toBeGreaterThan(
    likeness(query, 'a recipe for plum cake') + 0.1,
  );
});

test('base64 and numbers encode exactly the same vector', () => {
  const body = { model: 'sandbox-embed', input: ['one', 'two'], dimensions: 16 };
  const rows = (reply: Iterable<string>): { embedding: number[] & string }[] => JSON.parse([...reply].join('')).data;
  const numbers = rows(embedReply(readEmbed(body)));
  const packed = rows(embedReply(readEmbed({ ...body, encoding_format: 'base64' })));
  for (const [place, row] of packed.entries()) {
    const bytes = Buffer.from(row.embedding, 'base64');
    expect(numbers[place]?.embedding.map((value) => Math.fround(value))).toEqual(
      Array.from({ length: 16 }, (_, at) => bytes.readFloatLE(at * 4)),
    );
  }
});

test('documents are ranked by relevance', () => {
  const request = readRerank({
    model: 'sandbox-rerank',
    query: 'capital of France',
    documents: ['Plums are fruit.', 'Paris is the capital of France.', { text: 'Berlin is a capital.' }],
    top_n: 2,
  });
  expect(rerankReply(request, 'k').results).toMatchObject([{ index: 1 }, { index: 2 }]);
});
