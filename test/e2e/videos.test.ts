/** Video tasks in every format with the sandbox's real videos: created in one, read in any other. */
import { describe, expect, test } from 'bun:test';
import { nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { authorized, SECOND_PRICE, sandboxVideoStage, type VideoView, watch } from '../helpers/videos.ts';

const scene = useScene({}, { checksEachTest: false });

const sandboxStage = (more = {}) => sandboxVideoStage(scene, more);
const get = (stage: Stage, path: string, headers = {}) =>
  fetch(`${scene.gateway.url}${path}`, { headers: { ...authorized(stage), ...headers } });
const SOON = 'A cat [[delay 200]]';
const IMAGE = 'iVBORw0KGgo=';
const members = { prompt: SOON, seconds: '2', size: '128x96' };

// biome-ignore lint/suspicious/noExplicitAny: each format has a body of its own.
type Body = any;

/** The path of each format, and where its response contains the id. */
const FORMATS: { name: string; path: string; body(model: string): object; id(body: Body): string }[] = [
  { name: '/v1/videos', path: '/v1/videos', body: (model) => ({ ...members, model }), id: ({ id }) => id },
  {
    name: '/v1/video/generations',
    path: '/v1/video/generations',
    body: (model) => ({ model, prompt: SOON, duration: 2, width: 128, height: 96 }),
    id: ({ task_id }) => task_id,
  },
  ...['/vendor-a', '/kling'].map((prefix) => ({
    name: prefix,
    path: `${prefix}/v1/videos/text2video`,
    body: (model: string) => ({ model_name: model, prompt: SOON, duration: '2', mode: 'std' }),
    id: ({ task_id }: Body) => task_id,
  })),
  {
    name: '/vendor-a image2video',
    path: '/vendor-a/v1/videos/image2video',
    body: (model) => ({ model_name: model, prompt: SOON, duration: '2', image: IMAGE }),
    id: ({ task_id }) => task_id,
  },
  ...['/vendor-b/', '/vendor-b', '/jimeng/'].map((prefix) => ({
    name: prefix,
    path: `${prefix}?Action=CVSync2AsyncSubmitTask&Version=2022-08-31`,
    body: (model: string) => ({ req_key: model, prompt: SOON, frames: 49 }),
    id: ({ data }: Body) => data.task_id,
  })),
];

describe('every format', () => {
  test.each(FORMATS)(
    'created as $name, read in any format',
    async ({ path, body, id: idIn }) => {
      const stage = await sandboxStage();
      const created = await stage.post(path, body(stage.model));
      expect(created.status).toBe(200);
      const id = idIn(await created.json());
      expect(id).toMatch(/^video_[0-9A-Za-z]{32}$/);
      const { last } = await watch(scene.gateway.url, stage, id);
      expect(last).toMatchObject({ id, object: 'video', status: 'completed', progress: 100, seconds: '2' });
      const call = await stage.settledCall();
      expect(call).toMatchObject({ outcome: 'ok', id });
      expect(nanoCost(call)).toBe(200_000_000n);

      const addresses: string[] = [];
      for (const where of ['/v1/video/generations', '/vendor-a/v1/videos/text2video', '/kling/v1/videos/image2video']) {
        const seen = (await (await get(stage, `${where}/${id}`)).json()) as Body;
        expect(seen).toMatchObject({ task_id: id, status: 'completed', format: 'mp4', metadata: { duration: 2 } });
        addresses.push(seen.url);
      }
      const response = await stage.post('/vendor-b/?Action=CVSync2AsyncGetResult&Version=2022-08-31', {
        req_key: stage.model,
        task_id: id,
      });
      const result = (await response.json()) as Body;
      expect(result).toMatchObject({ code: 10_000, data: { task_id: id, status: 'done' } });
      addresses.push(result.data.video_url);
      expect(new Set(addresses).size).toBe(1);
      const video = new Uint8Array(await (await fetch(addresses[0] ?? '')).arrayBuffer());
      expect(Buffer.from(video.subarray(4, 8)).toString()).toBe('ftyp');
      const content = await get(stage, `/v1/videos/${id}/content`);
      expect(content.headers.get('content-type')).toBe('video/mp4');
      expect(Buffer.from(await content.arrayBuffer()).equals(video)).toBe(true);
    },
    60_000,
  );

  test('a form has images as files and numbers as text, and unknown fields join metadata', async () => {
    const stage = await sandboxStage();
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...members, model: stage.model, mood: 'calm', seconds: '3' }))
      form.append(name, value);
    form.append('input_reference', new Blob([Buffer.from(IMAGE, 'base64')], { type: 'image/png' }), 'a.png');
    const answer = await fetch(`${scene.gateway.url}/v1/videos`, {
      method: 'POST',
      headers: authorized(stage),
      body: form,
    });
    expect(answer.status).toBe(200);
    const video = (await answer.json()) as VideoView;
    expect(video).toMatchObject({ object: 'video', seconds: '3', size: '128x96', metadata: { mood: 'calm' } });
    expect((await watch(scene.gateway.url, stage, video.id)).last.status).toBe('completed');
    expect(nanoCost(await stage.settledCall())).toBe(300_000_000n);
  }, 60_000);

  test("without a length the provider's default is generated and charged", async () => {
    const stage = await sandboxStage();
    const video = (await (await stage.post('/v1/videos', { model: stage.model, prompt: SOON })).json()) as VideoView;
    expect(video.seconds).toBe('4');
    const running = await (await get(stage, `/v1/calls/${video.id}`)).json();
    expect(running).toMatchObject({ id: video.id, outcome: 'running', hold: '0.4', cost: '0' });
    await watch(scene.gateway.url, stage, video.id);
    expect(nanoCost(await stage.settledCall())).toBe(400_000_000n);
  }, 60_000);
});

