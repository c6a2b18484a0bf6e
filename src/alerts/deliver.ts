/** Sends an alert to a channel: Standard Webhooks, a Slack-shaped webhook, or e-mail. */
import type { AlertChannelRow, AlertRow } from '../store/alerts.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import type { SendMail } from '../transport/send-mail.ts';
import { signed } from '../transport/webhook-signature.ts';

type Headers = { [name: string]: string };

const TIMEOUT_MS = 15_000;

/** `guard` sends webhooks and refuses private addresses. */
export interface DeliveryDeps {
  guard: Pick<GuardedFetch, 'post'>;
  sendMail: SendMail;
  now(): number;
}

/** Throws an Error if the receiver did not take it. `signal`: gives it up. */
export type Deliver = (channel: AlertChannelRow, alert: AlertRow, signal: AbortSignal) => Promise<void>;

/** Sends one alert to one channel: a signed webhook (Standard Webhooks), Slack, or e-mail. An attempt takes at most 15 s. */
export function createDeliver({ guard, sendMail, now }: DeliveryDeps): Deliver {
  async function post(url: string, headers: Headers, body: string, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const status = await guard.post(url, headers, body, either);
    if (status < 200 || status >= 300) throw new Error(`The receiver answered with status ${status}.`);
  }
  return async (channel, alert, signal) => {
    const { url, secret = '' } = channel.secrets;
    if (channel.type === 'webhook') {
      const body = webhookBody(alert);
      await post(url, signed(`msg_${alert.id}`, Math.floor(now() / 1000), body, secret), body, signal);
    } else if (channel.type === 'slack') {
      const headers = { 'content-type': 'application/json', 'user-agent': 'modelport' };
      await post(url, headers, slackBody(alert), signal);
    } else {
      const { from = '', to = [] } = channel.settings;
      await sendMail(url, { messageId: `<${alert.id}@modelport>`, from, to, ...mailOf(alert) }, TIMEOUT_MS, signal);
    }
  };
}

function webhookBody({ at, data, ...alert }: AlertRow): string {
  return JSON.stringify({
    type: `alert.${alert.rule}`,
    timestamp: new Date(at).toISOString(),
    data: { ...alert, details: data },
  });
}

/** Slack's own escapes: names of accounts must not become links or mentions. */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function slackBody({ severity, title, text }: AlertRow): string {
  return JSON.stringify({ text: `*${escaped(title)}* (${severity})\n${escaped(text)}` });
}

function mailOf({ at, rule, severity, title, text, data, id }: AlertRow): { subject: string; text: string } {
  const details = Object.entries({ rule, severity, time: new Date(at).toISOString(), ...data, alert: id });
  const lines = details.map(([name, value]) => `${name}: ${value}`);
  return { subject: `[Modelport] ${title.replace(/[\r\n]+/g, ' ')}`, text: `${text}\n\n${lines.join('\n')}\n` };
}
