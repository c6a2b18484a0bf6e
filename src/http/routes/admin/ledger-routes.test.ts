import { expect, test } from 'bun:test';
import { startLoopback } from '../../../../test/helpers/loopback.ts';

test('the admin API verifies and repairs the ledger', async () => {
  const edge = await startLoopback();
  const key = await edge.issue('admin');
  const ask = async (method: string, path: string, body?: object) => {
    const response = await edge.ask(method, path, { key, ...(body && { body }) });
    return { status: response.status, body: await response.json() };
  };
  const clean = await ask('GET', '/admin/v1/ledger/verify?full=true');
  expect(clean).toMatchObject({ status: 200, body: { ok: true, accounts: 1, holds: 0, faults: [] } });
  expect(await ask('POST', '/admin/v1/ledger/repair', {})).toEqual({
    status: 200,
    body: { entered: false, corrections: [], left: [] },
  });
  expect((await ask('GET', '/admin/v1/ledger/verify?full=perhaps')).status).toBe(400);
  await edge.stop();
});

test('a verification above the waiting time answers 202 with progress, and the report once it has ended', async () => {
  const edge = await startLoopback();
  const key = await edge.issue('admin');
  const startedAt = Date.UTC(2026, 10, 22, 12);
  // Another process verifies: only one verification runs at a time.
  const lease = { owner: 'another', startedAt, done: 5, total: 20, leaseUntil: Date.now() + 60_000 };
  expect(await edge.store.leaseVerification(lease, Date.now())).toBe(true);
  const ask = (method: string, path: string, body?: object) => edge.ask(method, path, { key, ...(body && { body }) });
  for (const answer of [
    await ask('GET', '/admin/v1/ledger/verify?wait=0'),
    await ask('POST', '/admin/v1/ledger/repair?wait=0', {}),
  ]) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([202, '5']);
    expect(await answer.json()).toEqual({
      state: 'running',
      startedAt: '2026-11-22T12:00:00.000Z',
      done: 5,
      total: 20,
    });
  }
  expect((await ask('GET', '/admin/v1/ledger/verify?wait=11')).status).toBe(400);
  await edge.store.endVerification('another');
  let last = await ask('GET', '/admin/v1/ledger/verify?wait=10');
  while (last.status === 202) last = await ask('GET', '/admin/v1/ledger/verify?wait=10');
  expect(last.status).toBe(200);
  expect(await last.json()).toMatchObject({ ok: true, accounts: 1, faults: [] });
  await edge.stop();
}, 60_000);
