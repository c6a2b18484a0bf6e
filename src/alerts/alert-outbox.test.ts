/** The outbox under faults: receivers that hang, a store that fails between two steps, a clock that jumps. */

import { afterAll, describe, expect, test } from 'bun:test';
import { clock, NOON, openAlertBench, processOn } from '../../test/helpers/alert-bench.ts';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES } from '../../test/helpers/engines.ts';
import { startWebhookReceiver } from '../../test/helpers/webhook-receiver.ts';
import { HOUR_MS, MINUTE_MS } from '../canonical/time.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import type { AlertChannelRow, AlertStore, RaisedAlert } from '../store/alerts.ts';
import type { Store } from '../store/store.ts';
import { newWebhookSecret } from '../transport/webhook-signature.ts';
import { MOST_WAITING } from './alerts.ts';

const receiver = startWebhookReceiver();
const mute = startWebhookReceiver();
mute.answerWith('hang');
afterAll(() => Promise.all([receiver.stop(), mute.stop()]));

const channel = (more: Partial<AlertChannelRow> = {}): AlertChannelRow => ({
  ...{ id: 'channel_1', name: 'ops', type: 'webhook', settings: {}, enabled: true, createdAt: NOON },
  secrets: { url: receiver.url, secret: newWebhookSecret() },
  ...more,
});
const atMute = channel({ id: 'channel_0', name: 'mute', secrets: { url: mute.url, secret: newWebhookSecret() } });

const alert = (id: string): RaisedAlert => ({
  ...{ id, at: clock.now, rule: 'target_down', severity: 'error', subject: id, title: id, text: 'x', data: {} },
  key: id,
});
const down: CooldownChange = { provider: 'main', target: 'main/gpt', reason: 'failing', seconds: 1 };
const up: CooldownChange = { ...down, reason: 'recovered', seconds: 0 };

/** The same store, of which some operations of alerts are replaced. */
const withAlerts = (store: Store, replaced: Partial<AlertStore>): Store => ({
  ...store,
  alerts: { ...store.alerts, ...replaced },
});

/** An operation that fails the first time, before or after it is done. */
function failingOnce<Args extends unknown[], Done>(run: (...args: Args) => Promise<Done>) {
  let failures = 0;
  return async (...args: Args): Promise<Done> => {
    if (failures++ === 0) throw new Error('the connection was lost');
    return run(...args);
  };
}

