import { afterAll, describe, expect, test } from 'bun:test';
import { clock, NOON, openAlertBench, processOn } from '../../test/helpers/alert-bench.ts';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES } from '../../test/helpers/engines.ts';
import { startSmtpServer } from '../../test/helpers/smtp-server.ts';
import { startWebhookReceiver, verifyWebhook } from '../../test/helpers/webhook-receiver.ts';
import { GatewayError } from '../canonical/errors.ts';
import { HOUR_MS, MINUTE_MS } from '../canonical/time.ts';
import { createLedger } from '../ledger/prepaid-ledger.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import type { AlertChannelRow } from '../store/alerts.ts';
import { createCredentialCipher } from '../store/credential-cipher.ts';
import { openStore } from '../store/open-store.ts';
import type { CallTrace } from '../telemetry/events.ts';
import { newWebhookSecret } from '../transport/webhook-signature.ts';
import { MOST_TRIES } from './alerts.ts';

const SECRET = newWebhookSecret();
const NO_CALL = {} as CallTrace;

const receiver = startWebhookReceiver();
const mailServer = await startSmtpServer();
afterAll(async () => {
  await receiver.stop();
  mailServer.stop();
});

const channel = (more: Partial<AlertChannelRow> = {}): AlertChannelRow => ({
  id: 'channel_1',
  name: 'ops',
  type: 'webhook',
  settings: {},
  secrets: { url: receiver.url, secret: SECRET },
  enabled: true,
  createdAt: NOON,
  ...more,
});

const down: CooldownChange = { provider: 'main', target: 'main/gpt', reason: 'failing', seconds: 1 };
const up: CooldownChange = { ...down, reason: 'recovered', seconds: 0 };
const refused: CooldownChange = { provider: 'main', place: 2, reason: 'refused', seconds: 10 };

