import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

test('GET /admin/v1/overview sums a period beside the one before', async () => {
  const empty = await edge.admin('GET', '/overview');
  expect(empty.status).toBe(200);
  expect(empty.body).toMatchObject({
    stepSeconds: 3600,
    current: { calls: 0, failed: 0, spend: '0', saved: '0' },
    series: [],
    models: [],
    keys: [],
    accounts: [],
    holds: { open: 0, amount: '0' },
    cooldowns: { count: 0, targets: [] },
  });
  for (const absent of ['errorRate', 'cacheShare', 'firstTokenMs', 'durationMs'])
    expect(empty.body.current).not.toHaveProperty(absent);
});

test.each([
  ['from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z', '"from" must be earlier than "to".'],
  ['from=2020-01-01T00:00:00Z', 'The period has at most 366 days. Choose a later "from".'],
])('GET /admin/v1/overview?%s is refused', async (query, message) => {
  const { status, body } = await edge.admin('GET', `/overview?${query}`);
  expect({ status, error: body.error }).toMatchObject({ status: 400, error: { message, param: 'from' } });
});
