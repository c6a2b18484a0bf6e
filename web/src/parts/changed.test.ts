import { expect, test } from 'bun:test';
import { changedOf } from './changed.ts';
import { writeLimits } from './limit-fields.tsx';

test('of a form, what was changed is sent: a budget that another tab has lowered stays', () => {
  const texts = { month: '50', day: '', total: '', requestsPerMinute: '', tokensPerMinute: '1000', concurrency: '' };
  const body = (name: string, more: Partial<typeof texts> = {}) => ({ name, ...writeLimits({ ...texts, ...more }) });
  const shown = body('laptop');
  expect(changedOf(body('laptop'), shown)).toEqual({});
  expect(changedOf(body('desk'), shown)).toEqual({ name: 'desk' });
  expect(changedOf(body('laptop', { day: '5' }), shown)).toEqual({ budget: { month: '50', day: '5' } });
  expect(changedOf(body('laptop', { month: '', tokensPerMinute: '' }), shown)).toEqual({
    budget: null,
    tokensPerMinute: null,
  });
});
