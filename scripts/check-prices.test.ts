import { expect, test } from 'bun:test';
import { priceFaults } from './check-prices.ts';

const ROW = {
  type: 'openai',
  model: 'a',
  kind: 'chat',
  price: { input: '1', output: '2', tiers: [{ from: 200_001, input: '2' }] },
  maxOutputTokens: 1,
  contextTokens: 2,
  source: 'https://prices.invalid/',
  asOf: '2026-11-21',
};
const faultsOf = (...models: object[]) =>
  priceFaults(JSON.stringify({ models, tools: [] }), ['openai', 'google'], '2026-11-22');

test('a row with its source is accepted', () => {
  expect(faultsOf(ROW)).toEqual([]);
});

test.each([
  ['no source', { ...ROW, source: undefined }, 'source'],
  ['a source that is no address', { ...ROW, source: 'my memory' }, '/models/0/source'],
  ['no day', { ...ROW, asOf: undefined }, 'asOf'],
  ['a day that is none', { ...ROW, asOf: '2026-02-39' }, '2026-02-39 is not a day in the past'],
  ['a day to come', { ...ROW, asOf: '2026-11-23' }, '2026-11-23 is not a day in the past'],
  ['a price as a number', { ...ROW, price: { input: 1 } }, '/models/0/price/input'],
  ['a price in words', { ...ROW, price: { input: 'free' } }, '/models/0/price/input'],
  ['too many decimals', { ...ROW, price: { input: '0.0000000001' } }, '/models/0/price/input'],
  ['no price at all', { ...ROW, price: {} }, '/models/0/price'],
  ['a component that is not known', { ...ROW, price: { input: '1', ouput: '2' } }, '/models/0/price'],
  ['a kind that is not known', { ...ROW, kind: 'movie' }, '/models/0/kind'],
  ['a provider that is not known', { ...ROW, type: 'opnai' }, 'there is no provider type opnai'],
])('%s is a fault', (_, row, part) => {
  expect(faultsOf(row).join('\n')).toContain(part);
});

test('a duplicate model and invalid JSON are faults', () => {
  expect(faultsOf(ROW, { ...ROW, type: 'google' })).toEqual(['src/catalog/prices.json: google/a occurs twice']);
  expect(priceFaults('{', [], '2026-11-22')).toHaveLength(1);
});
