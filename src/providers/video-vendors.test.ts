import { describe, expect, test } from 'bun:test';
import { jwtVerify } from 'jose';
import type { Json } from '../canonical/json.ts';
import type { Picture, VideoAsk } from '../canonical/task.ts';
import { dashscope } from './dashscope.ts';
import { google } from './google.ts';
import { kling } from './kling.ts';
import { minimax } from './minimax.ts';
import type { Outgoing, Provider, Target } from './provider.ts';
import { runway } from './runway.ts';
import type { Answered, VideoAdapter } from './video.ts';
import { vidu } from './vidu.ts';
import { volcengine } from './volcengine.ts';

const NOW = Date.UTC(2026, 4, 5, 12);
const picture: Picture = { role: 'first', source: { type: 'inline', base64: 'iVBORw0KGgo=', mimeType: 'image/png' } };
const last: Picture = { role: 'last', source: { type: 'url', url: 'https://pictures.example/last.png' } };
const DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';
const plain: VideoAsk = { model: 'public', prompt: 'A cat', seconds: 5, pictures: [], n: 1, metadata: { own: 1 } };
const wide: VideoAsk = { ...plain, width: 1280, height: 720, seed: 7 };

const answer = (json: unknown, status = 200): Answered => ({
  status,
  headers: new Headers(),
  body: new TextEncoder().encode(JSON.stringify(json)),
});
const targetOf = ({ baseUrl = '' }: Provider, credential = 'key'): Target => ({
  model: 'm-1',
  baseUrl,
  credential,
  settings: {},
});
function videoOf(provider: Provider): VideoAdapter {
  if (!provider.video) throw new Error(`${provider.name} makes no videos`);
  return provider.video;
}
const signing = { now: () => NOW, token: () => Promise.reject(new Error('no token')) };
const bodyOf = ({ body }: Outgoing): unknown => JSON.parse(new TextDecoder().decode(body));

