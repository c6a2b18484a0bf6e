/** `n` for videos: n videos are generated, held for and charged, and all are listed wherever the task is read. */
import { expect, test } from 'bun:test';
import { useScene } from '../helpers/scene-hooks.ts';
import { authorized, providerVideo, SECOND_PRICE, VIDEO, videoAnswer, watch } from '../helpers/videos.ts';

const scene = useScene({ environment: { MODELPORT_VIDEO_POLL_MS: '50' } }, { checksEachTest: false });

test('two videos are ordered one by one, and can be read in every format', async () => {
  const stage = await scene.stage({ type: 'openai', kind: 'video', price: SECOND_PRICE });
  const { url } = scene.gateway;
  for (const id of ['vid_a', 'vid_b']) {
    stage.script(providerVideo('queued', { id }));
    scene.upstream.script(
      `/${stage.model.replace('model-', '')}/t0/v1/videos/${id}`,
      providerVideo('completed', { id }),
    );
    scene.upstream.script(`/${stage.model.replace('model-', '')}/t0/v1/videos/${id}/content`, videoAnswer);
  }
  const response = await stage.post('/v1/videos', {
    model: stage.model,
    prompt: 'A cat',
    seconds: 4,
    n: 2,
    metadata: { sample_count: 9 },
  });
  expect(response.headers.get('x-modelport-warnings')).toContain('metadata.sample_count');
  const { id } = (await response.json()) as { id: string };
  const { last, seen } = await watch(url, stage, id);
  const { urls } = last as unknown as { urls: string[] };
  expect([last.status, urls.length]).toEqual(['completed', 2]);
  expect(seen.every(({ status }, place) => status !== 'completed' || place === seen.length - 1)).toBe(true);
  const get = async (path: string) => (await fetch(`${url}${path}`, { headers: authorized(stage) })).json();
  expect(await get(`/v1/video/generations/${id}`)).toMatchObject({ status: 'completed', url: urls[0], urls });
  expect(await get(`/kling/v1/videos/text2video/${id}`)).toMatchObject({ urls });
  expect(await get('/v1/videos')).toMatchObject({ data: [{ id, urls }] });
  const result = await stage.post('/jimeng/?Action=CVSync2AsyncGetResult&Version=2022-08-31', { task_id: id });
  expect(await result.json()).toMatchObject({ data: { status: 'done', video_url: urls[0], video_urls: urls } });
  for (const index of ['0', '1']) {
    const video = await fetch(`${url}/v1/videos/${id}/content?index=${index}`, { headers: authorized(stage) });
    expect(Buffer.from(await video.arrayBuffer())).toEqual(VIDEO);
  }
  const beyond = await fetch(`${url}/v1/videos/${id}/content?index=2`, { headers: authorized(stage) });
  expect(beyond.status).toBe(400);
  const sent = stage.journal().filter(({ method }) => method === 'POST');
  expect(sent).toHaveLength(2);
  for (const { form = '', body } of sent)
    expect(form + JSON.stringify(body ?? {})).not.toMatch(/sample_count|name="n"|"n":/);
  const calls = await stage.settled();
  expect(calls.map(({ cost }) => Number(cost))).toEqual([0.4, 0.4]);
}, 60_000);
