/** For tests: alerts over a store, with a clock that the test sets, and a receiver of webhooks. */
import { type Alerts, createAlerts } from '../../src/alerts/alerts.ts';
import { createDeliver } from '../../src/alerts/deliver.ts';
import type { AlertChannelRow } from '../../src/store/alerts.ts';
import type { Store } from '../../src/store/store.ts';
import { createGuardedFetch } from '../../src/transport/guarded-fetch.ts';
import { sendMail } from '../../src/transport/send-mail.ts';
import { type Engine, freshStore } from './engines.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

export const NOON = Date.UTC(2026, 10, 23, 12);
/** The clock of all benches. */
export const clock = { now: NOON };

const loopbackGuard = createGuardedFetch({
  allows: (address) => address === '127.0.0.1',
  maxBytes: 1000,
  timeoutMs: 10_000,
});

/** A process that shares the store. The process `dead` is known to have ended. */
export function processOn(store: Store, worker = 'one', reported = (_: string): unknown => undefined): Alerts {
  return createAlerts({
    store,
    deliver: createDeliver({ guard: loopbackGuard, sendMail, now: () => clock.now }),
    check: loopbackGuard.check,
    now: () => clock.now,
    random: () => 0.5,
    worker,
    processStatusOf: (other) => (other === 'dead' ? 'gone' : 'unknown'),
    isFirst: true,
    reportError: reported,
  });
}

export interface AlertBench {
  store: Store;
  alerts: Alerts;
  /** What was reported as an error. */
  reported: string[];
  tamper(text: string): Promise<void>;
  /** Everything that is due is sent. Returns what was received since. */
  sent(all?: readonly Alerts[]): Promise<{ rule: string; title: string }[]>;
  states(): Promise<string[]>;
}

/** A new store with these channels, at noon. */
export async function openAlertBench(
  engine: Engine,
  receiver: WebhookReceiver,
  channels: readonly AlertChannelRow[],
): Promise<AlertBench> {
  clock.now = NOON;
  receiver.answerWith(204);
  receiver.hooks.length = 0;
  const { store, tamper } = await freshStore(engine);
  const reported: string[] = [];
  for (const one of channels) await store.alerts.saveChannel(one);
  const alerts = processOn(store, 'one', (sentence) => reported.push(sentence));
  await alerts.refresh();
  return {
    store,
    alerts,
    reported,
    tamper,
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
