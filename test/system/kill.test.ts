/** The whole process tree is killed under load: after a restart the ledger is consistent and no hold stays open. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest, USED } from '../helpers/chat-answers.ts';
import { ENGINES, type TestDatabase } from '../helpers/engines.ts';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { loadModels, scriptLoadModels } from '../helpers/load-models.ts';
import { costOf, nanoOf } from '../helpers/scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

/** For a longer run set, for example, MODELPORT_KILLS=50. */
const KILLS = Number(process.env.MODELPORT_KILLS ?? 4);
const WORKERS = 16;
const CREDIT = '100.00';
/** A process counts as dead 30 s after its last sign of life. */
const SWEPT_WITHIN_MS = 45_000;
/** So long a busy machine may need for ten calls. */
const BUSY_WITHIN_MS = 20_000;

describe.each(ENGINES)('$name', (engine) => {
  let upstream: ScriptedUpstream;
  let gateway: GatewayProcess;
  let caller: TestCaller;
  let settings: TestDatabase['settings'];

  const start = () => startGateway({ ...loadModels(upstream), database: settings });

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    scriptLoadModels(upstream, 15);
    ({ settings } = await engine.freshDatabase());
    gateway = await start();
    caller = await gateway.newCaller(CREDIT);
    const { data: keys } = await gateway.admin<{ data: { id: string }[] }>('GET', `/keys?account=${caller.account}`);
    for (const { id } of keys) await gateway.admin('PATCH', `/keys/${id}`, { capture: 'full' });
  }, 60_000);
  afterAll(async () => {
    await gateway.stop('keep');
    await upstream.close();
  }, 60_000);

  /** Complete calls as seen by the client: each must be charged. */
  async function load(stopped: () => boolean, completed: () => void): Promise<void> {
    const worker = async (number: number) => {
      const stream = number % 2 === 0;
      const body = JSON.stringify(chatRequest(stream ? 'streamed' : 'whole', { stream }));
      const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
      while (!stopped()) {
        const text = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
          .then((response) => (response.ok ? response.text() : ''))
          .catch(() => '');
        if (text.includes('[DONE]') || text.includes('"chat.completion"')) completed();
        else await Bun.sleep(5);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, number) => worker(number)));
  }

  /** A capture is whole, or it is lost with the process: it is never a part, and never an error. */
  async function checkPayloads(): Promise<void> {
    const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', '/calls?limit=20');
    for (const { id } of data) {
      const headers = { authorization: `Bearer ${gateway.adminKey}` };
      const response = await fetch(`${gateway.url}/admin/v1/calls/${id}/payload`, { headers });
      const payload = (await response.json()) as { request?: { text: string } };
      expect([200, 404]).toContain(response.status);
      if (response.ok) expect(payload.request?.text).toContain('Say hello.');
    }
  }

  test(
    `killed ${KILLS} times under load, the ledger stays consistent`,
    async () => {
      let complete = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        let over = false;
        const before = complete;
        const loading = load(
          () => over,
          () => complete++,
        );
        await Bun.sleep(350 + ((kill * 37) % 400));
        for (const end = Date.now() + BUSY_WITHIN_MS; complete - before <= 10 && Date.now() < end; )
          await Bun.sleep(10);
        over = true;
        await gateway.kill();
        await loading;
        gateway = await start();
        expect((await gateway.verify()).ok).toBe(true);
        await checkPayloads();
      }
      const deadline = Date.now() + SWEPT_WITHIN_MS;
      while ((await gateway.verify()).holds > 0 && Date.now() < deadline) await Bun.sleep(500);
      expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
      const { available, held } = await gateway.balance(caller);
      expect(held).toBe('0');
      expect(complete).toBeGreaterThan(KILLS * 10);
      const spent = nanoOf(CREDIT) - nanoOf(available);
      expect(spent).toBeGreaterThanOrEqual(BigInt(complete) * costOf(USED));
    },
    60_000 + KILLS * 10_000,
  );
});
