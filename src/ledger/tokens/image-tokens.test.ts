import { expect, test } from 'bun:test';
import { withImagesAt } from './image-tokens.ts';

const ESTIMATE = { text: 90, image: 1600, audio: 5 };
const at = (...models: string[]) =>
  withImagesAt(
    ESTIMATE,
    models.map((model) => ({ model })),
  );

test.each([
  ['as estimated for other models', at('gpt-4o', 'claude-sonnet-4'), 1600],
  ['as many as one of the targets may count', at('gpt-4o', 'openai/gpt-4o-mini-2024-07-18'), 25_600],
])('tokens of an image: %s', (_, estimate, image) => {
  expect(estimate).toEqual({ ...ESTIMATE, image });
});

test('a call without images is not changed', () => {
  const text = { ...ESTIMATE, image: 0 };
  expect(withImagesAt(text, [{ model: 'gpt-4o-mini' }])).toBe(text);
});