/** What each vendor is asked and how its answers are read; `handle`: what a start leaves. */
const VENDORS: {
  provider: Provider;
  begun: unknown;
  handle: Json;
  text: { url: string; body: object };
  pictures: { url: string; body: object };
  poll: string;
  working: unknown;
  unheard: unknown;
  failed: unknown;
  done: unknown;
  found: object[];
  billed?: object;
}[] = [
  {
    provider: kling,
    begun: { code: 0, data: { task_id: '42', task_status: 'submitted' } },
    handle: 'text2video/42',
    text: {
      url: 'https://api-singapore.klingai.com/v1/videos/text2video',
      body: {
        own: 1,
        model_name: 'm-1',
        prompt: 'A cat',
        duration: '5',
        aspect_ratio: '16:9',
        external_task_id: 'video_1',
      },
    },
    pictures: {
      url: 'https://api-singapore.klingai.com/v1/videos/image2video',
      body: { image: 'iVBORw0KGgo=', image_tail: 'https://pictures.example/last.png' },
    },
    poll: 'https://api-singapore.klingai.com/v1/videos/text2video/42',
    working: { code: 0, data: { task_id: '42', task_status: 'processing' } },
    unheard: { code: 0, data: { task_id: '42', task_status: 'polishing' } },
    failed: { code: 0, data: { task_id: '42', task_status: 'failed', task_status_msg: 'No.' } },
    done: { code: 0, data: { task_status: 'succeed', task_result: { videos: [{ url: 'https://k.example/v.mp4' }] } } },
    found: [{ url: 'https://k.example/v.mp4' }],
  },
  {
    provider: google,
    begun: { name: 'models/m-1/operations/op' },
    handle: 'models/m-1/operations/op',
    text: {
      url: 'https://generativelanguage.googleapis.com/v1beta/models/m-1:predictLongRunning',
      body: {
        instances: [{ prompt: 'A cat' }],
        parameters: { own: 1, aspectRatio: '16:9', durationSeconds: 5, resolution: '720p', seed: 7 },
      },
    },
    pictures: { url: 'https://generativelanguage.googleapis.com/v1beta/models/m-1:predictLongRunning', body: {} },
    poll: 'https://generativelanguage.googleapis.com/v1beta/models/m-1/operations/op',
    working: { name: 'models/m-1/operations/op' },
    unheard: { name: 'models/m-1/operations/op', done: 'soon' },
    failed: { done: true, error: { code: 3, message: 'No.' } },
    done: {
      done: true,
      response: {
        generateVideoResponse: {
          generatedSamples: [{ video: { uri: 'https://generativelanguage.googleapis.com/v1beta/files/f:download' } }],
        },
      },
    },
    found: [{ url: 'https://generativelanguage.googleapis.com/v1beta/files/f:download', signed: true }],
  },
  {
    provider: dashscope,
    begun: { output: { task_id: 't-1', task_status: 'PENDING' } },
    handle: 't-1',
    text: {
      url: 'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis',
      body: {
        model: 'm-1',
        input: { prompt: 'A cat' },
        parameters: { own: 1, size: '1280*720', duration: 5, seed: 7 },
      },
    },
    pictures: {
      url: 'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/image2video/video-synthesis',
      body: {
        input: { prompt: 'A cat', first_frame_url: DATA_URL, last_frame_url: 'https://pictures.example/last.png' },
      },
    },
    poll: 'https://dashscope-intl.aliyuncs.com/api/v1/tasks/t-1',
    working: { output: { task_status: 'RUNNING' } },
    unheard: { output: { task_status: 'POLISHING' } },
    failed: { output: { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'No.' } },
    done: {
      output: { task_status: 'SUCCEEDED', video_url: 'https://d.example/v.mp4' },
      usage: { video_duration: 5, video_count: 1 },
    },
    found: [{ url: 'https://d.example/v.mp4' }],
    billed: { seconds: 5 },
  },
  {
    provider: volcengine,
    begun: { id: 'cgt-1' },
    handle: 'cgt-1',
    text: {
      url: 'https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks',
      body: {
        own: 1,
        model: 'm-1',
        content: [{ type: 'text', text: 'A cat' }],
        ratio: '16:9',
        resolution: '720p',
        duration: 5,
        seed: 7,
      },
    },
    pictures: {
      url: 'https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks',
      body: {
        content: [
          { type: 'text', text: 'A cat' },
          { type: 'image_url', image_url: { url: DATA_URL }, role: 'first_frame' },
          { type: 'image_url', image_url: { url: 'https://pictures.example/last.png' }, role: 'last_frame' },
        ],
      },
    },
    poll: 'https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks/cgt-1',
    working: { id: 'cgt-1', status: 'running' },
    unheard: { id: 'cgt-1', status: 'polishing' },
    failed: { id: 'cgt-1', status: 'failed', error: { code: 'SensitiveContent', message: 'No.' } },
    done: {
      id: 'cgt-1',
      status: 'succeeded',
      content: { video_url: 'https://a.example/v.mp4' },
      usage: { completion_tokens: 108_900 },
    },
    found: [{ url: 'https://a.example/v.mp4' }],
    billed: { outputTokens: 108_900 },
  },
  {
    provider: runway,
    begun: { id: 'r-1' },
    handle: 'r-1',
    text: {
      url: 'https://api.dev.runwayml.com/v1/text_to_video',
      body: { own: 1, model: 'm-1', promptText: 'A cat', ratio: '1280:720', duration: 5, seed: 7 },
    },
    pictures: {
      url: 'https://api.dev.runwayml.com/v1/image_to_video',
      body: {
        promptImage: [
          { uri: DATA_URL, position: 'first' },
          { uri: 'https://pictures.example/last.png', position: 'last' },
        ],
      },
    },
    poll: 'https://api.dev.runwayml.com/v1/tasks/r-1',
    working: { id: 'r-1', status: 'RUNNING', progress: 0.5 },
    unheard: { id: 'r-1', status: 'POLISHING' },
    failed: { id: 'r-1', status: 'FAILED', failure: 'No.', failureCode: 'SAFETY' },
    done: { id: 'r-1', status: 'SUCCEEDED', output: ['https://r.example/v.mp4'] },
    found: [{ url: 'https://r.example/v.mp4' }],
  },
  {
    provider: vidu,
    begun: { task_id: 'v-1', state: 'created' },
    handle: 'v-1',
    text: {
      url: 'https://api.vidu.com/ent/v2/text2video',
      body: {
        own: 1,
        model: 'm-1',
        prompt: 'A cat',
        duration: 5,
        seed: 7,
        resolution: '720p',
        aspect_ratio: '16:9',
      },
    },
    pictures: {
      url: 'https://api.vidu.com/ent/v2/start-end2video',
      body: { images: [DATA_URL, 'https://pictures.example/last.png'] },
    },
    poll: 'https://api.vidu.com/ent/v2/tasks/v-1/creations',
    working: { state: 'processing' },
    unheard: { state: 'polishing' },
    failed: { state: 'failed', err_code: 'Audit' },
    done: { state: 'success', creations: [{ url: 'https://v.example/v.mp4' }] },
    found: [{ url: 'https://v.example/v.mp4' }],
  },
];

