/** What one key can make a real process hold: calls, bytes, memory. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

const MB = 1024 * 1024;
const MEMORY = 320 * MB;

let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway({
    environment: {
      MODELPORT_SANDBOX: 'on',
      MODELPORT_MEMORY_BYTES: String(MEMORY),
      MODELPORT_ACCOUNT_CALLS: '40',
      MODELPORT_ACCOUNT_BYTES: String(200 * MB),
    },
  });
}, 60_000);
afterAll(async () => {
  expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
  await gateway.stop();
}, 60_000);

const request = (content: string) =>
  JSON.stringify({ model: 'sandbox-chat', max_tokens: 5, messages: [{ role: 'user', content }] });

function send(key: string, body: string | Uint8Array, headers: { [name: string]: string } = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
}

/** The highest memory of the gateway so far, in bytes. */
function peak(): number {
  const port = new URL(gateway.url).port;
  const peaks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`PORT=${port}`)) return 0;
        return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
      } catch {
        return 0;
      }
    });
  return Math.max(...peaks);
}

/** The slowest answer of `/health` while the work runs, measured by a separate process, because this one is busy sending. */
async function healthDuring(work: Promise<unknown>): Promise<number> {
  const script = `
    let slowest = 0;
    process.on('SIGTERM', () => { console.log(slowest); process.exit(); });
    for (;;) {
      const started = performance.now();
      if (!(await fetch('${gateway.url}/health')).ok) throw new Error('/health failed');
      slowest = Math.max(slowest, performance.now() - started);
      await Bun.sleep(10);
    }`;
  const looking = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
  await Bun.sleep(300);
  await work;
  looking.kill('SIGTERM');
  return Number(await new Response(looking.stdout).text());
}

test("an account's concurrent calls are limited, with an error in its own format", async () => {
  const [one, other] = [await gateway.newCaller(), await gateway.newCaller()];
  const slow = Array.from({ length: 40 }, () => send(one.key, request('[[delay 6000]] hello')));
  const areActive = async () => /^modelport_calls_active\S* 40$/m.test(await gateway.metrics());
  for (const end = performance.now() + 5000; !(await areActive()) && performance.now() < end; ) await Bun.sleep(20);
  const refused = await send(one.key, request('hello'));
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(((await refused.json()) as { error: unknown }).error).toMatchObject({
    code: 'rate_limited',
    type: 'rate_limit_error',
  });
  const anthropic = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': one.key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: request('hello'),
  });
  expect(anthropic.status).toBe(429);
  expect(((await anthropic.json()) as { error: { type: string } }).error.type).toBe('rate_limit_error');
  expect((await send(other.key, request('hello'))).status).toBe(200);
  for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
  expect((await send(one.key, request('hello'))).status).toBe(200);
}, 60_000);

test.each([
  ['large bodies', request('[[delay 1500]] '.padEnd(8 * MB, 'word ')), {}],
  [
    'packed bodies that unpack to a multiple',
    gzipSync(request('[[delay 1500]] '.padEnd(40 * MB, ' '))),
    { 'content-encoding': 'gzip' },
  ],
] as const)(
  '%s: 503 before memory runs out, and the process continues',
  async (_, body, headers) => {
    const callers = await Promise.all([1, 2, 3].map(() => gateway.newCaller('1000.00')));
    const answers = Array.from({ length: 90 }, (_, i) => send(callers[i % 3]!.key, body, headers));
    const slowest = await healthDuring(Promise.all(answers));
    const refused: Response[] = [];
    for (const answer of await Promise.all(answers)) if (answer.status >= 429) refused.push(answer);
    console.log(
      `${refused.length} of 90 refused, peak ${Math.round(peak() / MB)} MB, /health ${Math.round(slowest)} ms`,
    );
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) {
      expect([429, 503]).toContain(one.status);
      expect(one.headers.get('retry-after')).toBe('1');
    }
    expect(refused.some(({ status }) => status === 503)).toBe(true);
    expect(peak()).toBeLessThan(3 * MEMORY);
    // It recovers by itself.
    const deadline = performance.now() + 30_000;
    let last = 0;
    while (last !== 200 && performance.now() < deadline) {
      last = (await send(callers[0]!.key, request('hello'))).status;
      if (last !== 200) await Bun.sleep(200);
    }
    expect(last).toBe(200);
  },
  60_000,
);
