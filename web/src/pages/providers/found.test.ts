import { expect, test } from 'bun:test';
import type { Model } from '../../api/types.ts';
import { bodyOf, foundState, matching, testable, withTarget } from './found.ts';

const target = (provider: string, model: string, priority = 0) => ({ provider, model, priority, weight: 1 });
const model = (name: string, targets: Model['targets']): Model => ({
  ...{
    name,
    targets,
    kind: 'chat',
    price: { input: '1', output: '2' },
    priceId: 'price_1',
    ownedBy: 'a',
    createdAt: 'now',
  },
  scheduled: [{ priceId: 'price_2', from: 'later' }],
});
const models = [model('both', [target('a', 'both')]), model('other', [target('b', 'renamed')])];
const price = { input: '3', output: '4' };

test('a found model is enabled, gets a target, is ready, or needs a price', () => {
  expect(foundState({ id: 'both' }, 'a', models)).toBe('enabled');
  expect(foundState({ id: 'renamed' }, 'b', models)).toBe('enabled');
  expect(foundState({ id: 'both' }, 'b', models)).toBe('adds');
  expect(foundState({ id: 'new', price }, 'b', models)).toBe('ready');
  expect(foundState({ id: 'new' }, 'b', models)).toBe('unpriced');
});

test('a target is added behind those that the model has, which keeps its price', () => {
  expect(bodyOf({ id: 'both', price }, 'b', models)).toEqual({
    ...{ kind: 'chat', ownedBy: 'a', price: { input: '1', output: '2' } },
    targets: [target('a', 'both'), { provider: 'b', model: 'both', priority: 1 }],
  });
  expect(bodyOf({ id: 'new', kind: 'embed', price: { input: '1' } }, 'b', models)).toEqual({
    ...{ kind: 'embed', price: { input: '1' } },
    targets: [{ provider: 'b', model: 'new' }],
  });
  expect(withTarget(model('x', [target('a', 'x', 4)]), { provider: 'b', model: 'x' })).toMatchObject({
    targets: [{ priority: 4 }, { provider: 'b', priority: 5 }],
  });
});

test('the filter takes words in any order, and the test call a chat model', () => {
  const rows = [{ id: 'openai/GPT-5-mini' }, { id: 'openai/embed', kind: 'embed' }];
  expect(matching(rows, ' mini openai').map(({ id }) => id)).toEqual(['openai/GPT-5-mini']);
  expect(matching(rows, '')).toEqual(rows);
  expect(testable([rows[1]!, rows[0]!])).toBe('openai/GPT-5-mini');
  expect(testable([rows[1]!])).toBe('openai/embed');
});
