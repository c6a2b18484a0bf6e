/** Signatures of webhooks, as Standard Webhooks 1.0 (https://www.standardwebhooks.com) describes them. */
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_BYTES = 24;

export const newWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The headers of a signed request. `secret` is base64 after the prefix `whsec_`; times are in seconds since 1970. */
export function signed(id: string, timestamp: number, body: string, secret: string): { [name: string]: string } {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'modelport',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
}
