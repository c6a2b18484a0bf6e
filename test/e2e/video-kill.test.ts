/** SIGKILL in the middle of video tasks: after a restart each is started once, paid once or released, under the id its client has. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { type GatewayProcess, type ModelSetting, startGateway, type TestCaller } from '../gateway-process.ts';
import { nanoCost } from '../scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';
import { filmAnswer, SECOND_PRICE, vendorVideo, watch } from '../videos.ts';

/** That its maker is dead is seen within a second; the next look may be twelve away. */
const TAKEN_OVER_MS = 25_000;
const silence = { fault: { before: 'headers', does: 'silence' } } as const;
/** Where the vendor stalls when the process is killed. */
const STEPS = ['start', 'found', 'poll', 'download'] as const;
const TYPES = { start: 'openai', found: 'kling', poll: 'openai', download: 'openai' } as const;

let upstream: ScriptedUpstream;
let gateway: GatewayProcess;
let caller: TestCaller;
const start = (dataFolder?: string) =>
  startGateway({
    providers: STEPS.map((name) => ({ name, type: TYPES[name], baseUrl: `${upstream.url}/${name}`, credential: 'sk' })),
    models: STEPS.map((name) => ({
      name,
      kind: 'video' as ModelSetting['kind'],
      price: SECOND_PRICE,
      targets: [{ provider: name, model: 'upstream-model' }],
    })),
    ...(dataFolder && { dataFolder }),
  });

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await start();
  caller = await gateway.newCaller('10.00');
}, 30_000);
afterAll(async () => {
  const { dataFolder } = gateway;
  await gateway.stop();
  await upstream.close();
  rmSync(dataFolder, { recursive: true, force: true });
}, 30_000);

const arrived = async (prefix: string, many: number) => {
  const deadline = Date.now() + 20_000;
  while (upstream.journal(prefix).length < many) {
    if (Date.now() > deadline) throw new Error(`${prefix} was asked ${upstream.journal(prefix).length} times`);
    await Bun.sleep(20);
  }
};

test('killed while it starts, is looked at and is fetched', async () => {
  const klingTask = (status: string) => ({ json: { code: 0, data: { task_id: '42', task_status: status } } });
  upstream.script('/start/', silence);
  upstream.script('/found/', silence, klingTask('submitted'), klingTask('failed'));
  upstream.script('/poll/', vendorVideo('queued'), silence, vendorVideo('completed'), filmAnswer);
  upstream.script('/download/', vendorVideo('queued'), vendorVideo('completed'), silence);
  upstream.script('/download/', vendorVideo('completed'), filmAnswer);
  const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
  for (const model of STEPS) {
    const body = JSON.stringify({ model, prompt: 'A cat', seconds: 4 });
    void fetch(`${gateway.url}/v1/videos`, { method: 'POST', headers, body }).catch(() => undefined);
  }
  await arrived('/start/', 1);
  await arrived('/found/', 1);
  await arrived('/poll/', 2);
  await arrived('/download/', 3);
  await gateway.kill();
  gateway = await start(gateway.dataFolder);

  const list = await fetch(`${gateway.url}/v1/videos`, { headers });
  const { data } = (await list.json()) as { data: { id: string; model: string }[] };
  expect(data.map(({ model }) => model).sort()).toEqual([...STEPS].sort());
  const ends: { [model: string]: string } = {};
  for (const { id, model } of data) {
    const { last } = await watch(gateway.url, { caller }, id, undefined, TAKEN_OVER_MS);
    ends[model] = last.status;
  }
  expect(ends).toEqual({ start: 'failed', found: 'failed', poll: 'completed', download: 'completed' });
  for (const model of STEPS) {
    const starts = upstream.journal(`/${model}/`).filter(({ method }) => method === 'POST');
    expect(starts).toHaveLength(1);
  }
  // It was looked up by our id before anything else.
  expect(upstream.journal('/found/')[1]?.path).toMatch(/\/v1\/videos\/text2video\/video_\w{32}$/);
  const deadline = Date.now() + 20_000;
  while ((await gateway.verify()).holds > 0 && Date.now() < deadline) await Bun.sleep(100);
  expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
  const paid = (await gateway.calls(caller)).map((call) => [call.model, nanoCost(call)]);
  expect(Object.fromEntries(paid)).toEqual({ start: 0n, found: 0n, poll: 400_000_000n, download: 400_000_000n });
  expect(paid).toHaveLength(4);
}, 200_000);