describe.each(ENGINES)('alerts over $name', (engine) => {
  const open = (channels = [channel()]) => openAlertBench(engine, receiver, channels);

  test('a target that is down and up again: one alert each, signed', async () => {
    const { alerts, sent, store } = await open();
    alerts.sink.cooldown?.(down);
    alerts.sink.cooldown?.(down);
    expect(await sent()).toMatchObject([
      { rule: 'target_down', severity: 'error', subject: 'main/gpt', title: 'The target main/gpt is down' },
    ] as never);
    const [hook] = receiver.hooks;
    expect(hook?.body).toMatchObject({ type: 'alert.target_down', timestamp: '2026-11-23T12:00:00.000Z' });
    verifyWebhook(hook!, SECRET, clock.now);
    expect(() => verifyWebhook(hook!, newWebhookSecret(), clock.now)).toThrow('No signature');
    expect(() => verifyWebhook({ ...hook!, text: `${hook!.text} ` }, SECRET, clock.now)).toThrow('No signature');
    alerts.sink.cooldown?.(up);
    expect(await sent()).toMatchObject([{ rule: 'target_up', title: 'The target main/gpt is up again' }]);
    // It comes and goes: nothing more within ten minutes.
    for (const change of [down, up, down, up]) alerts.sink.cooldown?.(change);
    expect(await sent()).toEqual([]);
    clock.now += 11 * MINUTE_MS;
    alerts.sink.cooldown?.(down);
    expect(await sent()).toHaveLength(1);
    // The process that saw it has ended: another sends the alert again after an hour.
    clock.now += HOUR_MS + MINUTE_MS;
    const other = processOn(store, 'other');
    await other.refresh();
    other.sink.cooldown?.(down);
    expect(await sent([other])).toHaveLength(1);
    await store.close();
  });

  test('two processes see the same: one alert is sent', async () => {
    const { alerts, sent, store } = await open();
    const other = processOn(store, 'two');
    await other.refresh();
    for (const one of [alerts, other]) {
      one.sink.cooldown?.(refused);
      one.sink.cooldown?.(down);
      one.sink.redis?.(false);
      one.sink.disputed?.(
        callRow({ id: 'call_1', at: clock.now, outcome: 'disputed', provider: 'main', model: 'gpt' }),
      );
    }
    const delivered = await sent([alerts, other]);
    expect(delivered.map(({ rule }) => rule).sort()).toEqual([
      'credential_refused',
      'disputed_usage',
      'redis_lost',
      'target_down',
    ]);
    expect(delivered.find(({ rule }) => rule === 'credential_refused')?.title).toBe(
      'The provider "main" refuses its credential 2',
    );
    for (const one of [alerts, other]) one.sink.redis?.(true);
    expect(await sent([alerts, other])).toMatchObject([{ rule: 'redis_lost', title: 'Redis answers again' }]);
    await store.close();
  });

  test('budgets and balances: the highest threshold, once in each period', async () => {
    const { alerts, sent, store } = await open();
    const ledger = createLedger({ store, owner: 'bench', now: () => clock.now });
    const account = {
      id: 'acct_1',
      name: 'acme',
      balance: 0n,
      held: 0n,
      createdAt: NOON,
      budget: { day: 10_000_000_000n },
    };
    await store.createAccount(account);
    await store.createKey({
      ...{ id: 'key_1', account: 'acct_1', kind: 'caller', name: 'laptop', hash: 'h', last4: 'last', createdAt: NOON },
      budget: { total: 100_000_000_000n },
    } as const);
    await ledger.topUp('acct_1', 20_000_000_000n, { at: clock.now });
    let calls = 0;
    const spend = async (amount: bigint) => {
      const callId = `call_${++calls}`;
      const at = clock.now;
      const request = { callId, account: 'acct_1', key: 'key_1', amount, model: 'm', priceId: '', at };
      const hold = await ledger.hold({ ...request, owner: 'bench' });
      await ledger.settle(hold, callRow({ id: callId, account: 'acct_1', key: 'key_1', at, cost: amount }));
    };
    const delivered = async () => {
      await alerts.refresh();
      return (await sent()).map(({ title }) => title);
    };
    await spend(7_900_000_000n);
    expect(await delivered()).toEqual([]);
    await spend(100_000_000n);
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data)).toMatchObject([
      {
        title: 'The account "acme" has used 80 % of its daily budget',
        subject: 'acct_1',
        details: { percent: 80, used: '8', limit: '10', window: 'day' },
      },
    ]);
    expect(await delivered()).toEqual([]);
    // Past 95 and 100 at once.
    await spend(2_000_000_000n);
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data.title)).toEqual([
      'The account "acme" has used 80 % of its daily budget',
      'The account "acme" has used 100 % of its daily budget',
    ]);
    receiver.hooks.length = 0;
    // The hold of a call is more than the budget leaves.
    const error = new GatewayError('budget_exhausted', 'no');
    for (let calls = 0; calls < 3; calls++)
      alerts.sink.refused?.({ error, key: 'key_1', account: 'acct_1' } as CallTrace);
    expect(await sent()).toMatchObject([
      { title: 'Calls of the account "acme" are refused by its daily budget', severity: 'error' } as never,
    ]);
    receiver.hooks.length = 0;
    // Another day is another budget.
    clock.now += 24 * HOUR_MS;
    await spend(9_500_000_000n);
    await alerts.refresh();
    await sent();
    const next = receiver.hooks.map(({ body }) => body.data.title).sort();
    expect(next).toEqual([
      'The account "acme" has used 95 % of its daily budget',
      'The balance of the account "acme" is low',
    ]);
    receiver.hooks.length = 0;
    expect(await delivered()).toEqual([]);
    await ledger.topUp('acct_1', 5_000_000_000n, { at: clock.now });
    expect(await delivered()).toEqual([]);
    await store.alerts.saveRule({ rule: 'low_balance', below: '90000000000' });
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data.title)).toEqual(['The balance of the account "acme" is low']);
    receiver.hooks.length = 0;
    // Of a key: its budget is for ever.
    await store.alerts.saveRule({ rule: 'budget', thresholds: [19] });
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data.title)).toContain(
      'The key "laptop" has used 19 % of its total budget',
    );
    await store.close();
  });

  test('sums are read in parts', async () => {
    const { store } = await open();
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: NOON, budget: { day: 0n } });
    const found: string[] = [];
    const parts: (string | undefined)[] = [];
    for (let after = ''; parts.length < 9; ) {
      const { rows, next } = await store.alerts.budgetUses('account', 80, clock.now, { limit: 2, after });
      found.push(...rows.map(({ id }) => id));
      parts.push(next);
      if (next === undefined) break;
      after = next;
    }
    expect(found).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(parts).toEqual(['b', 'd', undefined]);
    await store.close();
  });

  test('prices, tasks and the ledger', async () => {
    const { alerts, sent, store } = await open();
    await store.savePrice({ id: 'price_1', model: 'gpt', components: '{"input":1}', createdAt: clock.now });
    await alerts.refresh();
    expect(receiver.hooks).toEqual([]);
    await store.savePrice({ id: 'price_2', model: 'gpt', components: '{"input":2}', createdAt: clock.now });
    await alerts.refresh();
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data.title)).toEqual(['The model "gpt" has a new price']);
    for (const id of ['video_1', 'video_2'])
      alerts.sink.taskEnded?.(
        NO_CALL,
        callRow({ id, at: clock.now, outcome: 'failed', provider: 'main', model: 'a-video-model' }),
      );
    alerts.sink.taskEnded?.(NO_CALL, callRow({ id: 'video_3', at: clock.now, outcome: 'ok' }));
    alerts.sink.ledgerFault?.(['An entry was altered.', 'Another.']);
    const delivered = await sent();
    expect(delivered.map(({ rule }) => rule).sort()).toEqual(['ledger_fault', 'task_failed']);
    expect(delivered.find(({ rule }) => rule === 'ledger_fault')).toMatchObject({
      text: 'An entry was altered. There are 1 more. Run "modelport ledger verify".',
    } as never);
    await store.close();
  });

  test('nothing is recorded without a channel, of a rule that is off, or sent to a channel that does not want it', async () => {
    const { alerts, sent, store } = await open([channel({ enabled: false })]);
    alerts.sink.cooldown?.(down);
    expect(await sent()).toEqual([]);
    expect(await store.alerts.alerts({ limit: 10 })).toEqual([]);
    await store.alerts.saveChannel(channel({ rules: ['target_down'] }));
    await store.alerts.saveRule({ rule: 'redis_lost', enabled: false });
    await alerts.refresh();
    alerts.sink.redis?.(false);
    alerts.sink.cooldown?.(refused);
    alerts.sink.cooldown?.(down);
    expect((await sent()).map(({ rule }) => rule)).toEqual(['target_down']);
    const rows = await store.alerts.alerts({ limit: 10 });
    expect(rows.map(({ rule }) => rule).sort()).toEqual(['credential_refused', 'target_down']);
    await store.close();
  });

  test('a failed delivery is retried with growing pauses, then ends with its error', async () => {
    const { alerts, sent, states, store } = await open();
    receiver.answerWith(500);
    alerts.sink.cooldown?.(refused);
    expect(await sent()).toHaveLength(1);
    expect(await sent()).toEqual([]);
    expect(await states()).toEqual(['pending']);
    let tries = 1;
    for (; (await states())[0] === 'pending'; tries++) {
      clock.now += HOUR_MS + 6 * MINUTE_MS;
      expect(await sent()).toHaveLength(1);
    }
    expect(tries).toBe(MOST_TRIES);
    const [alert] = await store.alerts.alerts({ limit: 1, state: 'dead' });
    expect(await store.alerts.deliveriesOf([alert?.id ?? ''])).toMatchObject([
      { state: 'dead', tries: MOST_TRIES, error: 'The receiver answered with status 500.' },
    ]);
    expect(new Set(receiver.hooks.map(({ id }) => id)).size).toBe(1);
    await store.close();
  });

  test('a delivery of a process that died is made by another, at least once', async () => {
    const { sent, states, store } = await open();
    await store.alerts.raise({
      ...{
        id: 'alert_1',
        at: clock.now,
        rule: 'target_down',
        severity: 'error',
        subject: 's',
        title: 't',
        text: 'x',
        data: {},
      },
      key: 'k',
    } as const);
    expect(
      await store.alerts.claim('channel_1', 'dead', { now: clock.now, until: clock.now + HOUR_MS }, 10),
    ).toHaveLength(1);
    clock.now += MINUTE_MS;
    expect(await sent()).toMatchObject([{ title: 't' }]);
    expect(await states()).toEqual(['sent']);
    await store.close();
  });

  test('Slack, e-mail, and a webhook at a private address', async () => {
    const server = `smtp://ops:p%40ss@127.0.0.1:${mailServer.port}`;
    const { alerts, sent, store } = await open([
      channel({ type: 'slack', secrets: { url: receiver.url } }),
      channel({
        ...{ id: 'channel_2', name: 'mail', type: 'email', secrets: { url: server } },
        settings: { from: 'gateway@example.test', to: ['a@example.test', 'b@example.test'] },
      } as const),
      channel({ id: 'channel_3', name: 'inside', secrets: { url: 'http://127.0.0.2:9/', secret: SECRET } }),
    ]);
    const mails = mailServer.mails.length;
    // Postgres does not store a NUL character.
    mailServer.refuseNext('451 later\0');
    alerts.sink.cooldown?.({ ...down, target: 'main/<!channel>' });
    await sent();
    expect(receiver.hooks.map(({ body }) => body)).toEqual([
      { text: expect.stringMatching(/^\*The target main\/&lt;!channel&gt; is down\* \(error\)\nIt fails/) },
    ]);
    clock.now += MINUTE_MS;
    await sent();
    const [mail] = mailServer.mails.slice(mails);
    expect(mail).toMatchObject({ from: 'gateway@example.test', to: ['a@example.test', 'b@example.test'], user: 'ops' });
    expect(mail?.data).toContain('Subject: [Modelport] The target main/<!channel> is down');
    expect(mail?.data).toContain('severity: error');
    const [alert] = await store.alerts.alerts({ limit: 1 });
    const errors = (await store.alerts.deliveriesOf([alert?.id ?? ''])).map(({ error }) => error);
    expect(errors[2]).toMatch(/public/);
    expect(errors.slice(0, 2)).toEqual([undefined, undefined]);
    expect(await alerts.test(channel({ secrets: { url: 'http://127.0.0.2:9/' } }))).toMatch(/public/);
    expect(await alerts.test(channel())).toBeUndefined();
    await store.close();
  });

  test('while the database is unreachable alerts are sent from memory, and one more when it answers again', async () => {
    const { alerts, sent, store } = await open();
    for (let turns = 0; turns < 6; turns++) await alerts.turn();
    await receiver.received(1);
    expect(receiver.hooks[0]?.body.data).toMatchObject({ rule: 'database_lost', severity: 'error' });
    verifyWebhook(receiver.hooks[0]!, SECRET, clock.now);
    clock.now += 30_000;
    alerts.databaseAnswered();
    expect(await sent()).toMatchObject([{ rule: 'database_lost', title: 'The database answers again' }]);
    // Lost again at once: nothing more.
    for (let turns = 0; turns < 6; turns++) await alerts.turn();
    alerts.databaseAnswered();
    expect(await sent()).toEqual([]);
    expect(receiver.hooks).toHaveLength(2);
    await store.close();
  });

  test('a channel whose secrets cannot be decrypted does not stop the others', async () => {
    const lost = { id: 'channel_2', name: 'lost', createdAt: NOON - 1 };
    const { alerts, sent, store, reported, tamper } = await open([channel(), channel(lost)]);
    await tamper("UPDATE alert_channels SET secrets = 'v1.of.another.key' WHERE id = 'channel_2'");
    await alerts.refresh();
    await alerts.refresh();
    expect(reported.filter((sentence) => sentence.includes('"lost" cannot be decrypted'))).toHaveLength(1);
    alerts.sink.cooldown?.(down);
    expect(await sent()).toMatchObject([{ rule: 'target_down' }]);
    const [alert] = await store.alerts.alerts({ limit: 1 });
    const deliveries = await store.alerts.deliveriesOf([alert!.id]);
    expect(deliveries.find((one) => one.channel === 'channel_2')).toMatchObject({
      state: 'pending',
      error: expect.stringContaining('Restore the key'),
    });
    const unreadable = (await store.alerts.channels()).find(({ id }) => id === 'channel_2')!;
    expect(await alerts.test(unreadable)).toContain('cannot be decrypted');
    // The key is restored: what waits is sent.
    await store.alerts.saveChannel(channel(lost));
    clock.now += MINUTE_MS;
    expect(await sent()).toMatchObject([{ rule: 'target_down' }]);
    await store.close();
  });

  test('secrets of channels are encrypted, and again with a new key', async () => {
    const { settings, tamper: _ } = await engine.freshDatabase();
    let key = 'first';
    const cipher = createCredentialCipher({ read: () => ({ current: key, previous: ['first'] }), make: () => key });
    const store = await openStore({ ...settings, cipher });
    await store.migrate();
    await store.alerts.saveChannel(channel());
    const bare = await openStore(settings);
    const hidden = channel({ secrets: { url: '' }, unreadable: expect.stringContaining('"ops" cannot be decrypted') });
    expect(await bare.alerts.channels()).toEqual([hidden]);
    key = 'second';
    expect([await store.alerts.reencrypt(), await store.alerts.reencrypt()]).toEqual([1, 0]);
    expect(await store.alerts.channels()).toEqual([channel()]);
    await expect(store.alerts.saveChannel(channel({ id: 'channel_9' }))).rejects.toThrow('already exists');
    await bare.close();
    await store.close();
  });
});
