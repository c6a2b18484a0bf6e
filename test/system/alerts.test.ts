/** Alerts of a gateway of two processes: raised once, signed, and sent again after a kill. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS } from '../../src/canonical/time.ts';
import { hourFileName } from '../../src/hourly-calls.ts';
import { openStore } from '../../src/store/open-store.ts';
import { callRow } from '../helpers/call-row.ts';
import { chatRequest, errorAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { modelsAt } from '../helpers/load-models.ts';
import { readScrape, sumOf } from '../helpers/scraped.ts';
import { type ReceivedHook, startWebhookReceiver, verifyWebhook } from '../helpers/webhook-receiver.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

interface ShownAlert {
  rule: string;
  title: string;
  deliveries: { state: string; tries: number }[];
}

const WITHIN_MS = 30_000;
const receiver = startWebhookReceiver();
let upstream: ScriptedUpstream;
let gateway: GatewayProcess;
let caller: TestCaller;
let secret: string;

const environment = { MODELPORT_PROCESSES: '2', MODELPORT_FETCH_ALLOW: '127.0.0.1' };
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startGateway({ ...modelsAt(upstream, ['target'], 100), environment });
  caller = await gateway.newCaller();
  ({ secret } = await gateway.admin<{ secret: string }>('POST', '/alerts/channels', {
    ...{ name: 'ops', type: 'webhook', url: receiver.url },
  }));
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await receiver.stop();
  rmSync(gateway.dataFolder, { recursive: true, force: true });
}, 60_000);

/** A connection of its own, so that both processes get calls. */
const call = () =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}`, connection: 'close' },
    body: JSON.stringify(chatRequest('target')),
  }).then((response) => response.arrayBuffer());

async function until(is: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; !(await is()); await Bun.sleep(20))
    if (Date.now() > end) throw new Error(`${what}\n${gateway.log().slice(-2000)}`);
}

const alerts = async (rule: string) =>
  (await gateway.admin<{ data: ShownAlert[] }>('GET', `/alerts?rule=${rule}`)).data;
const hooksOf = (rule: string): ReceivedHook[] => receiver.hooks.filter(({ body }) => body.data.rule === rule);

test('a target that is down, and up again, and a refused credential: one alert each', async () => {
  upstream.decide('/target', () => errorAnswer(500, 'broken'));
  // Other processes read changes of channels every 15 seconds: whichever sees the target fail first must know of the channel.
  const cooldowns = async () =>
    sumOf(readScrape(await gateway.metrics()), 'modelport_cooldowns_total', { reason: 'failing' });
  await until(async () => {
    await call();
    return hooksOf('target_down').length > 0 && (await cooldowns()) >= 2;
  }, 'the target is not down in both processes');
  expect(await alerts('target_down')).toMatchObject([{ title: 'The target target/upstream-model is down' }]);
  upstream.decide('/target', () => wholeAnswer('Hello'));
  await until(async () => {
    await call();
    return hooksOf('target_up').length > 0;
  }, 'the target is not up');
  upstream.decide('/target', () => errorAnswer(401, 'no such key'));
  await until(async () => {
    await call();
    return hooksOf('credential_refused').length > 0;
  }, 'the credential is not refused');
  upstream.decide('/target', () => wholeAnswer('Hello'));
  for (const rule of ['target_down', 'target_up', 'credential_refused']) {
    expect(hooksOf(rule)).toHaveLength(1);
    verifyWebhook(hooksOf(rule)[0]!, secret, Date.now());
    await until(async () => (await alerts(rule))[0]?.deliveries[0]?.state === 'sent', `${rule} is not sent`);
  }
}, 90_000);

test('killed while an alert is being sent: the next start sends it again', async () => {
  await until(async () => {
    await call();
    return (await gateway.calls(caller)).some(({ cost }) => cost !== '0');
  }, 'no call was charged');
  receiver.answerWith('hang');
  await gateway.admin('PATCH', '/alerts/rules/low_balance', { below: '1000' });
  await until(() => hooksOf('low_balance').length === 1, 'the alert was not sent');
  await gateway.kill();
  receiver.answerWith(204);
  gateway = await startGateway({ ...modelsAt(upstream, ['target'], 100), environment, dataFolder: gateway.dataFolder });
  await until(() => hooksOf('low_balance').length === 2, 'the alert was not sent again');
  const [first, second] = hooksOf('low_balance');
  expect(second?.id).toBe(first?.id ?? '');
  verifyWebhook(second!, secret, Date.now());
  await until(
    async () => (await alerts('low_balance'))[0]?.deliveries[0]?.state === 'sent',
    'it is not marked as sent',
  );
  expect(await alerts('low_balance')).toHaveLength(1);
}, 90_000);

test('a stop does not wait for a receiver that never answers; the next start writes the hourly file that is due', async () => {
  receiver.answerWith('hang');
  const before = receiver.hooks.length;
  // The balance was low already: it is enough, and then low again.
  for (const below of ['0.000001', '1000']) await gateway.admin('PATCH', '/alerts/rules/low_balance', { below });
  await receiver.received(before + 1);
  expect(await gateway.stop('keep')).toBe(0);
  receiver.answerWith(204);
  const hour = Math.floor(Date.now() / HOUR_MS) - 2;
  const store = await openStore({ dataDir: gateway.dataFolder });
  const account = 'account_earlier';
  await store.createAccount({ id: account, name: account, balance: 0n, held: 0n, createdAt: 0 });
  const earlier = callRow({ id: 'call_earlier', account, at: hour * HOUR_MS + 1, cost: 5n });
  await store.ledger([{ type: 'resolve', callId: earlier.id, amount: 5n, call: earlier }]);
  await store.close();
  gateway = await startGateway({
    ...modelsAt(upstream, ['target'], 100),
    environment: { ...environment, MODELPORT_HOURLY_CALLS: 'ndjson' },
    dataFolder: gateway.dataFolder,
  });
  const file = join(gateway.dataFolder, 'files', hourFileName(hour, 'ndjson'));
  await until(() => existsSync(file), 'the hourly file was not written');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: 'call_earlier' });
  // The other account is low too, and its alert may come first.
  const { id } = receiver.hooks[before]!;
  await until(() => receiver.hooks.slice(before + 1).some((hook) => hook.id === id), 'it was not sent again');
}, 90_000);
