/** For tests: receives webhooks on loopback, and checks signatures by the rules of Standard Webhooks 1.0. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface ReceivedHook {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a body of its own.
  body: any;
  headers: Headers;
  text: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly hooks: ReceivedHook[];
  /** The status of the next responses, 204 at first; `hang`: none comes. */
  answerWith(status: number | 'hang'): void;
  /** Resolves when so many have come. Rejects after 30 s. */
  received(count: number): Promise<ReceivedHook[]>;
  stop(): Promise<void>;
}

export function startWebhookReceiver(): WebhookReceiver {
  const hooks: ReceivedHook[] = [];
  let status: number | 'hang' = 204;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request: Request) {
      const text = await request.text();
      hooks.push({
        id: request.headers.get('webhook-id') ?? '',
        body: JSON.parse(text),
        headers: request.headers,
        text,
      });
      if (status === 'hang') return new Promise<Response>(() => {});
      return new Response('', { status });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    hooks,
    answerWith(next) {
      status = next;
    },
    async received(count) {
      for (const end = Date.now() + 30_000; hooks.length < count; await Bun.sleep(10))
        if (Date.now() > end) throw new Error(`${hooks.length} of ${count} webhooks came.`);
      return hooks;
    },
    stop: () => server.stop(true),
  };
}

const TOLERANCE_SECONDS = 300;

/** As the reference libraries do it. Throws an Error if the request must not be trusted. `now`: in milliseconds since 1970. */
export function verifyWebhook({ headers, text }: ReceivedHook, secret: string, now: number): void {
  const id = headers.get('webhook-id') ?? '';
  const timestamp = headers.get('webhook-timestamp') ?? '';
  if (id === '' || !/^\d+$/.test(timestamp)) throw new Error('A header is missing.');
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) throw new Error('The timestamp is too old or new.');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest();
  const given = (headers.get('webhook-signature') ?? '').split(' ').map((one) => one.split(','));
  const isSigned = given.some(([version, signature = '']) => {
    const bytes = Buffer.from(signature, 'base64');
    return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
  if (!isSigned) throw new Error('No signature matches.');
}