describe.each(VENDORS.map((vendor) => ({ name: vendor.provider.name, ...vendor })))('$name', (vendor) => {
  const { provider } = vendor;
  const video = videoOf(provider);
  const target = targetOf(provider);

  test('is asked for a video of a text', () => {
    const { outgoing } = video.start(wide, target, 'video_1');
    expect(outgoing).toMatchObject({ method: 'POST', url: vendor.text.url });
    expect(bodyOf(outgoing)).toEqual(vendor.text.body);
  });

  test('is asked for a video of pictures', () => {
    // Veo takes pictures as data alone.
    const pictures = provider === google ? [picture] : [picture, last];
    const { outgoing } = video.start({ ...plain, pictures }, target, 'video_1');
    expect(outgoing.url).toBe(vendor.pictures.url);
    expect(bodyOf(outgoing)).toMatchObject(vendor.pictures.body);
  });

  test('says what it was not told', () => {
    const { warnings } = video.start({ ...plain, fps: 30 }, target, 'video_1');
    expect(warnings).toEqual(["`fps` was dropped: the model's vendor does not take it."]);
  });

  test('a start is read and looked at', () => {
    const { handle } = video.readStart(answer(vendor.begun), plain);
    expect(handle).toEqual(vendor.handle);
    expect(video.poll(handle, target)).toMatchObject({ method: 'GET', url: vendor.poll });
  });

  test('states, a word never heard before among them', () => {
    const read = (json: unknown) => video.readPoll(answer(json), vendor.handle);
    expect(read(vendor.working).state).toBe('in_progress');
    expect(read(vendor.unheard).state).toBe('in_progress');
    expect(read(vendor.failed)).toMatchObject({ state: 'failed', error: { code: expect.any(String) } });
    const done = read(vendor.done);
    expect(done).toMatchObject({ state: 'completed', found: vendor.found });
    expect(done.billed).toEqual(vendor.billed);
  });

  test('refusals: the request is the client’s, the credential the operator’s, the rest is tried elsewhere', () => {
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
    // It may have been taken on: never tried elsewhere.
    expect(errorOf(200, provider === kling ? { code: 0, data: {} } : {})).toMatchObject({ retryable: false });
  });
});

describe('kling', () => {
  const video = videoOf(kling);

  test('two keys sign a token', async () => {
    const outgoing: Outgoing = { method: 'GET', url: 'https://k.example', headers: {}, body: undefined };
    await kling.authorize(outgoing, targetOf(kling, 'access:a-secret-of-32-characters-at-least'), signing);
    const token = outgoing.headers.authorization?.replace('Bearer ', '') ?? '';
    const secret = new TextEncoder().encode('a-secret-of-32-characters-at-least');
    const { payload, protectedHeader } = await jwtVerify(token, secret, { currentDate: new Date(NOW) });
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(payload).toEqual({ iss: 'access', exp: NOW / 1000 + 1800, nbf: NOW / 1000 - 5 });
  });

  test('a start is found again by our id', () => {
    const { find } = video;
    const ask = { ...plain, pictures: [picture] };
    expect(find?.ask('video_1', targetOf(kling), ask).url).toEndWith('/v1/videos/image2video/video_1');
    const found = answer({ code: 0, data: { task_id: '42', task_status: 'processing' } });
    expect(find?.read(found, ask)).toEqual({ handle: 'image2video/42', seen: { state: 'in_progress' } });
    expect(find?.read(answer({ code: 1203, message: 'not found' }, 404), ask)).toBeUndefined();
    expect(() => find?.read(answer({}, 500), ask)).toThrow();
  });
});

test('a picture by address is more than Veo can be told', () => {
  expect(() => videoOf(google).start({ ...plain, pictures: [last] }, targetOf(google), 'video_1')).toThrow('base64');
});

test('what Veo filtered has failed', () => {
  const response = { generateVideoResponse: { raiMediaFilteredReasons: ['Filtered.'] } };
  expect(videoOf(google).readPoll(answer({ done: true, response }), 'x')).toEqual({
    state: 'failed',
    error: { code: 'content_policy', message: 'Filtered.' },
  });
});

test('a task that DashScope keeps no longer is lost', () => {
  expect(() => videoOf(dashscope).readPoll(answer({ output: { task_status: 'UNKNOWN' } }), 't')).toThrow(
    expect.objectContaining({ status: 404 }),
  );
});

test('Runway is told the version of its interface, Vidu a token', () => {
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
  const reply = (more: object, code = 0) => answer({ ...more, base_resp: { status_code: code, status_msg: 'said' } });

  test('is asked, looked at, and asked for the file', () => {
    const { outgoing } = video.start({ ...plain, resolution: '768p', pictures: [picture] }, target, 'video_1');
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
    expect(video.readPoll(reply({ status: 'Queueing' }), handle).state).toBe('queued');
    expect(video.readPoll(reply({ status: 'Polishing' }), handle).state).toBe('in_progress');
    expect(video.readPoll(reply({ status: 'Fail' }), handle).state).toBe('failed');
    const done = video.readPoll(reply({ status: 'Success', file_id: '9' }), handle);
    expect(done).toEqual({ state: 'in_progress', handle: { file: '9' } });
    expect(video.poll(done.handle ?? null, target).url).toEndWith('/v1/files/retrieve?file_id=9');
    const file = reply({ file: { download_url: 'https://m.example/v.mp4' } });
    expect(video.readPoll(file, done.handle ?? null)).toEqual({
      state: 'completed',
      found: [{ url: 'https://m.example/v.mp4' }],
    });
  });

  test.each([
    [1026, 'upstream_refused'],
    [1002, 'rate_limited'],
    [1004, 'upstream_failed'],
    [9999, 'upstream_failed'],
  ])('its refusal %d inside an answer that says 200', (code, expected) => {
    expect(() => video.readStart(reply({}, code), plain)).toThrow(expect.objectContaining({ code: expected }));
  });
});