describe('refused orders: nothing held, and only refusals recorded', () => {
  const wrong: [string, object, string][] = [
    ['a size that is none', { size: 'large' }, 'size'],
    ['a length that is none', { seconds: 'long' }, 'seconds'],
    ['a length below any', { seconds: null, duration: -1 }, 'duration'],
    ['an image that is none', { image: '!!' }, 'image'],
    ['a prompt that is no text', { prompt: 5 }, 'prompt'],
    ['two lengths', { duration: 3 }, 'duration'],
    ['a width alone', { size: null, width: 128 }, 'height'],
    ['a file of another kind of interface', { input_reference: { file_id: 'file-1' } }, 'input_reference'],
    ['two images to begin with', { image: IMAGE, input_reference: 'https://images.example/a.png' }, 'image'],
    ['an answer as base64', { response_format: 'b64_json' }, 'response_format'],
    ['metadata that is no object', { metadata: 'x' }, 'metadata'],
    ['a webhook at a private address', { webhook_url: 'http://10.0.0.1/hook' }, ''],
    ['no model and no default', { model: '' }, 'model'],
    ['an unknown model', { model: 'nobody' }, 'model'],
  ];
  test.each(wrong)('%s', async (_, more, param) => {
    const stage = await sandboxStage();
    const answer = await stage.post('/v1/videos', { ...members, model: stage.model, ...more });
    const { error } = (await answer.json()) as Body;
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(error.message).toBeString();
    if (param) expect(error.param).toBe(param);
    expect(await stage.settled()).toEqual([]);
    const id = answer.headers.get('x-request-id');
    const receipt = await (await get(stage, `/v1/calls/${id}`)).json();
    expect(receipt).toMatchObject({
      id,
      outcome: 'refused',
      status: answer.status,
      error: { code: error.code },
      cost: '0',
    });
  });

  test('an unknown key, and a body that is neither JSON nor a form', async () => {
    const stage = await sandboxStage();
    const receiptOf = async (key: string, body: string) => {
      const answer = await fetch(`${scene.gateway.url}/v1/videos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
      return scene.gateway.admin('GET', `/calls/${answer.headers.get('x-request-id')}`);
    };
    const unknown = await receiptOf('sk-that-nobody-has-made-000000000000', JSON.stringify(members));
    expect(unknown).toMatchObject({ outcome: 'refused', status: 401, error: { code: 'invalid_api_key' } });
    const unread = await receiptOf(stage.caller.key, '{"prompt": ');
    expect(unread).toMatchObject({ outcome: 'refused', status: 400, key: expect.stringMatching(/^key_/) });
  });

  test('a body that is neither JSON nor a form', async () => {
    const stage = await sandboxStage();
    const answer = await fetch(`${scene.gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { ...authorized(stage), 'content-type': 'application/json' },
      body: '{"prompt": ',
    });
    expect(answer.status).toBe(400);
  });

  test('vendor-b without Action, without Version, or with an unknown Action', async () => {
    const stage = await sandboxStage();
    for (const [query, param] of [
      ['Version=2022-08-31', 'Action'],
      ['Action=CVSync2AsyncSubmitTask', 'Version'],
      ['Action=Dance&Version=1', 'Action'],
    ]) {
      const answer = await stage.post(`/vendor-b/?${query}`, { req_key: stage.model, prompt: SOON });
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as Body).error.param).toBe(param);
    }
  });

  test('an order above the balance', async () => {
    const stage = await sandboxStage({ amount: '0.15' });
    const answer = await stage.post('/v1/videos', { ...members, model: stage.model });
    expect(answer.status).toBe(402);
    expect(await stage.settled()).toEqual([]);
  });
});

