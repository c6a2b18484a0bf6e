/** Alerts with their ways out: webhooks through the guard, and mail. */
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import { sendMail } from '../transport/send-mail.ts';
import { type Alerts, type AlertsDeps, createAlerts } from './alerts.ts';
import { createDeliver } from './deliver.ts';

type GivenDeps = Omit<AlertsDeps, 'deliver' | 'check' | 'random' | 'isFirst'>;

/** `index`: of this process among those of the machine. */
export function openAlerts(guard: GuardedFetch, { index }: { index: number }, deps: GivenDeps): Alerts {
  const deliver = createDeliver({ guard, sendMail, now: deps.now });
  return createAlerts({ ...deps, deliver, check: guard.check, random: Math.random, isFirst: index === 0 });
}
