import { describe, expect, test } from 'bun:test';
import { jwtVerify } from 'jose';
import { DATA_URL, image, last, plain, targetOf, VIDEO_FORMATS, wide } from '../../../test/helpers/video-formats.ts';
import type { TaskImage, VideoCall } from '../../canonical/task.ts';
import { dashscope } from '../chat/dashscope.ts';
import { google } from '../chat/google.ts';
import { xai } from '../chat/xai.ts';
import type { Outgoing } from '../outgoing.ts';
import type { Provider } from '../provider.ts';
import { ratioOf, resolutionOf } from './images-and-sizes.ts';
import { kling } from './kling.ts';
import { minimax } from './minimax.ts';
import { withOwnMembers } from './own-members.ts';
import { runway } from './runway.ts';
import type { ProviderAnswer, VideoAdapter } from './video.ts';
import { vidu } from './vidu.ts';

const NOW = Date.UTC(2026, 4, 5, 12);
const answer = (json: unknown, status = 200): ProviderAnswer => ({
  status,
  headers: new Headers(),
  body: new TextEncoder().encode(JSON.stringify(json)),
});
function videoOf(provider: Provider): VideoAdapter {
  if (!provider.video) throw new Error(`${provider.name} makes no videos`);
  return provider.video;
}
const signing = { now: () => NOW, token: () => Promise.reject(new Error('no token')) };
const bodyOf = ({ body }: Outgoing): unknown => JSON.parse(new TextDecoder().decode(body));