describe('tasks belong to their account', () => {
  test("another account's id is not found in any format", async () => {
    const stage = await sandboxStage();
    const stranger = await sandboxStage();
    const video = (await (await stage.post('/v1/videos', { ...members, model: stage.model })).json()) as VideoView;
    const { id } = video;
    const paths = [`/v1/videos/${id}`, `/v1/videos/${id}/content`, `/v1/video/generations/${id}`];
    for (const path of [...paths, `/vendor-a/v1/videos/text2video/${id}`])
      expect((await get(stranger, path)).status).toBe(404);
    const removed = await fetch(`${scene.gateway.url}/v1/videos/${id}`, {
      method: 'DELETE',
      headers: authorized(stranger),
    });
    expect(removed.status).toBe(404);
    const seen = await stranger.post('/vendor-b/?Action=CVSync2AsyncGetResult&Version=2022-08-31', { task_id: id });
    expect(await seen.json()).toMatchObject({ code: 10_000, data: { status: 'not_found' } });
    expect((await stranger.post(`/v1/videos/${id}/remix`, { prompt: 'x' })).status).toBe(404);
    await watch(scene.gateway.url, stage, id);
    await stage.settledCall();
  }, 60_000);

  test('the same idempotency key returns the same task; with another request it is a conflict', async () => {
    const stage = await sandboxStage();
    const create = (body: object) =>
      fetch(`${scene.gateway.url}/v1/videos`, {
        method: 'POST',
        headers: { ...authorized(stage), 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify({ ...members, model: stage.model, ...body }),
      });
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({})));
    const ids = await Promise.all(answers.map(async (one) => ((await one.json()) as VideoView).id));
    expect(new Set(ids).size).toBe(1);
    expect((await create({ prompt: 'another' })).status).toBe(409);
    await watch(scene.gateway.url, stage, ids[0] ?? '');
    const paid = (await stage.settled()).filter(({ cost }) => cost !== '0');
    expect(paid).toHaveLength(1);
  }, 60_000);

  test('tasks are listed newest first, page by page; a removed task is gone with its file', async () => {
    const stage = await sandboxStage();
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) {
      const answer = await stage.post('/v1/videos', { ...members, model: stage.model });
      ids.unshift(((await answer.json()) as VideoView).id);
      await Bun.sleep(3);
    }
    const page = async (query: string) => (await (await get(stage, `/v1/videos${query}`)).json()) as Body;
    const first = await page('?limit=2');
    expect(first).toMatchObject({ object: 'list', has_more: true, first_id: ids[0], last_id: ids[1] });
    const second = await page(`?limit=2&after=${first.last_id}`);
    expect([...first.data, ...second.data].map(({ id }: VideoView) => id)).toEqual(ids);
    expect(second.has_more).toBe(false);
    expect((await page('?order=asc')).data.map(({ id }: VideoView) => id)).toEqual([...ids].reverse());
    expect((await get(stage, '/v1/videos?limit=0')).status).toBe(400);

    for (const id of ids) await watch(scene.gateway.url, stage, id);
    await stage.settled();
    const [id = ''] = ids;
    const { url } = (await (await get(stage, `/v1/video/generations/${id}`)).json()) as Body;
    const removed = await fetch(`${scene.gateway.url}/v1/videos/${id}`, {
      method: 'DELETE',
      headers: authorized(stage),
    });
    expect(await removed.json()).toEqual({ id, object: 'video.deleted', deleted: true });
    expect((await get(stage, `/v1/videos/${id}`)).status).toBe(404);
    expect((await fetch(url)).status).toBe(404);
    expect((await page('')).data).toHaveLength(2);
  }, 60_000);
});

