/** A database outage under load: calls are refused before anything is sent, settlements wait, nothing is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatRequest, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { loadModels, scriptLoadModels } from '../helpers/load-models.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../helpers/postgres.ts';
import { costOf, nanoOf } from '../helpers/scene.ts';
import { startWebhookReceiver } from '../helpers/webhook-receiver.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const WORKERS = 12;
const WITHIN_MS = 20_000;

describe.skipIf(!hasPostgres)('Postgres', () => {
  let postgres: TestPostgres;
  let upstream: ScriptedUpstream;
  let gateway: GatewayProcess;
  let caller: TestCaller;
  let folder: string;
  const receiver = startWebhookReceiver();

  beforeAll(async () => {
    postgres = await startPostgres();
    upstream = await startScriptedUpstream();
    scriptLoadModels(upstream, 30);
    folder = mkdtempSync(join(tmpdir(), 'modelport-outage-'));
    gateway = await startGateway({
      dataFolder: folder,
      environment: { DATABASE_URL: await postgres.freshDatabase(), MODELPORT_FETCH_ALLOW: '127.0.0.1' },
      ...loadModels(upstream),
    });
    caller = await gateway.newCaller('10.00');
    await gateway.admin('POST', '/alerts/channels', { name: 'ops', type: 'slack', url: receiver.url });
  }, 60_000);
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await receiver.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const ask = (stream: boolean, path = '/v1/chat/completions', body: object = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${caller.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ ...chatRequest(stream ? 'streamed' : 'whole', { stream }), ...body }),
    });

  interface Seen {
    complete: number;
    statuses: Map<number, number>;
    /** How many answers each worker got. */
    answers: number[];
  }

  async function load(stopped: () => boolean, seen: Seen): Promise<void> {
    const worker = async (number: number) => {
      while (!stopped()) {
        const response = await ask(number % 2 === 0);
        const text = await response.text();
        seen.statuses.set(response.status, (seen.statuses.get(response.status) ?? 0) + 1);
        seen.answers[number] = (seen.answers[number] ?? 0) + 1;
        if (text.includes('[DONE]') || text.includes('"chat.completion"')) seen.complete++;
        else await Bun.sleep(10);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, number) => worker(number)));
  }

  async function untilReady(ready: boolean): Promise<void> {
    const end = Date.now() + WITHIN_MS;
    let answer = await fetch(`${gateway.url}/ready`);
    while (answer.ok !== ready) {
      if (Date.now() > end) throw new Error(`the gateway did not say ready: ${ready}`);
      await Bun.sleep(50);
      answer = await fetch(`${gateway.url}/ready`);
    }
    const body = ready ? { status: 'ready' } : { status: 'not ready', reasons: ['The database does not answer.'] };
    expect(await answer.json()).toEqual(body);
  }

  test.each(['fast', 'immediate'] as const)(
    'restarted under load (%s)',
    async (mode) => {
      const spent = async () => nanoOf('10.00') - nanoOf((await gateway.balance(caller)).available);
      const spentBefore = await spent();
      const seen: Seen = { complete: 0, statuses: new Map(), answers: Array<number>(WORKERS).fill(0) };
      let over = false;
      const loading = load(() => over, seen);
      const start = Date.now();
      while (seen.complete === 0 && Date.now() - start < WITHIN_MS) await Bun.sleep(100);
      const before = seen.complete;
      postgres.stop(mode);
      await untilReady(false);
      // What was held before the outage may be sent later: of two answers, the second is to a request that began in the outage.
      const answered = [...seen.answers];
      while (seen.answers.some((count, worker) => count < answered[worker]! + 2) && Date.now() - start < WITHIN_MS)
        await Bun.sleep(10);
      const sentBefore = upstream.journal('/').length;
      const refused = await ask(false);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await refused.json()).toMatchObject({ error: { code: 'database_unavailable', type: 'api_error' } });
      const messages = await ask(false, '/v1/messages', { max_tokens: 9 });
      expect(await messages.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
      // Told from memory, after five seconds: the outbox is in the database. Not again within ten minutes.
      if (mode === 'fast') await receiver.received(1);
      else await Bun.sleep(300);
      expect(upstream.journal('/').length).toBe(sentBefore);
      postgres.start();
      await untilReady(true);
      const after = seen.complete;
      const again = Date.now();
      while (seen.complete <= after && Date.now() - again < WITHIN_MS) await Bun.sleep(100);
      over = true;
      await loading;
      expect(before).toBeGreaterThan(0);
      expect(seen.complete).toBeGreaterThan(after);
      expect([...seen.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
      const end = Date.now() + WITHIN_MS;
      while ((await gateway.balance(caller)).held !== '0' && Date.now() < end) await Bun.sleep(100);
      expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
      await receiver.received(2);
      expect(receiver.hooks.map(({ body }) => body.text.split('*')[1])).toEqual([
        'The database does not answer',
        'The database answers again',
      ]);
      // Each complete call was charged; calls that the client saw fail may have been.
      const paid = (await spent()) - spentBefore;
      expect(paid).toBeGreaterThanOrEqual(BigInt(seen.complete) * costOf(USED));
      const calls = BigInt([...seen.statuses.values()].reduce((sum, count) => sum + count, 0));
      expect(paid).toBeLessThanOrEqual(calls * costOf(USED));
    },
    90_000,
  );

  test('a stop during an outage ends the process with an error: others settle its calls', async () => {
    upstream.forget('/streamed/');
    upstream.script('/streamed/', streamAnswer(['one ', 'two '], { paceMs: 400 }));
    const response = await ask(true);
    // The upstream waits meanwhile: it is in this process.
    postgres.stop('immediate');
    expect(await gateway.stop('keep')).toBe(1);
    expect(await response.text().catch(() => '')).not.toContain('[DONE]');
  }, 60_000);
});
