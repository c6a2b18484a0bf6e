/** Video tasks with a scripted faulty provider: what the client sees, what is sent upstream, what is charged. */
import { describe, expect, test } from 'bun:test';
import { nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import {
  authorized,
  providerVideo,
  SECOND_PRICE,
  VIDEO,
  type VideoView,
  videoAnswer,
  watch,
} from '../helpers/videos.ts';
import { refusingUrl } from '../upstream/scripted-upstream.ts';

const scene = useScene(
  { environment: { MODELPORT_FILES_MAX_BYTES: '2000', MODELPORT_MAX_BODY_BYTES: '200000' } },
  { checksEachTest: false },
);

const videoStage = (more = {}) =>
  scene.stage({ type: 'openai', kind: 'video', upstreamModel: 'sora-2', price: SECOND_PRICE, ...more });
const create = (stage: Stage, more = {}) =>
  stage.post('/v1/videos', { model: stage.model, prompt: 'A cat', seconds: '4', ...more });
const created = async (stage: Stage) => ((await (await create(stage)).json()) as VideoView).id;
/** The first poll is within six seconds, the next within seven more. */
const LONG_MS = 60_000;

describe.concurrent('a task in progress', () => {
  test('continues after an unknown status, its progress never decreases, and the video is stored', async () => {
    const stage = await videoStage();
    stage.script(
      providerVideo('queued'),
      providerVideo('in_progress', { progress: 60 }),
      providerVideo('marinating', { progress: 20 }),
      providerVideo('completed', { progress: 100 }),
      videoAnswer,
    );
    const id = await created(stage);
    const { last, seen } = await watch(scene.gateway.url, stage, id, undefined, LONG_MS);
    expect(last.status).toBe('completed');
    const progress = seen.map((one) => one.progress);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(seen.some((one) => one.status === 'in_progress' && one.progress === 60)).toBe(true);
    const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
    expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
    expect(nanoCost(await stage.settledCall())).toBe(400_000_000n);
    const sent = stage.journal();
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET', 'GET']);
    expect(sent[0]?.body).toEqual({ model: 'sora-2', prompt: 'A cat', seconds: '4' });
    expect(sent[4]?.path).toEndWith('/videos/vid_upstream/content');
    expect(sent.every(({ headers }) => headers.authorization?.startsWith('Bearer sk-upstream-secret'))).toBe(true);
  }, 90_000);

  const unknown = { status: 404, json: { error: { message: 'no such video' } }, repeat: true };
  const large = { ...videoAnswer, bytes: Buffer.alloc(5000) };
  test.each([
    ['its provider does not know it any more', [unknown]],
    ['its result is too large', [providerVideo('completed'), large]],
  ])(
    'fails without a charge if %s',
    async (_, answers) => {
      const stage = await videoStage();
      stage.script(providerVideo('queued'), ...answers);
      const { last } = await watch(scene.gateway.url, stage, await created(stage), undefined, LONG_MS);
      expect(last).toMatchObject({ status: 'failed', error: { code: 'upstream_failed' } });
      expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', cost: '0' });
    },
    90_000,
  );

  test('survives temporary failures of its provider', async () => {
    const stage = await videoStage();
    const broken = { status: 500, json: { error: { message: 'broken' } } };
    stage.script(providerVideo('queued'), broken, broken, providerVideo('completed'), videoAnswer);
    const { last } = await watch(scene.gateway.url, stage, await created(stage), undefined, LONG_MS);
    expect(last.status).toBe('completed');
    expect(nanoCost(await stage.settledCall())).toBe(400_000_000n);
  }, 90_000);

  test('requests a new link after one has expired', async () => {
    const stage = await videoStage();
    const at = (link: string) =>
      providerVideo('completed', { url: `${scene.upstream.url}/links/${stage.model}/${link}` });
    scene.upstream.script(`/links/${stage.model}/old`, { status: 403, text: 'expired' });
    scene.upstream.script(`/links/${stage.model}/new`, videoAnswer);
    stage.script(providerVideo('queued'), at('old'), at('new'));
    const { last } = await watch(scene.gateway.url, stage, await created(stage), undefined, LONG_MS);
    expect(last.status).toBe('completed');
    const [old] = scene.upstream.journal(`/links/${stage.model}/old`);
    // The link is public: the provider's key is not sent there.
    expect(old?.headers.authorization).toBeUndefined();
    expect(nanoCost(await stage.settledCall())).toBe(400_000_000n);
  }, 90_000);

  test("fails with the provider's message", async () => {
    const stage = await videoStage();
    stage.script(
      providerVideo('queued'),
      providerVideo('failed', { error: { code: 'moderation_blocked', message: 'Not this.' } }),
    );
    const { last } = await watch(scene.gateway.url, stage, await created(stage), undefined, LONG_MS);
    expect(last).toMatchObject({ status: 'failed', error: { code: 'moderation_blocked', message: 'Not this.' } });
    expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', cost: '0' });
  }, 90_000);
});

describe('the start of a task', () => {
  test('sends an image of a form as a file; an image that is too large is refused, and nothing is held', async () => {
    const stage = await videoStage();
    stage.script(providerVideo('queued'), providerVideo('failed'));
    const send = (bytes: number) => {
      const form = new FormData();
      form.append('model', stage.model);
      form.append('seconds', '4');
      form.append('input_reference', new Blob([Buffer.alloc(bytes, 'p')], { type: 'image/webp' }), 'a.webp');
      return fetch(`${scene.gateway.url}/v1/videos`, { method: 'POST', headers: authorized(stage), body: form });
    };
    const large = await send(300_000);
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
    expect(stage.journal()).toEqual([]);
    const { id } = (await (await send(100_000)).json()) as VideoView;
    const [sent] = stage.journal();
    expect(sent?.headers['content-type']).toStartWith('multipart/form-data; boundary=');
    expect(sent?.form).toContain('name="input_reference"; filename="image.webp"\r\ncontent-type: image/webp');
    expect(sent?.form).toContain('p'.repeat(100_000));
    await watch(scene.gateway.url, stage, id, undefined, LONG_MS);
    expect(await stage.settledCall()).toMatchObject({ cost: '0' });
  }, 90_000);

  test("passes the provider's refusal on, and nothing is held or charged", async () => {
    const stage = await videoStage({ targets: 2 });
    stage.script({ status: 400, json: { error: { message: 'Bad prompt.', code: 'bad_prompt', param: 'prompt' } } });
    const answer = await create(stage);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: 'Bad prompt.', code: 'bad_prompt' } });
    expect(stage.journal()).toHaveLength(1);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'refused', cost: '0' });
  });

  test('skips a target that fails or cannot be reached', async () => {
    const stage = await videoStage({
      baseUrls: [`${await refusingUrl()}/v1`, `${scene.upstream.url}/busy/v1`, `${scene.upstream.url}/takes/v1`],
    });
    scene.upstream.script('/busy/', { status: 429, json: { error: { message: 'busy' } } });
    scene.upstream.script('/takes/', providerVideo('queued'), providerVideo('failed'));
    const answer = await create(stage);
    expect(answer.status).toBe(200);
    const { id } = (await answer.json()) as VideoView;
    expect(scene.upstream.journal('/takes/')).toHaveLength(1);
    await watch(scene.gateway.url, stage, id, undefined, LONG_MS);
    await stage.settledCall();
  }, 90_000);

  test.each([
    ['no answer', { fault: { before: 'headers', does: 'cut' } } as const],
    ['a reset', { fault: { before: 'headers', does: 'reset' } } as const],
    ['a 504', { status: 504, text: 'gateway timeout' }],
    ['an answer without an id', { json: { object: 'video' } }],
  ])('%s: it is unknown whether the task was started, so it is not started again', async (_, reply) => {
    const stage = await videoStage({ targets: 2 });
    stage.script(reply);
    stage.scriptTarget(1, providerVideo('queued'));
    const answer = await create(stage);
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(stage.journal()).toHaveLength(1);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', cost: '0' });
  });

  test('repeated with its idempotency key after an unknown result returns the abandoned task', async () => {
    const stage = await videoStage();
    stage.script({ status: 504 });
    const again = () =>
      fetch(`${scene.gateway.url}/v1/videos`, {
        method: 'POST',
        headers: { ...authorized(stage), 'content-type': 'application/json', 'idempotency-key': 'one' },
        body: JSON.stringify({ model: stage.model, prompt: 'A cat', seconds: '4' }),
      });
    expect((await again()).status).toBe(504);
    const repeated = await again();
    expect(repeated.status).toBe(200);
    expect(await repeated.json()).toMatchObject({ status: 'failed', error: { code: 'upstream_failed' } });
    expect(stage.journal()).toHaveLength(1);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'failed', cost: '0' });
  });

  test('polls with the credential that started the task, of several', async () => {
    const stage = await videoStage();
    const provider = `p-${stage.model.replace('model-', '')}-0`;
    const baseUrl = `${scene.upstream.url}/${stage.model.replace('model-', '')}/t0/v1`;
    const credentials = ['sk-one', 'sk-two', 'sk-three'];
    await scene.gateway.admin('PUT', `/providers/${provider}`, { type: 'openai', baseUrl, credentials });
    stage.script(providerVideo('queued'), providerVideo('in_progress'), providerVideo('completed'), videoAnswer);
    const { last } = await watch(scene.gateway.url, stage, await created(stage), undefined, LONG_MS);
    expect(last.status).toBe('completed');
    const keys = stage.journal().map(({ headers }) => headers.authorization);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    await stage.settledCall();
  }, 90_000);
});
