/** Jimeng's tasks with a provider that verifies signatures: created in every format, generated, stored, charged. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { nanoCost, type Scene, startScene } from '../helpers/scene.ts';
import { VOLCENGINE, verifySignature } from '../helpers/signature-v4.ts';
import { authorized, SECOND_PRICE, VIDEO, watch } from '../helpers/videos.ts';

const SECRET = 'WmpSMU5qQTVORGN3T0RBMk5HSXo=';
const LONG_MS = 60_000;

interface ReceivedCall {
  action: string | null;
  body: { [member: string]: unknown };
}

/** A service that knows one secret and finishes every task within three polls. */
function startJimeng() {
  const received: ReceivedCall[] = [];
  const looks = new Map<string, number>();
  const success = (data: object) => Response.json({ code: 10_000, message: 'Success', request_id: 'r', data });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search, searchParams, origin } = new URL(request.url);
      if (pathname === '/video.mp4') return new Response(VIDEO, { headers: { 'content-type': 'video/mp4' } });
      const text = await request.text();
      const headers = Object.fromEntries(request.headers);
      const { ok, scope } = verifySignature(
        { method: request.method, path: `${pathname}${search}`, headers, body: text },
        SECRET,
        VOLCENGINE,
      );
      if (!ok || !scope.endsWith('/cn-north-1/cv/request')) {
        const refusal = { Code: 'SignatureDoesNotMatch', Message: 'The request signature does not match.' };
        return Response.json({ ResponseMetadata: { Error: refusal } }, { status: 401 });
      }
      const body = JSON.parse(text) as ReceivedCall['body'];
      received.push({ action: searchParams.get('Action'), body });
      if (searchParams.get('Action') === 'CVSync2AsyncSubmitTask') {
        return success({ task_id: String(body.prompt).includes('forbidden') ? 'forbidden' : crypto.randomUUID() });
      }
      const id = String(body.task_id);
      if (id === 'forbidden')
        return Response.json({ code: 50_516, message: 'Post Video Risk Not Pass', data: null }, { status: 400 });
      const look = (looks.get(id) ?? 0) + 1;
      looks.set(id, look);
      return look === 1
        ? success({ status: 'generating' })
        : success({ status: 'done', video_url: `${origin}/video.mp4` });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, received, stop: () => server.stop(true) };
}

let scene: Scene;
let provider: ReturnType<typeof startJimeng>;
beforeAll(async () => {
  provider = startJimeng();
  scene = await startScene();
}, 60_000);
afterAll(async () => {
  await scene.close();
  await provider.stop();
}, 60_000);

const jimengStage = (credential = `AKLTexample:${SECRET}`) =>
  scene.stage({
    type: 'jimeng',
    kind: 'video',
    upstreamModel: 'jimeng_ti2v_v30_pro',
    price: SECOND_PRICE,
    credential,
    baseUrls: [provider.url],
  });

// biome-ignore lint/suspicious/noExplicitAny: each format has a body of its own.
type Body = any;

const FORMATS: { path: string; body(model: string, prompt: string): object; id(body: Body): string; frames: number }[] =
  [
    {
      path: '/v1/videos',
      body: (model, prompt) => ({ model, prompt, seconds: '10', size: '1920x1080' }),
      id: ({ id }) => id,
      frames: 241,
    },
    {
      path: '/v1/video/generations',
      body: (model, prompt) => ({ model, prompt, duration: 5, image: 'iVBORw0KGgo=' }),
      id: ({ task_id }) => task_id,
      frames: 121,
    },
    {
      path: '/kling/v1/videos/text2video',
      body: (model, prompt) => ({ model_name: model, prompt, duration: '5' }),
      id: ({ task_id }) => task_id,
      frames: 121,
    },
    {
      path: '/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
      body: (model, prompt) => ({ req_key: model, prompt, frames: 241, aspect_ratio: '16:9' }),
      id: ({ data }) => data.task_id,
      frames: 241,
    },
  ];

describe.concurrent('signed and verified', () => {
  test.each(FORMATS)(
    'created at $path',
    async ({ path, body, id: idIn, frames }) => {
      const stage = await jimengStage();
      const prompt = `A cat at ${path}`;
      const created = await stage.post(path, body(stage.model, prompt));
      expect(created.status).toBe(200);
      const id = idIn(await created.json());
      expect((await watch(scene.gateway.url, stage, id, undefined, LONG_MS)).last.status).toBe('completed');
      const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
      expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
      const started = provider.received.find((one) => one.body.prompt === prompt);
      expect(started?.body).toMatchObject({ req_key: 'jimeng_ti2v_v30_pro', frames });
      expect(nanoCost(await stage.settledCall())).toBe(BigInt((frames - 1) / 24) * 100_000_000n);
    },
    90_000,
  );

  test("a task that fails the provider's checks has its error and is not charged", async () => {
    const stage = await jimengStage();
    const submit = '/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31';
    const created = await stage.post(submit, { req_key: stage.model, prompt: 'Something forbidden' });
    const { task_id: id } = ((await created.json()) as Body).data;
    const { last } = await watch(scene.gateway.url, stage, id, undefined, LONG_MS);
    expect(last).toMatchObject({
      status: 'failed',
      error: { code: 'content_policy', message: 'Post Video Risk Not Pass' },
    });
    expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', cost: '0' });
  }, 90_000);

  test("a secret other than the provider's is reported to the operator, without the provider's words", async () => {
    const stage = await jimengStage('AKLTexample:another-secret');
    const refused = await stage.post('/v1/videos', { model: stage.model, prompt: 'A cat' });
    expect(refused.status).toBe(502);
    expect(await refused.text()).not.toContain('SignatureDoesNotMatch');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'refused', cost: '0' });
  });
});
