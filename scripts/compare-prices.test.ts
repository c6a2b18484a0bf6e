import { expect, test } from 'bun:test';
import { comparePrices, type Row, type TheirPrice } from './compare-prices.ts';

const THEIRS: { [name: string]: TheirPrice } = {
  'openai/a': { input_mtok: 1, output_mtok: 2 },
  'x-ai/b': {
    input_mtok: { base: 1, tiers: [{ start: 200_000, price: 2 }] },
    output_mtok: { base: 2, tiers: [{ start: 200_000, price: 3 }] },
  },
  'openai/c': { input_mtok: { base: 1, tiers: [{ start: 200_000, price: 2 }] } },
};
const compare = (...rows: Row[]) => comparePrices(rows, (provider, model) => THEIRS[`${provider}/${model}`]);

test('prices are compared by component, including those of long inputs', () => {
  const price = { input: '1', output: '2' };
  expect(compare({ type: 'openai', model: 'a', price })).toMatchObject({ same: ['openai/a'], differences: [] });
  expect(
    compare({ type: 'openai', model: 'a', price: { ...price, input: '1.5', cachedInput: '0.1' } }).differences,
  ).toEqual([{ model: 'openai/a', component: 'input', ours: '1.5', theirs: '1' }]);
  const tiers = [{ from: 200_000, input: '2', output: '4' }];
  expect(compare({ type: 'xai', model: 'b', price: { ...price, tiers } }).differences).toEqual([
    { model: 'xai/b', component: 'output, long', ours: '4', theirs: '3' },
  ]);
  expect(compare({ type: 'openai', model: 'c', price }).differences).toEqual([
    { model: 'openai/c', component: 'input, long', ours: '1', theirs: '2' },
  ]);
});

test('models that the other table does not have are listed', () => {
  expect(compare({ type: 'openai', model: 'z', price: { input: '1' } }).missing).toEqual(['openai/z']);
});
