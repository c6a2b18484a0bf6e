/** Veo on Vertex AI, created in other formats: its token is fetched, and its video is in the response or in a bucket. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { nanoCost, type Scene, startScene } from '../helpers/scene.ts';
import { authorized, SECOND_PRICE, VIDEO, videoAnswer, watch } from '../helpers/videos.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

let scene: Scene;
let buckets: ScriptedUpstream;
beforeAll(async () => {
  [scene, buckets] = await Promise.all([startScene(), startScriptedUpstream()]);
}, 60_000);
afterAll(async () => {
  await scene.close();
  await buckets.close();
}, 60_000);

const LONG_MS = 60_000;
const OPERATION = 'projects/my-project/locations/us-central1/publishers/google/models/veo-3.1/operations/op-1';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

async function vertexStage(name: string) {
  const account = {
    type: 'service_account',
    project_id: 'my-project',
    client_email: `${name}@my-project.iam`,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${scene.upstream.url}/token-${name}`,
  };
  scene.upstream.script(`/token-${name}`, { json: { access_token: 'ya29.fetched', expires_in: 3600 } });
  return scene.stage({
    type: 'vertex',
    kind: 'video',
    upstreamModel: 'veo-3.1',
    price: SECOND_PRICE,
    credential: JSON.stringify(account),
    settings: { location: 'us-central1', storageUrl: buckets.url },
  });
}

describe.concurrent('Veo on Vertex AI', () => {
  test.each([
    ['inside the answer', { bytesBase64Encoded: VIDEO.toString('base64'), mimeType: 'video/mp4' }],
    ['in a bucket, which is read with the same token', { gcsUri: 'gs://videos/cat.mp4', mimeType: 'video/mp4' }],
  ])(
    'its video %s',
    async (name, video) => {
      const stage = await vertexStage(name.split(' ').at(-1) ?? '');
      if ('gcsUri' in video) buckets.script('/videos/cat.mp4', videoAnswer);
      const working = { json: { name: OPERATION } };
      const done = { json: { name: OPERATION, done: true, response: { videos: [video] } } };
      stage.script(working, working, done);
      const body = { model_name: stage.model, prompt: 'A cat', duration: '8', image: 'iVBORw0KGgo=', mode: 'x' };
      const created = await stage.post('/kling/v1/videos/image2video', body);
      // Kling's own member is sent to Kling only.
      expect(created.headers.get('x-modelport-warnings')).toContain('`mode` was dropped');
      const { task_id: id } = (await created.json()) as { task_id: string };
      expect((await watch(scene.gateway.url, stage, id, undefined, LONG_MS)).last.status).toBe('completed');
      const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
      expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
      const [started, ...looks] = stage.journal();
      expect(started?.path).toEndWith(`/${OPERATION.replace('/operations/op-1', ':predictLongRunning')}`);
      expect(started?.body).toEqual({
        instances: [{ prompt: 'A cat', image: { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' } }],
        parameters: { durationSeconds: 8 },
      });
      for (const look of looks) {
        expect(look.path).toEndWith('/veo-3.1:fetchPredictOperation');
        expect(look.body).toEqual({ operationName: OPERATION });
        expect(look.headers.authorization).toBe('Bearer ya29.fetched');
      }
      if ('gcsUri' in video) {
        const [fetched] = buckets.journal('/videos/cat.mp4');
        expect(fetched?.headers.authorization).toBe('Bearer ya29.fetched');
      }
      expect(nanoCost(await stage.settledCall())).toBe(800_000_000n);
    },
    90_000,
  );

  test('a filtered video fails without a charge', async () => {
    const stage = await vertexStage('filtered');
    const response = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Filtered for a reason.'] };
    stage.script({ json: { name: OPERATION } }, { json: { name: OPERATION, done: true, response } });
    const created = await stage.post('/v1/videos', { model: stage.model, prompt: 'A cat' });
    const { id } = (await created.json()) as { id: string };
    expect((await watch(scene.gateway.url, stage, id, undefined, LONG_MS)).last).toMatchObject({
      status: 'failed',
      error: { code: 'content_policy', message: 'Filtered for a reason.' },
    });
    expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', cost: '0' });
  }, 90_000);
});
