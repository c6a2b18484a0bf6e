/**
 * Video tasks with aimock, which imitates Sora, Veo, Seedance, Grok Imagine and OpenRouter's videos: created in other formats, generated,
 * stored, charged.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Aimock, startAimock } from '../clients/aimock.ts';
import { nanoCost, type Scene, startScene } from '../helpers/scene.ts';
import { authorized, SECOND_PRICE, VIDEO, videoAnswer, watch } from '../helpers/videos.ts';

let scene: Scene;
let aimock: Aimock;
beforeAll(async () => {
  scene = await startScene();
  scene.upstream.script('/video', { ...videoAnswer, repeat: true });
  const url = `${scene.upstream.url}/video`;
  const seedance = { status: 'succeeded', content: { video_url: url }, usage: { completion_tokens: 108_900 } };
  aimock = await startAimock(
    [
      { match: { userMessage: 'veo' }, response: { video: { id: 'v', status: 'completed', url } } },
      { match: { userMessage: 'grok' }, response: { video: { id: 'g', status: 'completed', url, duration: 6 } } },
      {
        match: { userMessage: 'openrouter' },
        response: { video: { id: 'o', status: 'completed', b64: VIDEO.toString('base64') } },
      },
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
}, 60_000);

// biome-ignore lint/suspicious/noExplicitAny: each format has a body of its own.
type Body = any;

/** Each provider is used through formats other than its own. */
const FORMATS = {
  openai: {
    path: '/v1/videos',
    body: (model: string, prompt: string) => ({ model, prompt, seconds: '4' }),
    id: ({ id }: Body): string => id,
  },
  plain: {
    path: '/v1/video/generations',
    body: (model: string, prompt: string) => ({ model, prompt, duration: 4 }),
    id: ({ task_id }: Body): string => task_id,
  },
  kling: {
    path: '/kling/v1/videos/text2video',
    body: (model: string, prompt: string) => ({ model_name: model, prompt, duration: '4' }),
    id: ({ task_id }: Body): string => task_id,
  },
  jimeng: {
    path: '/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
    body: (model: string, prompt: string) => ({ req_key: model, prompt, frames: 97 }),
    id: ({ data }: Body): string => data.task_id,
  },
};
const SECONDS = { price: SECOND_PRICE, cost: 400_000_000n };

const PROVIDERS: {
  name: string;
  type: string;
  path: string;
  formats: (keyof typeof FORMATS)[];
  price: { [component: string]: number };
  cost: bigint;
}[] = [
  { name: 'sora', type: 'openai', path: '/v1', formats: ['openai', 'kling'], ...SECONDS },
  { name: 'veo', type: 'google', path: '/v1beta', formats: ['openai', 'jimeng'], ...SECONDS },
  // Billed by the tokens that the provider reports.
  {
    name: 'seedance',
    type: 'volcengine',
    path: '/api/v3',
    formats: ['plain', 'jimeng'],
    price: { output: 4 },
    cost: 435_600_000n,
  },
  // Billed by the length that the provider reports.
  { name: 'grok', type: 'xai', path: '/v1', formats: ['openai', 'kling'], price: SECOND_PRICE, cost: 600_000_000n },
  { name: 'openrouter', type: 'openrouter', path: '/api/v1', formats: ['plain', 'jimeng'], ...SECONDS },
];

describe.concurrent('all that aimock plays', () => {
  test.each(PROVIDERS)(
    '$name',
    async ({ name, type, path, formats, price, cost }) => {
      await Promise.all(
        formats.map(async (format) => {
          const { path: at, body, id: idIn } = FORMATS[format];
          const stage = await scene.stage({ type, kind: 'video', price, baseUrls: [`${aimock.url}${path}`] });
          const answer = await stage.post(at, body(stage.model, `A ${name} cat`));
          expect(answer.status).toBe(200);
          const id = idIn(await answer.json());
          const { last } = await watch(scene.gateway.url, stage, id, undefined, 90_000);
          expect(last.status).toBe('completed');
          const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
          expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
          expect(nanoCost(await stage.settledCall())).toBe(cost);
        }),
      );
    },
    120_000,
  );
});