describe.each(VIDEO_FORMATS.map((row) => ({ name: row.provider.name, ...row })))('$name', (row) => {
  const { provider } = row;
  const video = videoOf(provider);
  const target = targetOf(provider, row.target);

  test('a text to video request', () => {
    const { outgoing } = video.start(wide, target, 'video_1');
    expect(outgoing).toMatchObject({ method: 'POST', url: row.text.url });
    expect(bodyOf(outgoing)).toEqual(row.text.body);
  });

  test('an image to video request', () => {
    const images = row.images.sent ?? [image, last];
    const { outgoing } = video.start({ ...plain, images }, target, 'video_1');
    expect(outgoing.url).toBe(row.images.url);
    expect(bodyOf(outgoing)).toMatchObject(row.images.body);
  });

  test('reports what it cannot express', () => {
    const { warnings } = video.start({ ...plain, fps: 30 }, target, 'video_1');
    expect(warnings).toEqual(['`fps` was dropped: the provider does not take it.']);
  });

  test('a start is read and polled', () => {
    const { handle } = video.readStart(answer(row.begun), plain);
    expect(handle).toEqual(row.handle);
    const look = video.poll(handle, target);
    expect(look).toMatchObject({ method: row.polled ? 'POST' : 'GET', url: row.poll });
    if (row.polled) expect(bodyOf(look)).toEqual(row.polled);
  });

  test('known and unknown statuses', () => {
    const read = (json: unknown) => video.readPoll(answer(json), row.handle, target);
    expect(read(row.working).state).toBe('in_progress');
    expect(read(row.unheard).state).toBe('in_progress');
    expect(read(row.failed)).toMatchObject({ state: 'failed', error: { code: expect.any(String) } });
    const done = read(row.done);
    expect(done).toMatchObject({ state: 'completed', found: row.found });
    expect(done.billed).toEqual(row.billed);
  });

  test("errors: the request is the client's, the credential the operator's, others are tried elsewhere", () => {
    const errorOf = (status: number, json: unknown = { message: 'No.', code: 'x' }) => {
      try {
        video.readStart(answer(json, status), plain);
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    };
    expect(errorOf(400)).toMatchObject({ code: 'upstream_refused', retryable: false });
    expect(errorOf(401)).toMatchObject({ code: 'upstream_failed', retryable: true });
    expect(errorOf(429)).toMatchObject({ code: 'rate_limited', retryable: true });
    expect(errorOf(500)).toMatchObject({ code: 'upstream_failed', retryable: true });
    // The task may have started: it is never tried elsewhere.
    expect(errorOf(200, provider === kling ? { code: 0, data: {} } : {})).toMatchObject({ retryable: false });
  });
});

describe('kling', () => {
  const video = videoOf(kling);

  test('two keys sign a token', async () => {
    const outgoing: Outgoing = { method: 'GET', url: 'https://k.example', headers: {}, body: undefined };
    await kling.authorize(
      outgoing,
      targetOf(kling, { credential: 'access:a-secret-of-32-characters-at-least' }),
      signing,
    );
    const token = outgoing.headers.authorization?.replace('Bearer ', '') ?? '';
    const secret = new TextEncoder().encode('a-secret-of-32-characters-at-least');
    const { payload, protectedHeader } = await jwtVerify(token, secret, { currentDate: new Date(NOW) });
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(payload).toEqual({ iss: 'access', exp: NOW / 1000 + 1800, nbf: NOW / 1000 - 5 });
  });

  test("an account without balance is the operator's problem, whatever the status is", () => {
    const unpaid = answer({ code: 1102, message: 'Resource pack depleted' }, 429);
    expect(() => video.readStart(unpaid, plain)).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
    const busy = answer({ code: 1303, message: 'parallel task over resource pack limit' }, 429);
    expect(() => video.readStart(busy, plain)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });

  test('a start is found again by our id', () => {
    const { find } = video;
    const ask = { ...plain, images: [image] };
    expect(find?.ask('video_1', targetOf(kling), ask).url).toEndWith('/v1/videos/image2video/video_1');
    const found = answer({ code: 0, data: { task_id: '42', task_status: 'processing' } });
    expect(find?.read(found, ask)).toEqual({ handle: 'image2video/42', seen: { state: 'in_progress' } });
    expect(find?.read(answer({ code: 1203, message: 'not found' }, 404), ask)).toBeUndefined();
    expect(find?.read(answer({ code: 1203, message: 'not found' }), ask)).toBeUndefined();
    expect(() => find?.read(answer({}, 500), ask)).toThrow();
  });
});

test('Veo accepts no images by URL', () => {
  expect(() => videoOf(google).start({ ...plain, images: [last] }, targetOf(google), 'video_1')).toThrow('base64');
});

test('what Veo filtered has failed', () => {
  const response = { generateVideoResponse: { raiMediaFilteredReasons: ['Filtered.'] } };
  expect(videoOf(google).readPoll(answer({ done: true, response }), 'x', targetOf(google))).toEqual({
    state: 'failed',
    error: { code: 'content_policy', message: 'Filtered.' },
  });
});

test('a task that DashScope no longer keeps is lost', () => {
  expect(() =>
    videoOf(dashscope).readPoll(answer({ output: { task_status: 'UNKNOWN' } }), 't', targetOf(dashscope)),
  ).toThrow(expect.objectContaining({ status: 404 }));
});

const reference: TaskImage = { role: 'reference', source: { type: 'url', url: 'https://images.example/ref.png' } };
const started = (provider: Provider, ask: Partial<VideoCall>, model = 'm-1') => {
  const { outgoing, warnings } = videoOf(provider).start(
    { ...plain, metadata: {}, ...ask },
    targetOf(provider, { model }),
    'video_1',
  );
  return { path: new URL(outgoing.url).pathname, body: bodyOf(outgoing), warnings };
};

describe('what depends on the model or on the images', () => {
  const REF = 'https://images.example/ref.png';

  test('Wan before 2.7: sizes, one image, or two in their own members', () => {
    const text = started(dashscope, { width: 1280, height: 720, aspectRatio: '1:1' }, 'wan2.5-t2v-preview');
    expect(text.body).toMatchObject({ parameters: { size: '1280*720', duration: 5 } });
    expect(text.warnings).toEqual([expect.stringContaining('`aspect_ratio`')]);
    const one = started(dashscope, { resolution: '1080p', images: [image, last] }, 'wan2.6-i2v');
    expect(one).toMatchObject({
      path: '/api/v1/services/aigc/video-generation/video-synthesis',
      body: { input: { img_url: DATA_URL }, parameters: { resolution: '1080P' } },
      warnings: [expect.stringContaining('`image_tail`')],
    });
    expect(started(dashscope, { images: [image, last] }, 'wan2.2-kf2v-flash')).toMatchObject({
      path: '/api/v1/services/aigc/image2video/video-synthesis',
      body: { input: { first_frame_url: DATA_URL, last_frame_url: 'https://images.example/last.png' } },
      warnings: [],
    });
  });

  test('Kling and Vidu make videos of reference images too', () => {
    expect(started(kling, { images: [reference] })).toMatchObject({
      path: '/v1/videos/multi-image2video',
      body: { image_list: [{ image: REF }] },
      warnings: [],
    });
    expect(started(vidu, { images: [reference], aspectRatio: '9:16' })).toMatchObject({
      path: '/ent/v2/reference2video',
      body: { images: [REF], aspect_ratio: '9:16' },
      warnings: [],
    });
    // An image that only ends the video is not sent as its first frame.
    expect(started(vidu, { images: [last] })).toMatchObject({
      path: '/ent/v2/text2video',
      warnings: [expect.stringContaining('`image_tail`')],
    });
  });

  test('an aspect ratio that images decide, or that is sent only in part, is reported', () => {
    expect(started(kling, { width: 1280, height: 720 }).warnings).toEqual([
      '`size` was sent as its aspect ratio only: the provider does not take it.',
    ]);
    const framed = { images: [image, reference], aspectRatio: '1:1' };
    expect(started(kling, framed).warnings).toHaveLength(2);
    expect(started(vidu, framed).warnings).toHaveLength(2);
  });

  test('Runway has sizes as pixels; some models require one, some reject a seed', () => {
    expect(started(runway, { aspectRatio: '9:16' }, 'gen4.5').body).toMatchObject({ ratio: '720:1280' });
    expect(started(runway, {}, 'gen4.5').body).toMatchObject({ ratio: '1280:720', duration: 5 });
    expect(started(runway, {}, 'seedance2').body).not.toHaveProperty('ratio');
    const veo = started(runway, { negativePrompt: 'dogs', seed: 7 }, 'veo3.1');
    expect(veo.body).toMatchObject({ negativePrompt: 'dogs' });
    expect(veo.body).not.toHaveProperty('seed');
    expect(veo.warnings).toEqual([expect.stringContaining('`seed`')]);
    const versioned = targetOf(runway, { baseUrl: 'https://r.example/v1' });
    expect(videoOf(runway).poll('1', versioned).url).toBe('https://r.example/v1/tasks/1');
  });
});

test.each([
  [1280, 720, '16:9', '720p'],
  [720, 1280, '9:16', '720p'],
  [1248, 704, '16:9', '720p'],
  [1920, 1088, '16:9', '1080p'],
  [1024, 1792, '9:16', '1080p'],
  [960, 960, '1:1', '720p'],
  [1112, 834, '4:3', '720p'],
  [2206, 946, '21:9', '1080p'],
  [832, 480, '16:9', '480p'],
  [1000, 200, '5:1', '360p'],
])('%d by %d is %s and %s', (width, height, ratio, resolution) => {
  const ask = { ...plain, width, height };
  const [one = 0, other = 1] = ratio.split(':').map(Number);
  const [wide = 0, high = 1] = (ratioOf(ask) ?? '').split(':').map(Number);
  expect(wide / high).toBe(one / other);
  expect(resolutionOf(ask)).toBe(resolution);
});

test("one provider's members are sent to that provider only", () => {
  const ask: VideoCall = { ...plain, metadata: { mode: 'pro', cfg_scale: 0.5 }, words: 'vendor-a' };
  expect(withOwnMembers(videoOf(kling), ask)).toEqual({ ask, unsaid: [] });
  const unsaid = [expect.stringContaining('`mode` was dropped'), expect.stringContaining('`cfg_scale` was dropped')];
  expect(withOwnMembers(videoOf(google), ask)).toEqual({ ask: { ...ask, metadata: {} }, unsaid });
  // In other formats, clients put the provider's members into `metadata`.
  expect(withOwnMembers(videoOf(google), plain)).toEqual({ ask: plain, unsaid: [] });
  const own = started(kling, { metadata: { external_task_id: 'mine' } });
  expect(own).toMatchObject({ body: { external_task_id: 'video_1' }, warnings: [expect.stringContaining('own ids')] });
});

test('xAI reports a running task by status only; a filtered one has failed', () => {
  const target = targetOf(xai);
  const empty = { status: 202, headers: new Headers(), body: new Uint8Array() };
  expect(videoOf(xai).readPoll(empty, 'x-1', target)).toEqual({ state: 'in_progress' });
  const withheld = answer({ status: 'done', video: { url: 'https://x.example/v.mp4', respect_moderation: false } });
  expect(videoOf(xai).readPoll(withheld, 'x-1', target)).toMatchObject({
    state: 'failed',
    error: { code: 'content_policy' },
  });
  const failed = answer({ status: 'failed', code: 'generation_failed', error: 'No.' });
  expect(videoOf(xai).readPoll(failed, 'x-1', target).error).toEqual({ code: 'generation_failed', message: 'No.' });
});

test('Runway is sent an API version, Vidu a token', () => {
  const headers = (provider: Provider) => {
    const outgoing: Outgoing = { method: 'GET', url: 'https://v.example', headers: {}, body: undefined };
    void provider.authorize(outgoing, targetOf(provider), signing);
    return outgoing.headers;
  };
  expect(headers(runway)).toEqual({ authorization: 'Bearer key', 'x-runway-version': '2024-11-06' });
  expect(headers(vidu)).toEqual({ authorization: 'Token key' });
});

describe('minimax', () => {
  const video = videoOf(minimax);
  const target = targetOf(minimax);
  const reply = (more: object, code = 0) =>
    answer({ ...more, base_resp: { status_code: code, status_msg: 'the message' } });

  test('is started, polled, and its file is requested', () => {
    const { outgoing } = video.start({ ...plain, resolution: '768p', images: [image] }, target, 'video_1');
    expect(outgoing.url).toBe('https://api.minimax.io/v1/video_generation');
    expect(bodyOf(outgoing)).toEqual({
      own: 1,
      model: 'm-1',
      prompt: 'A cat',
      duration: 5,
      resolution: '768P',
      first_frame_image: DATA_URL,
    });
    const { handle } = video.readStart(reply({ task_id: '7' }), plain);
    expect(video.poll(handle, target).url).toEndWith('/v1/query/video_generation?task_id=7');
    expect(video.readPoll(reply({ status: 'Queueing' }), handle, target).state).toBe('queued');
    expect(video.readPoll(reply({ status: 'Polishing' }), handle, target).state).toBe('in_progress');
    expect(video.readPoll(reply({ status: 'Fail' }), handle, target).state).toBe('failed');
    const done = video.readPoll(reply({ status: 'Success', file_id: '9' }), handle, target);
    expect(done).toEqual({ state: 'in_progress', handle: { file: '9' } });
    expect(video.poll(done.handle ?? null, target).url).toEndWith('/v1/files/retrieve?file_id=9');
    const file = reply({ file: { download_url: 'https://m.example/v.mp4' } });
    expect(video.readPoll(file, done.handle ?? null, target)).toEqual({
      state: 'completed',
      found: [{ url: 'https://m.example/v.mp4' }],
    });
  });

  test.each([
    [1026, 'upstream_refused'],
    [1002, 'rate_limited'],
    [1004, 'upstream_failed'],
    [9999, 'upstream_failed'],
  ])('its error %d in a response with status 200', (code, expected) => {
    expect(() => video.readStart(reply({}, code), plain)).toThrow(expect.objectContaining({ code: expected }));
  });

  test('Hailuo has fixed sizes: the nearest class, whose aspect ratio cannot be chosen', () => {
    const ask = { ...plain, width: 720, height: 1280 };
    const { outgoing, warnings } = video.start(ask, targetOf(minimax, { model: 'MiniMax-Hailuo-02' }), 'video_1');
    expect(bodyOf(outgoing)).toMatchObject({ resolution: '768P' });
    expect(warnings).toEqual([expect.stringContaining('`size` was sent as its resolution only')]);
  });

  test('a failed task is reported as an error', () => {
    const judged = reply({ status: 'Fail' }, 1027);
    expect(video.readPoll(judged, '7', target)).toEqual({
      state: 'failed',
      error: { code: 'content_policy', message: 'the message' },
    });
    expect(() => video.readPoll(reply({}, 1002), '7', target)).toThrow(
      expect.objectContaining({ code: 'rate_limited' }),
    );
  });

  test('API version 2: one list of inputs, and the URL at the end', () => {
    const newer = targetOf(minimax, { model: 'MiniMax-H3' });
    const { outgoing, warnings } = video.start({ ...wide, images: [image, last] }, newer, 'video_1');
    expect(outgoing.url).toBe('https://api.minimax.io/v2/video_generation');
    expect(bodyOf(outgoing)).toEqual({
      own: 1,
      model: 'MiniMax-H3',
      content: [
        { type: 'text', text: 'A cat' },
        { type: 'image_url', image_url: { url: DATA_URL }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: 'https://images.example/last.png' }, role: 'last_frame' },
      ],
      duration: 5,
      resolution: '2K',
    });
    expect(warnings).toHaveLength(2);
    expect(video.poll('7', newer).url).toBe('https://api.minimax.io/v2/query/video_generation/7');
    const seen = (task: object) => video.readPoll(answer({ task }), '7', newer);
    expect(seen({ status: 'running' }).state).toBe('in_progress');
    expect(seen({ status: 'failed', error: { code: 'x', message: 'No.' } })).toMatchObject({ state: 'failed' });
    const usage = { total_seconds: 9, input_seconds: 4, output_seconds: 5 };
    expect(seen({ status: 'succeeded', content: { url: 'https://m.example/v.mp4' }, usage })).toEqual({
      state: 'completed',
      found: [{ url: 'https://m.example/v.mp4' }],
      billed: { seconds: 9 },
    });
  });
});
