import { afterAll, describe, expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { startSmtpServer } from '../../test/helpers/smtp-server.ts';
import { startWebhookReceiver, verifyWebhook } from '../../test/helpers/webhook-receiver.ts';
import { createLedger } from '../ledger/prepaid-ledger.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import type { AlertChannelRow } from '../store/alerts.ts';
import { createCredentialCipher } from '../store/credential-cipher.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { CallTrace } from '../telemetry/events.ts';
import { createGuardedFetch } from '../transport/guarded-fetch.ts';
import { sendMail } from '../transport/send-mail.ts';
import { newWebhookSecret } from '../transport/webhook-signature.ts';
import { type Alerts, createAlerts, MOST_TRIES } from './alerts.ts';
import { createDeliver } from './deliver.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SECRET = newWebhookSecret();
const NO_CALL = {} as CallTrace;

const receiver = startWebhookReceiver();
const mailServer = await startSmtpServer();
afterAll(async () => {
  await receiver.stop();
  mailServer.stop();
});

let clock = NOON;
const guard = createGuardedFetch({
  allows: (address) => address === '127.0.0.1',
  maxBytes: 1000,
  timeoutMs: 10_000,
});

/** A process that shares the store. */
function processOn(store: Store, worker = 'one'): Alerts {
  return createAlerts({
    store,
    deliver: createDeliver({ guard, sendMail, now: () => clock }),
    check: guard.check,
    now: () => clock,
    random: () => 0.5,
    worker,
    processStatusOf: (other) => (other === 'dead' ? 'gone' : 'unknown'),
    isFirst: true,
    reportError: () => {},
  });
}

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

interface Case {
  store: Store;
  alerts: Alerts;
  /** Everything that is due is sent. Returns what was received since. */
  sent(all?: readonly Alerts[]): Promise<{ rule: string; title: string }[]>;
  states(): Promise<string[]>;
}

describe.each(ENGINES)('alerts over $name', (engine) => {
  async function open(channels: readonly AlertChannelRow[] = [channel()]): Promise<Case> {
    clock = NOON;
    receiver.answerWith(204);
    receiver.hooks.length = 0;
    const { store } = await freshStore(engine);
    for (const one of channels) await store.alerts.saveChannel(one);
    const alerts = processOn(store);
    await alerts.refresh();
    return {
      store,
      alerts,
      async sent(all = [alerts]) {
        const before = receiver.hooks.length;
        for (const one of all) {
          one.databaseAnswered();
          await one.turn();
        }
        for (const one of all) await one.drain(30_000);
        return receiver.hooks.slice(before).map(({ body }) => body.data);
      },
      async states() {
        const rows = await store.alerts.alerts({ limit: 100 });
        return (await store.alerts.deliveriesOf(rows.map(({ id }) => id))).map(({ state }) => state);
      },
    };
  }

  test('a target that is down and up again: one alert each, signed', async () => {
    const { alerts, sent, store } = await open();
    alerts.sink.cooldown?.(down);
    alerts.sink.cooldown?.(down);
    expect(await sent()).toMatchObject([
      { rule: 'target_down', severity: 'error', subject: 'main/gpt', title: 'The target main/gpt is down' },
    ] as never);
    const [hook] = receiver.hooks;
    expect(hook?.body).toMatchObject({ type: 'alert.target_down', timestamp: '2026-11-23T12:00:00.000Z' });
    verifyWebhook(hook!, SECRET, clock);
    expect(() => verifyWebhook(hook!, newWebhookSecret(), clock)).toThrow('No signature');
    expect(() => verifyWebhook({ ...hook!, text: `${hook!.text} ` }, SECRET, clock)).toThrow('No signature');
    alerts.sink.cooldown?.(up);
    expect(await sent()).toMatchObject([{ rule: 'target_up', title: 'The target main/gpt is up again' }]);
    // It comes and goes: nothing more within ten minutes.
    for (const change of [down, up, down, up]) alerts.sink.cooldown?.(change);
    expect(await sent()).toEqual([]);
    clock += 11 * MINUTE_MS;
    alerts.sink.cooldown?.(down);
    expect(await sent()).toHaveLength(1);
    // The process that saw it ended: another tells it again after an hour.
    clock += HOUR_MS + MINUTE_MS;
    const other = processOn(store, 'other');
    await other.refresh();
    other.sink.cooldown?.(down);
    expect(await sent([other])).toHaveLength(1);
    await store.close();
  });

  test('two processes see the same: it is told once', async () => {
    const { alerts, sent, store } = await open();
    const other = processOn(store, 'two');
    await other.refresh();
    for (const one of [alerts, other]) {
      one.sink.cooldown?.(refused);
      one.sink.cooldown?.(down);
      one.sink.redis?.(false);
      one.sink.ended?.(
        NO_CALL,
        callRow({ id: 'call_1', at: clock, outcome: 'disputed', provider: 'main', model: 'gpt' }),
      );
    }
    const told = await sent([alerts, other]);
    expect(told.map(({ rule }) => rule).sort()).toEqual([
      'credential_refused',
      'disputed_usage',
      'redis_lost',
      'target_down',
    ]);
    expect(told.find(({ rule }) => rule === 'credential_refused')?.title).toBe(
      'The provider "main" refuses its credential 2',
    );
    for (const one of [alerts, other]) one.sink.redis?.(true);
    expect(await sent([alerts, other])).toMatchObject([{ rule: 'redis_lost', title: 'Redis answers again' }]);
    await store.close();
  });

  test('budgets and balances: the highest threshold, once in each period', async () => {
    const { alerts, sent, store } = await open();
    const ledger = createLedger({ store, owner: 'bench', now: () => clock });
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
    await ledger.topUp('acct_1', 20_000_000_000n, { at: clock });
    let calls = 0;
    const spend = async (amount: bigint) => {
      const callId = `call_${++calls}`;
      const at = clock;
      const asked = { callId, account: 'acct_1', key: 'key_1', amount, model: 'm', priceId: '', at };
      const hold = await ledger.hold({ ...asked, owner: 'bench' });
      await ledger.settle(hold, callRow({ id: callId, account: 'acct_1', key: 'key_1', at, cost: amount }));
    };
    const told = async () => {
      await alerts.refresh();
      return (await sent()).map(({ title }) => title);
    };
    await spend(7_900_000_000n);
    expect(await told()).toEqual([]);
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
    expect(await told()).toEqual([]);
    // Past 95 and 100 at once.
    await spend(2_000_000_000n);
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data.title)).toEqual([
      'The account "acme" has used 80 % of its daily budget',
      'The account "acme" has used 100 % of its daily budget',
    ]);
    receiver.hooks.length = 0;
    // Another day is another budget.
    clock += 24 * HOUR_MS;
    await spend(9_500_000_000n);
    await alerts.refresh();
    await sent();
    const next = receiver.hooks.map(({ body }) => body.data.title).sort();
    expect(next).toEqual([
      'The account "acme" has used 95 % of its daily budget',
      'The balance of the account "acme" is low',
    ]);
    receiver.hooks.length = 0;
    expect(await told()).toEqual([]);
    await ledger.topUp('acct_1', 5_000_000_000n, { at: clock });
    expect(await told()).toEqual([]);
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

  test('prices, tasks and the ledger', async () => {
    const { alerts, sent, store } = await open();
    await store.savePrice({ id: 'price_1', model: 'gpt', components: '{"input":1}', createdAt: clock });
    await alerts.refresh();
    expect(receiver.hooks).toEqual([]);
    await store.savePrice({ id: 'price_2', model: 'gpt', components: '{"input":2}', createdAt: clock });
    await alerts.refresh();
    await alerts.refresh();
    await sent();
    expect(receiver.hooks.map(({ body }) => body.data.title)).toEqual(['The model "gpt" has a new price']);
    for (const id of ['video_1', 'video_2'])
      alerts.sink.taskEnded?.(NO_CALL, callRow({ id, at: clock, outcome: 'failed', provider: 'main', model: 'film' }));
    alerts.sink.taskEnded?.(NO_CALL, callRow({ id: 'video_3', at: clock, outcome: 'ok' }));
    alerts.sink.ledgerFault?.(['An entry was altered.', 'Another.']);
    const told = await sent();
    expect(told.map(({ rule }) => rule).sort()).toEqual(['ledger_fault', 'task_failed']);
    expect(told.find(({ rule }) => rule === 'ledger_fault')).toMatchObject({
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

  test('what is not taken is tried again with growing pauses, and given up with its error', async () => {
    const { alerts, sent, states, store } = await open();
    receiver.answerWith(500);
    alerts.sink.cooldown?.(refused);
    expect(await sent()).toHaveLength(1);
    expect(await sent()).toEqual([]);
    expect(await states()).toEqual(['pending']);
    let tries = 1;
    for (; (await states())[0] === 'pending'; tries++) {
      clock += HOUR_MS + 6 * MINUTE_MS;
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
        at: clock,
        rule: 'target_down',
        severity: 'error',
        subject: 's',
        title: 't',
        text: 'x',
        data: {},
      },
      key: 'k',
    } as const);
    expect(await store.alerts.claim('dead', clock, clock + HOUR_MS, 10)).toHaveLength(1);
    clock += MINUTE_MS;
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
    mailServer.refuseNext('451 later');
    alerts.sink.cooldown?.({ ...down, target: 'main/<!channel>' });
    await sent();
    expect(receiver.hooks.map(({ body }) => body)).toEqual([
      { text: expect.stringMatching(/^\*The target main\/&lt;!channel&gt; is down\* \(error\)\nIt fails/) },
    ]);
    clock += MINUTE_MS;
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

  test('the database is lost: channels are told from memory, and afterwards that it answers again', async () => {
    const { alerts, sent, store } = await open();
    for (let turns = 0; turns < 6; turns++) await alerts.turn();
    await receiver.received(1);
    expect(receiver.hooks[0]?.body.data).toMatchObject({ rule: 'database_lost', severity: 'error' });
    verifyWebhook(receiver.hooks[0]!, SECRET, clock);
    clock += 30_000;
    alerts.databaseAnswered();
    expect(await sent()).toMatchObject([{ rule: 'database_lost', title: 'The database answers again' }]);
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
    expect(await bare.alerts.channels().catch(String)).toContain('JSON');
    key = 'second';
    expect([await store.alerts.reencrypt(), await store.alerts.reencrypt()]).toEqual([1, 0]);
    expect(await store.alerts.channels()).toEqual([channel()]);
    await expect(store.alerts.saveChannel(channel({ id: 'channel_9' }))).rejects.toThrow('already exists');
    await bare.close();
    await store.close();
  });
});
