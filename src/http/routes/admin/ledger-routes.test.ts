import { expect, test } from 'bun:test';
import { startLoopback } from '../../../../test/loopback.ts';

test('the books are verified and repaired over the admin API', async () => {
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