describe('remixes', () => {
  const remix = (stage: Stage, id: string, body: object) => stage.post(`/v1/videos/${id}/remix`, body);
  const errorOf = async (answer: Response) => ({ status: answer.status, ...((await answer.json()) as Body).error });

  test('use only a new prompt, after the first video is finished', async () => {
    const stage = await sandboxStage();
    const request = { ...members, prompt: 'A cat [[delay 1000]]', model: stage.model, metadata: { mood: 'calm' } };
    const { id } = (await (await stage.post('/v1/videos', request)).json()) as VideoView;
    const early = await errorOf(await remix(stage, id, { prompt: SOON }));
    expect(early).toMatchObject({ status: 409, code: 'conflict', param: 'id' });
    await watch(scene.gateway.url, stage, id);
    for (const [body, param] of [
      [{}, 'prompt'],
      [{ prompt: SOON, seconds: '8' }, 'seconds'],
      [{ prompt: SOON, model: 'another' }, 'model'],
    ] as const) {
      expect(await errorOf(await remix(stage, id, body))).toMatchObject({ status: 400, param });
    }
    const anew = (await (await remix(stage, id, { prompt: SOON, model: stage.model })).json()) as VideoView;
    expect(anew).toMatchObject({
      object: 'video',
      remixed_from_video_id: id,
      prompt: SOON,
      seconds: '2',
      size: '128x96',
      metadata: { mood: 'calm' },
    });
    expect((await watch(scene.gateway.url, stage, anew.id)).last.status).toBe('completed');
    expect((await stage.settled()).map(nanoCost)).toEqual([200_000_000n, 200_000_000n]);
  }, 60_000);

  test('are refused without a charge if the provider does not support them', async () => {
    const stage = await scene.stage({ type: 'kling', kind: 'video', price: SECOND_PRICE });
    const task = (more: object) => ({ json: { code: 0, data: { task_id: '1', task_status: 'submitted', ...more } } });
    scene.upstream.script(`/kling-video/${stage.model}`, { bytes: Buffer.from('video') });
    const videos = [{ url: `${scene.upstream.url}/kling-video/${stage.model}` }];
    stage.script(task({}), task({ task_status: 'succeed', task_result: { videos } }));
    const { id } = (await (await stage.post('/v1/videos', { ...members, model: stage.model })).json()) as VideoView;
    await watch(scene.gateway.url, stage, id);
    const refused = await errorOf(await remix(stage, id, { prompt: SOON }));
    expect(refused).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'id' });
    expect(refused.message).toContain('cannot remix');
    expect(await stage.settled()).toHaveLength(1);
  }, 60_000);
});

test('parts of a video: the beginning, the middle, the end, beyond the end', async () => {
  const stage = await sandboxStage();
  const { id } = (await (await stage.post('/v1/videos', { ...members, model: stage.model })).json()) as VideoView;
  expect((await get(stage, `/v1/videos/${id}/content`)).status).toBe(404);
  await watch(scene.gateway.url, stage, id);
  await stage.settled();
  const path = `/v1/videos/${id}/content`;
  const whole = Buffer.from(await (await get(stage, path)).arrayBuffer());
  const { length } = whole;
  const parts: [string, number, number][] = [
    ['bytes=0-9', 0, 10],
    ['bytes=10-19', 10, 20],
    ['bytes=-7', length - 7, length],
    [`bytes=${length - 1}-`, length - 1, length],
    [`bytes=5-${length + 100}`, 5, length],
  ];
  for (const [range, start, end] of parts) {
    const part = await get(stage, path, { range });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${length}`);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(start, end))).toBe(true);
  }
  const beyond = await get(stage, path, { range: `bytes=${length}-` });
  expect(beyond.status).toBe(416);
  expect(beyond.headers.get('content-range')).toBe(`bytes */${length}`);
  const changed = await get(stage, path, { range: 'bytes=0-9', 'if-range': '"another"' });
  expect(changed.status).toBe(200);
  expect((await get(stage, `${path}?variant=thumbnail`)).status).toBe(400);
}, 60_000);

describe('what a provider cannot express', () => {
  const ask = (stage: Stage, more: object, headers: { [name: string]: string } = {}) =>
    fetch(`${scene.gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { ...authorized(stage), 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...members, model: stage.model, ...more }),
    });

  test('is named in the response to the order', async () => {
    const stage = await sandboxStage();
    const lossy = await ask(stage, { fps: 30 });
    expect(lossy.status).toBe(200);
    expect(lossy.headers.get('x-modelport-warnings')).toContain('`fps` was dropped');
    const whole = await ask(stage, {});
    expect(whole.headers.get('x-modelport-warnings')).toBeNull();
    for (const response of [lossy, whole]) {
      await watch(scene.gateway.url, stage, ((await response.json()) as VideoView).id);
    }
    expect(await stage.settled()).toHaveLength(2);
  }, 60_000);

  test("includes another provider's own members", async () => {
    const stage = await sandboxStage();
    const body = {
      model_name: stage.model,
      prompt: SOON,
      duration: '2',
      mode: 'pro',
      camera_control: { type: 'simple' },
    };
    const lossy = await stage.post('/kling/v1/videos/text2video', body);
    expect(lossy.status).toBe(200);
    expect(lossy.headers.get('x-modelport-warnings')).toMatch(/`mode` was dropped.*`camera_control` was dropped/);
    const { task_id: id } = (await lossy.json()) as Body;
    const { last } = await watch(scene.gateway.url, stage, id);
    expect(last).toMatchObject({ status: 'completed', metadata: { mode: 'pro' } });
    expect(await stage.settled()).toHaveLength(1);
  }, 60_000);

  test('is refused in strict mode without a charge', async () => {
    const stage = await sandboxStage();
    const response = await ask(stage, { fps: 30 }, { 'x-modelport-strict': 'true' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'lossy_translation' } });
    expect((await stage.settledCall()).cost).toBe('0');
  });
});
