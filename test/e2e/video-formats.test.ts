/** Scripted video providers with formats of their own: each used through another format, its video stored and charged by its report. */
import { describe, expect, test } from 'bun:test';
import { nanoCost } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { authorized, SECOND_PRICE, VIDEO, videoAnswer, watch } from '../helpers/videos.ts';
import type { Answer } from '../upstream/answer.ts';

const scene = useScene({}, { checksEachTest: false });

const LONG_MS = 60_000;
const json = (body: object): Answer => ({ json: body });
const minimax = (body: object) => json({ ...body, base_resp: { status_code: 0, status_msg: 'success' } });

/** The answers of each provider from start to end, and the seconds charged for an order of five. */
const PROVIDERS: {
  type: string;
  model: string;
  responses(video: string): Answer[];
  seconds: number;
  requests: RegExp[];
}[] = [
  {
    type: 'kling',
    model: 'kling-v3',
    responses: (url) => [
      json({ code: 0, data: { task_id: '42', task_status: 'submitted' } }),
      json({ code: 0, data: { task_status: 'succeed', task_result: { videos: [{ id: 'v', url, duration: '5.1' }] } } }),
    ],
    seconds: 5,
    requests: [/^POST .*\/v1\/videos\/text2video$/, /^GET .*\/v1\/videos\/text2video\/42$/],
  },
  {
    type: 'dashscope',
    model: 'wan2.7-t2v',
    responses: (video_url) => [
      json({ output: { task_id: 't-1', task_status: 'PENDING' } }),
      json({
        output: { task_status: 'SUCCEEDED', video_url },
        usage: { duration: 6, output_video_duration: 6, SR: 720 },
      }),
    ],
    seconds: 6,
    requests: [/^POST .*\/services\/aigc\/video-generation\/video-synthesis$/, /^GET .*\/tasks\/t-1$/],
  },
  {
    type: 'minimax',
    model: 'MiniMax-Hailuo-02',
    responses: (download_url) => [
      minimax({ task_id: '7' }),
      minimax({ task_id: '7', status: 'Success', file_id: '9' }),
      minimax({ file: { file_id: 9, download_url } }),
    ],
    seconds: 5,
    requests: [
      /^POST .*\/video_generation$/,
      /^GET .*\/query\/video_generation\?task_id=7$/,
      /^GET .*\/files\/retrieve\?file_id=9$/,
    ],
  },
  {
    type: 'runway',
    model: 'gen4.5',
    responses: (url) => [json({ id: 'r-1' }), json({ id: 'r-1', status: 'SUCCEEDED', output: [url] })],
    seconds: 5,
    requests: [/^POST .*\/v1\/text_to_video$/, /^GET .*\/v1\/tasks\/r-1$/],
  },
  {
    type: 'vidu',
    model: 'viduq2',
    responses: (url) => [
      json({ task_id: 'v-1', state: 'created' }),
      json({ state: 'success', credits: 4, creations: [{ id: 'c', url }] }),
    ],
    seconds: 5,
    requests: [/^POST .*\/text2video$/, /^GET .*\/tasks\/v-1\/creations$/],
  },
  {
    type: 'minimax',
    model: 'MiniMax-H3',
    responses: (url) => [
      json({ task_id: '8' }),
      json({ task: { id: '8', status: 'succeeded', content: { url }, usage: { total_seconds: 5 } } }),
    ],
    seconds: 5,
    requests: [/^POST .*\/v2\/video_generation$/, /^GET .*\/v2\/query\/video_generation\/8$/],
  },
];

describe.concurrent('from start to end', () => {
  test.each(PROVIDERS)(
    '$model',
    async ({ type, model, responses, seconds, requests }) => {
      const stage = await scene.stage({ type, kind: 'video', upstreamModel: model, price: SECOND_PRICE });
      scene.upstream.script(`/video/${stage.model}`, videoAnswer);
      stage.script(...responses(`${scene.upstream.url}/video/${stage.model}`));
      const submit = '/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31';
      const created = await stage.post(submit, { req_key: stage.model, prompt: 'A cat', frames: 121 });
      const { task_id: id } = ((await created.json()) as { data: { task_id: string } }).data;
      expect((await watch(scene.gateway.url, stage, id, undefined, LONG_MS)).last.status).toBe('completed');
      const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
      expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
      const sent = stage.journal().map(({ method, path }) => `${method} ${path}`);
      expect(sent).toEqual(requests.map((one) => expect.stringMatching(one)));
      // Its video has a public URL: no key is sent there.
      const [fetched] = scene.upstream.journal(`/video/${stage.model}`);
      expect(fetched?.headers.authorization).toBeUndefined();
      expect(nanoCost(await stage.settledCall())).toBe(BigInt(seconds) * 100_000_000n);
    },
    90_000,
  );

  test('a provider that only cancels waiting tasks: deleting a running one is a conflict, and it is generated and charged', async () => {
    const stage = await scene.stage({
      type: 'dashscope',
      kind: 'video',
      upstreamModel: 'wan2.7-t2v',
      price: SECOND_PRICE,
    });
    scene.upstream.script(`/video/${stage.model}`, videoAnswer);
    const video = `${scene.upstream.url}/video/${stage.model}`;
    stage.script(
      json({ output: { task_id: 't-1', task_status: 'RUNNING' } }),
      { status: 400, json: { code: 'UnsupportedOperation', message: 'Failed to cancel the task.' } },
      json({ output: { task_status: 'SUCCEEDED', video_url: video }, usage: { duration: 5 } }),
    );
    const created = await stage.post('/v1/videos', { model: stage.model, prompt: 'A cat', seconds: 5 });
    const { id } = (await created.json()) as { id: string };
    const url = `${scene.gateway.url}/v1/videos/${id}`;
    const removed = await fetch(url, { method: 'DELETE', headers: authorized(stage) });
    expect(removed.status).toBe(409);
    expect(await removed.json()).toMatchObject({ error: { code: 'conflict', message: expect.any(String) } });
    expect((await watch(scene.gateway.url, stage, id, undefined, LONG_MS)).last.status).toBe('completed');
    expect(stage.journal()[1]?.path).toEndWith('/tasks/t-1/cancel');
    expect(nanoCost(await stage.settledCall())).toBe(500_000_000n);
  }, 90_000);
});