describe.each(ENGINES)('$name:', (engine) => {
  test('a receiver that hangs does not delay the others, however many alerts wait for it', async () => {
    const { store, alerts } = await openAlertBench(engine, receiver, [atMute]);
    for (let place = 0; place < 40; place++) await store.alerts.raise(alert(`old_${place}`));
    await alerts.turn();
    await store.alerts.saveChannel(channel());
    clock.now += 1000;
    await store.alerts.raise(alert('new'));
    await alerts.turn();
    const [hook] = await receiver.received(1);
    expect(hook?.body.data.title).toBe('new');
    await alerts.stop(0);
    await store.close();
  });

  test('a delivery that could not be recorded is recorded later and not sent again', async () => {
    const { store, states } = await openAlertBench(engine, receiver, [channel()]);
    const one = processOn(withAlerts(store, { delivered: failingOnce(store.alerts.delivered) }));
    await one.refresh();
    await store.alerts.raise(alert('a'));
    for (let turns = 0; turns < 3; turns++) {
      one.databaseAnswered();
      await one.turn();
      await one.drain(30_000);
      clock.now += 2 * MINUTE_MS;
    }
    expect(receiver.hooks).toHaveLength(1);
    expect(await states()).toEqual(['sent']);
    await store.close();
  });

  test('the alert that a target is up again is sent although the store failed between freeing the key and recording it', async () => {
    const { store } = await openAlertBench(engine, receiver, [channel()]);
    const one = processOn(store);
    await one.refresh();
    one.sink.cooldown?.(down);
    await one.drain(30_000);
    const titles = () => receiver.hooks.map(({ body }) => body.data.title);
    expect(titles()).toEqual(['The target main/gpt is down']);
    const failing = processOn(withAlerts(store, { raise: failingOnce(store.alerts.raise) }), 'two');
    await failing.refresh();
    failing.sink.cooldown?.(up);
    await failing.drain(30_000);
    await failing.turn();
    await failing.drain(30_000);
    expect(titles()).toEqual(['The target main/gpt is down', 'The target main/gpt is up again']);
    await store.alerts.raise(alert('k'));
    const broken = () => {
      throw new Error('broken');
    };
    await expect(store.alerts.rearm('k', broken)).rejects.toThrow('broken');
    expect(await store.alerts.raise({ ...alert('k'), id: 'another' })).toBe(false);
    await store.close();
  });

  test('what was put off or taken while the clock was a day ahead is sent when it is set back', async () => {
    const { store, alerts } = await openAlertBench(engine, receiver, [channel()]);
    clock.now += 24 * HOUR_MS;
    await store.alerts.raise(alert('put off'));
    await store.alerts.raise(alert('taken'));
    const until = clock.now + MINUTE_MS;
    expect(await store.alerts.claim('channel_1', 'killed', { now: clock.now, until }, 1)).toHaveLength(1);
    clock.now += 16_000 - 24 * HOUR_MS;
    await alerts.turn();
    const hooks = await receiver.received(2);
    expect(hooks.map(({ body }) => body.data.title).sort()).toEqual(['put off', 'taken']);
    await alerts.stop(1000);
    await store.close();
  });

  test('a clock that was an hour ahead for a moment does not stop the checks of balances', async () => {
    const { store, alerts, sent } = await openAlertBench(engine, receiver, [channel()]);
    clock.now += HOUR_MS;
    await sent();
    clock.now -= HOUR_MS;
    await store.savePrice({ id: 'price_1', model: 'gpt', components: '{"input":1}', createdAt: clock.now });
    await store.savePrice({ id: 'price_2', model: 'gpt', components: '{"input":2}', createdAt: clock.now });
    clock.now += 16_000;
    alerts.databaseAnswered();
    expect((await sent()).map(({ rule }) => rule)).toEqual(['price_changed']);
    await store.close();
  });

  test('a check of budgets and balances writes nothing for alerts that were sent before', async () => {
    const { store } = await openAlertBench(engine, receiver, [channel()]);
    await store.tidy(NOON);
    for (let place = 0; place < 20; place++) {
      const id = `acct_${place}`;
      await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: NOON, budget: { total: 1n } });
      const call = callRow({ id: `call_${place}`, account: id, at: NOON, cost: 5n });
      await store.ledger([{ type: 'resolve', callId: call.id, amount: 5n, call }]);
    }
    let raised = 0;
    const counted = withAlerts(store, {
      raise: (one) => {
        raised++;
        return store.alerts.raise(one);
      },
    });
    const one = processOn(counted);
    await one.refresh();
    expect(raised).toBe(40);
    await one.refresh();
    expect(raised).toBe(40);
    await one.stop(30_000);
    await store.close();
  });
});

test('alerts that exceed the memory limit while the database is unreachable are reported', async () => {
  const [engine] = ENGINES;
  if (!engine) throw new Error('There is no engine.');
  const { store } = await openAlertBench(engine, receiver, [channel()]);
  const errors: string[] = [];
  const lost = withAlerts(store, { raise: () => new Promise(() => {}) });
  const one = processOn(lost, 'one', (sentence) => errors.push(sentence));
  await one.refresh();
  for (let place = 0; place < MOST_WAITING + 3; place++) one.sink.cooldown?.({ ...down, target: `t_${place}` });
  expect(errors).toEqual(['Alerts are lost: more of them wait for the database than are kept in memory.']);
  await one.stop(0);
  await store.close();
});
