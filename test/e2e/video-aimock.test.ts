/** Video tasks over aimock, which plays Sora, Veo and Seedance. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Aimock, startAimock } from '../clients/aimock.ts';
import { nanoCost, type Scene, startScene } from '../scene.ts';
import { authorized, FILM, filmAnswer, SECOND_PRICE, type VideoView, watch } from '../videos.ts';

let scene: Scene;
let aimock: Aimock;
beforeAll(async () => {
  scene = await startScene();
  scene.upstream.script('/film', { ...filmAnswer, repeat: true });
  const url = `${scene.upstream.url}/film`;
  const seedance = { status: 'succeeded', content: { video_url: url }, usage: { completion_tokens: 108_900 } };
  aimock = await startAimock(
    [
      { match: { userMessage: 'veo' }, response: { video: { id: 'v', status: 'completed', url } } },
      { match: { userMessage: 'sora' }, response: { video: { id: 's', status: 'completed', url } } },
      {
        match: { userMessage: 'seedance', endpoint: 'video' },
        response: { json: { id: 'cgt-1', model: 'upstream-model', ...seedance } },
      },
    ],
    0,
  );
}, 300_000);
afterAll(async () => {
  await aimock.stop();
  await scene.close();
}, 30_000);

test.each([
  { name: 'sora', type: 'openai', path: '/v1', price: SECOND_PRICE, cost: 400_000_000n },
  { name: 'veo', type: 'google', path: '/v1beta', price: SECOND_PRICE, cost: 400_000_000n },
  // Billed by what the vendor says of its tokens.
  { name: 'seedance', type: 'volcengine', path: '/api/v3', price: { output: 4 }, cost: 435_600_000n },
])(
  '$name',
  async ({ name, type, path, price, cost }) => {
    const baseUrls = [`${aimock.url}${path}`];
    const stage = await scene.stage({ type, kind: 'video', price, baseUrls });
    const answer = await stage.post('/v1/videos', { model: stage.model, prompt: `A ${name} cat`, seconds: 4 });
    expect(answer.status).toBe(200);
    const { id } = (await answer.json()) as VideoView;
    const { last } = await watch(scene.gateway.url, stage, id, undefined, 60_000);
    expect(last.status).toBe('completed');
    const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
    expect(Buffer.from(await content.arrayBuffer()).equals(FILM)).toBe(true);
    expect(nanoCost(await stage.settledCall())).toBe(cost);
  },
  90_000,
);
