import { expect, test } from 'bun:test';
import { diffOf } from '../audit/diff.ts';
import { entriesOf } from '../reference/openapi.ts';
import { priceDiff, sampleCost } from './price.ts';

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
