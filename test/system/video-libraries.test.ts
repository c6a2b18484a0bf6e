/**
 * The official openai library creates, remixes and deletes videos of the sandbox and scripted providers; webhooks are signed by Standard
 * Webhooks and retried.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { startVideoClient } from '../clients/videos-client.ts';
import { nanoCost } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import {
  providerVideo,
  SECOND_PRICE,
  sandboxVideoStage,
  VIDEO,
  type VideoView,
  videoAnswer,
  watch,
} from '../helpers/videos.ts';
import type { Answer } from '../upstream/answer.ts';

const scene = useScene({ environment: { MODELPORT_FETCH_ALLOW: '127.0.0.0/8' } }, { checksEachTest: false });

const sandboxStage = () => sandboxVideoStage(scene);

test.each(['openai', 'openai-6'] as const)(
  '%s: create, retrieve, downloadContent, list, delete',
  async (library) => {
    const client = await startVideoClient(library);
    const stage = await sandboxStage();
    const request = { model: stage.model, prompt: 'A cat [[delay 200]]', seconds: '4', size: '720x1280' };
    for (const image of [undefined, 'iVBORw0KGgo=']) {
      const view = await client.run({ ...stage.at, request, ...(image && { image }) });
      const id = view.created?.id ?? '';
      expect(view).toMatchObject({
        created: { object: 'video', seconds: '4' },
        ended: { id, status: 'completed', progress: 100 },
        type: 'video/mp4',
        listed: [id],
        deleted: { id, deleted: true },
        error: { class: 'NotFoundError', status: 404 },
      });
      expect(view.bytes).toBeGreaterThan(1000);
    }
    client.stop();
    const calls = await stage.settled();
    expect(calls.map(nanoCost)).toEqual([400_000_000n, 400_000_000n]);
  },
  300_000,
);

test('a start of unknown result is not repeated by the library, and a refused one is', async () => {
  const client = await startVideoClient('openai');
  const ask = async (reply: Answer) => {
    const stage = await scene.stage({ type: 'openai', kind: 'video', upstreamModel: 'sora-2', price: SECOND_PRICE });
    stage.script({ ...reply, repeat: true });
    const request = { model: stage.model, prompt: 'A cat', seconds: '4' };
    const { error } = await client.run({ ...stage.at, request, maxRetries: 1 });
    const calls = await stage.settled();
    expect(calls.map(({ cost }) => cost)).toEqual(calls.map(() => '0'));
    return { status: error?.status, starts: stage.journal().length, calls: calls.length };
  };
  const cut: Answer = { fault: { before: 'headers', does: 'cut' } };
  expect(await ask({ status: 504 })).toEqual({ status: 504, starts: 1, calls: 1 });
  expect(await ask(cut)).toEqual({ status: 502, starts: 1, calls: 1 });
  expect(await ask({ json: { object: 'video' } })).toEqual({ status: 502, starts: 1, calls: 1 });
  // The library does repeat allowed requests.
  expect(await ask({ status: 503 })).toEqual({ status: 502, starts: 2, calls: 2 });
  client.stop();
}, 60_000);

describe('the openai library with a provider', () => {
  let client: Awaited<ReturnType<typeof startVideoClient>>;
  beforeAll(async () => {
    client = await startVideoClient('openai');
  }, 300_000);
  afterAll(() => client.stop());

  const request = (model: string) => ({ model, prompt: 'A cat', seconds: '8', size: '1280x720' });

  test.each(['openai', 'azure'])(
    '%s: a remix is a video of its own, generated from the first by the provider, and charged as one',
    async (type) => {
      const stage = await scene.stage({ type, kind: 'video', upstreamModel: 'sora-2', price: SECOND_PRICE });
      const anew = {
        json: { id: 'vid_anew', object: 'video', status: 'queued', remixed_from_video_id: 'vid_upstream' },
      };
      stage.script(providerVideo('queued'), providerVideo('completed'), videoAnswer);
      stage.script(anew, { json: { ...anew.json, status: 'completed' } }, videoAnswer);
      const remix = { prompt: 'The same cat, at night' };
      const view = await client.run({ ...stage.at, request: request(stage.model), remix });
      const { id } = view.created ?? {};
      expect(view.remixed).toMatchObject({ remixed_from_video_id: id, ...remix, seconds: '8', size: '1280x720' });
      expect(view.remixed?.id).not.toBe(id);
      expect(view.remixEnded).toMatchObject({ id: view.remixed?.id, status: 'completed' });
      expect(view.bytes).toBe(VIDEO.length);
      expect([...(view.listed ?? [])].sort()).toEqual([id ?? '', view.remixed?.id ?? ''].sort());
      expect(view).toMatchObject({ deleted: { id, deleted: true }, error: { class: 'NotFoundError', status: 404 } });
      const upstreamRequest = stage.journal().find(({ path }) => path.endsWith('/videos/vid_upstream/remix'));
      expect(upstreamRequest?.body).toEqual(remix);
      // The video needs the provider's key too.
      const keys = stage.journal().map(({ headers }) => headers[type === 'azure' ? 'api-key' : 'authorization']);
      expect(keys).toEqual(keys.map(() => expect.stringContaining('sk-upstream-secret')));
      expect(keys).toHaveLength(6);
      expect((await stage.settled()).map(nanoCost)).toEqual([800_000_000n, 800_000_000n]);
    },
    90_000,
  );

  test('deleted while in progress: its provider is asked to cancel, and its hold is released', async () => {
    const stage = await scene.stage({ type: 'runway', kind: 'video', upstreamModel: 'gen4.5', price: SECOND_PRICE });
    stage.script({ json: { id: 'r-1' } }, { status: 204 });
    const view = await client.run({ ...stage.at, request: request(stage.model), deleteAtOnce: true });
    expect(view).toMatchObject({ deleted: { id: view.created?.id, deleted: true }, error: { class: 'NotFoundError' } });
    expect(stage.journal().map(({ method, path }) => `${method} ${path.slice(path.lastIndexOf('/v1/'))}`)).toEqual([
      'POST /v1/text_to_video',
      'DELETE /v1/tasks/r-1',
    ]);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', errorCode: 'cancelled', cost: '0' });
  }, 60_000);

  test('deleted while in progress, at a provider that cannot cancel: a conflict, and it continues', async () => {
    const stage = await scene.stage({ type: 'openai', kind: 'video', upstreamModel: 'sora-2', price: SECOND_PRICE });
    stage.script(providerVideo('queued'), providerVideo('completed'), videoAnswer);
    // The library flattens an object in its form.
    const input_reference = { image_url: 'https://images.example/a.png' };
    const view = await client.run({
      ...stage.at,
      request: { ...request(stage.model), input_reference },
      deleteAtOnce: true,
    });
    expect(view).toMatchObject({ error: { class: 'ConflictError', status: 409 } });
    expect(stage.journal()[0]?.body).toEqual({
      model: 'sora-2',
      prompt: 'A cat',
      seconds: '8',
      size: '1280x720',
      input_reference,
    });
    expect((await watch(scene.gateway.url, stage, view.created?.id ?? '')).last.status).toBe('completed');
    expect(nanoCost(await stage.settledCall())).toBe(800_000_000n);
  }, 60_000);
});

test('a webhook is signed, and repeated until it succeeds', async () => {
  const stage = await sandboxStage();
  scene.upstream.script('/hook/', { status: 500 }, { status: 204 });
  const body = { model: stage.model, prompt: 'A cat [[delay 200]]', seconds: '1' };
  const answer = await stage.post('/v1/videos', { ...body, webhook_url: `${scene.upstream.url}/hook/here` });
  const { id } = (await answer.json()) as VideoView;
  await watch(scene.gateway.url, stage, id);
  const deadline = Date.now() + 15_000;
  while (scene.upstream.journal('/hook/').length < 2 && Date.now() < deadline) await Bun.sleep(50);
  const deliveries = scene.upstream.journal('/hook/');
  expect(deliveries).toHaveLength(2);
  const { secret } = await scene.gateway.admin<{ secret: string }>(
    'GET',
    `/accounts/${stage.caller.account}/webhook-secret`,
  );
  for (const { headers, body: delivery } of deliveries) {
    expect(delivery).toMatchObject({ type: 'video.completed', data: { id, status: 'completed', model: stage.model } });
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${JSON.stringify(delivery)}`;
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
  }
  expect(deliveries[0]?.headers['webhook-id']).toBe(deliveries[1]?.headers['webhook-id'] ?? '');
  await stage.settled();
}, 60_000);
