import { expect, test } from 'bun:test';
import { forTests } from '../../../../test/helpers/for-tests.ts';
import { startLoopback } from '../../../../test/helpers/loopback.ts';
import { startWebhookReceiver, verifyWebhook } from '../../../../test/helpers/webhook-receiver.ts';

const edge = forTests(startLoopback, (started) => started.stop());
const receiver = forTests(
  () => Promise.resolve(startWebhookReceiver()),
  (started) => started.stop(),
);

test('a channel is added, tested, changed and removed; its secrets are shown once', async () => {
  const added = await edge.admin('POST', '/alerts/channels', { name: 'ops', type: 'webhook', url: receiver.url });
  const { id, secret } = added.body;
  expect(added.body).toMatchObject({ name: 'ops', type: 'webhook', url: receiver.url, rules: null, enabled: true });
  expect(secret).toStartWith('whsec_');
  const shown = await edge.admin('GET', `/alerts/channels/${id}`);
  expect(shown.body).not.toHaveProperty('secret');
  expect((await edge.admin('GET', '/alerts/channels')).body.data).toEqual([shown.body]);
  expect((await edge.admin('POST', `/alerts/channels/${id}/test`, {})).body).toEqual({ sent: true });
  const [hook] = await receiver.received(1);
  expect(hook?.body).toMatchObject({ type: 'alert.test', data: { title: 'Test of the channel "ops"' } });
  verifyWebhook(hook!, secret, Date.now());
  receiver.answerWith(404);
  const failed = await edge.admin('POST', `/alerts/channels/${id}/test`, {});
  expect(failed.body).toEqual({ sent: false, error: 'The receiver answered with status 404.' });

  const changed = await edge.admin('PATCH', `/alerts/channels/${id}`, { rules: ['budget'], enabled: false });
  expect(changed.body).toMatchObject({ url: receiver.url, rules: ['budget'], enabled: false });
  expect((await edge.admin('PATCH', `/alerts/channels/${id}`, { rules: null })).body.rules).toBeNull();
  const twin = await edge.admin('POST', '/alerts/channels', { name: 'ops', type: 'slack', url: receiver.url });
  expect(twin.status).toBe(409);
  expect((await edge.admin('DELETE', `/alerts/channels/${id}`)).body).toEqual({ id, removed: true });
  expect((await edge.admin('GET', `/alerts/channels/${id}`)).status).toBe(404);
  const audit = JSON.stringify((await edge.admin('GET', '/audit')).body);
  for (const action of ['created', 'changed', 'removed']) expect(audit).toContain(`alert-channel.${action}`);
  expect(audit).not.toContain(secret);
  expect(audit).not.toContain(receiver.url);
});

test('a Slack URL and an SMTP password are not shown again', async () => {
  const slack = { name: 'slack', type: 'slack', url: `${receiver.url}/T000/B000/token` };
  const mail = {
    ...{ name: 'mail', type: 'email', server: 'smtps://user:password@mail.example.test:465' },
    ...{ from: 'gateway@example.test', to: ['ops@example.test'] },
  };
  expect((await edge.admin('POST', '/alerts/channels', slack)).body.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/…$/);
  const { body } = await edge.admin('POST', '/alerts/channels', mail);
  expect(body).toMatchObject({ server: 'smtps://mail.example.test:465', to: ['ops@example.test'] });
  expect((await edge.admin('PATCH', `/alerts/channels/${body.id}`, { to: ['b@example.test'] })).body).toMatchObject({
    from: 'gateway@example.test',
    to: ['b@example.test'],
  });
});

test.each([
  [{ type: 'webhook' }, 'url'],
  [{ type: 'webhook', url: 'http://10.0.0.1/' }, undefined],
  [{ type: 'webhook', url: 'ftp://example.test/' }, undefined],
  [{ type: 'webhook', url: 'http://127.0.0.1/', to: ['a@example.test'] }, 'to'],
  [{ type: 'slack', url: 'http://127.0.0.1/', secret: `whsec_${'A'.repeat(32)}` }, 'secret'],
  [{ type: 'webhook', url: 'http://127.0.0.1/', secret: 'whsec_short' }, 'secret'],
  [{ type: 'email', server: 'https://example.test', from: 'a@example.test', to: ['b@example.test'] }, 'server'],
  [{ type: 'email', server: 'smtp://mail.example.test', to: ['b@example.test'] }, 'from'],
  [{ type: 'email', server: 'smtp://mail.example.test', from: 'a@example.test' }, 'to'],
  [{ type: 'pager', url: 'http://127.0.0.1/' }, 'type'],
  [{ type: 'webhook', url: 'http://127.0.0.1/', rules: ['nothing'] }, 'rules[0]'],
])('%j is refused', async (channel, param) => {
  const { status, body } = await edge.admin('POST', '/alerts/channels', { name: 'wrong', ...channel });
  expect(status).toBe(400);
  if (param !== undefined) expect(body.error.param).toBe(param);
});

test('rules are listed with their thresholds, and changed', async () => {
  const { body } = await edge.admin('GET', '/alerts/rules');
  expect(body.data).toHaveLength(11);
  expect(body.data[0]).toMatchObject({ rule: 'budget', enabled: true, thresholds: [80, 95, 100] });
  expect(body.data[1]).toMatchObject({ rule: 'low_balance', below: '1' });
  const budget = await edge.admin('PATCH', '/alerts/rules/budget', { thresholds: [50, 100] });
  expect(budget.body).toMatchObject({ enabled: true, thresholds: [50, 100] });
  await edge.admin('PATCH', '/alerts/rules/low_balance', { below: '2.5' });
  const off = await edge.admin('PATCH', '/alerts/rules/low_balance', { enabled: false });
  expect(off.body).toMatchObject({ enabled: false, below: '2.5' });
  const wrong = await edge.admin('PATCH', '/alerts/rules/target_down', { below: '1' });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'below']);
  expect((await edge.admin('PATCH', '/alerts/rules/nothing', {})).status).toBe(404);
});

test('alerts are listed with their deliveries, page by page', async () => {
  const { store } = edge;
  for (const one of await store.alerts.channels()) await store.alerts.removeChannel(one.id);
  const fresh = { name: 'list', type: 'slack', url: receiver.url, rules: ['ledger_fault'] };
  const { id } = (await edge.admin('POST', '/alerts/channels', fresh)).body;
  for (const [at, rule] of ['ledger_fault', 'target_down', 'ledger_fault'].entries())
    await store.alerts.raise({
      ...{ id: `alert_${at}`, at, rule, severity: 'error', subject: 's', title: `alert ${at}`, text: '', data: { at } },
      key: `key ${at}`,
    } as const);
  const first = (await edge.admin('GET', '/alerts?limit=2')).body;
  expect(first.data).toMatchObject([
    { id: 'alert_2', at: '1970-01-01T00:00:00.002Z', details: { at: 2 } },
    { id: 'alert_1', deliveries: [] },
  ]);
  expect(first.data[0].deliveries).toContainEqual({
    ...{ channel: id, state: 'pending', tries: 0, at: '1970-01-01T00:00:00.002Z' },
  });
  const next = (await edge.admin('GET', `/alerts?limit=2&after=${first.next}`)).body;
  expect(next.data.map((one: { id: string }) => one.id)).toEqual(['alert_0']);
  expect((await edge.admin('GET', '/alerts?rule=target_down')).body.data).toHaveLength(1);
  expect((await edge.admin('GET', '/alerts?state=dead')).body.data).toHaveLength(0);
  expect((await edge.admin('GET', '/alerts?state=nothing')).status).toBe(400);
});
