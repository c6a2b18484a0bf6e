import { expect, test } from 'bun:test';
import type { Model } from '../../api/types.ts';
import { diffOf } from '../audit/diff.ts';
import { entriesOf } from '../reference/openapi.ts';
import { newPrice, priceDiff, sampleCost } from './price.ts';

test('a sample call is priced exactly', () => {
  expect(sampleCost({ input: '0.1', output: '0.4' })).toBe('0.0003');
  expect(sampleCost({ input: '0.000000000001', output: '2' })).toBe('0.001');
  expect(sampleCost({ perImage: '0.002' })).toBeUndefined();
});

test('versions of a price differ by their components', () => {
  expect(priceDiff({ input: '1', cachedInput: '0.1' }, { input: '2', cachedInput: '0.1', tiers: [1] })).toEqual([
    { component: 'input', before: '1', after: '2' },
    { component: 'tiers', before: undefined, after: '[1]' },
  ]);
});

test('a row of the audit log shows what differs, member by member', () => {
  expect(diffOf({ name: 'a', budget: { day: '1' } }, { name: 'a', budget: { day: '2' }, models: ['x'] })).toEqual([
    { path: 'budget.day', before: '1', after: '2' },
    { path: 'models', before: undefined, after: '["x"]' },
  ]);
  expect(diffOf(undefined, undefined)).toEqual([]);
});

test('the reference leaves out the admin API and follows references', () => {
  const schemas = {
    Body: {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'array', items: { enum: [1] } } },
    },
  };
  const post = {
    tags: ['T'],
    summary: 's',
    requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Body' } } } },
  };
  const entries = entriesOf({ paths: { '/v1/x': { post }, '/admin/v1/y': { post } }, components: { schemas } });
  expect(entries).toHaveLength(1);
  expect(entries[0]?.members).toEqual([
    { name: 'a', type: 'string', isRequired: true, description: undefined },
    { name: 'b', type: '1[]', isRequired: false, description: undefined },
  ]);
});

const SHOWN: Model = {
  ...{ name: 'm', kind: 'chat', ownedBy: 'tests', createdAt: '2026-01-01T00:00:00Z', priceId: 'price_1' },
  ...{ price: { input: '1', output: '2', perImage: { large: '3' } }, targets: [] },
};

test('a new price names the version that it replaces, and keeps what has no field', () => {
  expect(newPrice(SHOWN, { input: '5' })).toEqual({
    model: SHOWN.name,
    price: { input: '5', output: '2', perImage: { large: '3' } },
    replaces: SHOWN.priceId,
  });
});
