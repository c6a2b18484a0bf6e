import { describe, expect, test } from 'bun:test';
import type { TaskImage, VideoCall } from '../../canonical/task.ts';
import type { Target } from '../outgoing.ts';
import { jimeng } from './jimeng.ts';
import type { ProviderAnswer, VideoAdapter } from './video.ts';

const inline: TaskImage = { role: 'first', source: { type: 'inline', base64: 'iVBORw0KGgo=' } };
const byAddress: TaskImage = { role: 'last', source: { type: 'url', url: 'https://images.example/last.png' } };
const plain: VideoCall = { model: 'public', prompt: 'A cat', seconds: 5, images: [], n: 1, metadata: { own: 1 } };
const target: Target = {
  model: 'jimeng_ti2v_v30_pro',
  baseUrl: jimeng.baseUrl ?? '',
  credential: undefined,
  settings: {},
};
const video = jimeng.video as VideoAdapter;

const answer = (json: unknown, status = 200): ProviderAnswer => ({
  status,
  headers: new Headers(),
  body: new TextEncoder().encode(JSON.stringify(json)),
});
const success = (data: object) => answer({ code: 10_000, message: 'Success', data });
const refused = (code: number, status = 400, data: object | null = null) =>
  answer({ code, message: 'Risk Not Pass', data }, status);
const started = (ask: VideoCall) => {
  const { outgoing, warnings } = video.start(ask, target, 'video_1');
  return { url: outgoing.url, body: JSON.parse(new TextDecoder().decode(outgoing.body)), warnings };
};

test('a text to video request', () => {
  const { url, body, warnings } = started({ ...plain, width: 1920, height: 1080, seed: 7 });
  expect(url).toBe('https://visual.volcengineapi.com/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31');
  expect(body).toEqual({
    own: 1,
    req_key: 'jimeng_ti2v_v30_pro',
    prompt: 'A cat',
    frames: 121,
    seed: 7,
    aspect_ratio: '16:9',
  });
  expect(warnings).toEqual([expect.stringContaining('`size` was sent as its aspect ratio only')]);
});

test("an image to video request, whose aspect ratio is the image's", () => {
  const { body, warnings } = started({ ...plain, seconds: 10, aspectRatio: '1:1', images: [inline] });
  expect(body).toEqual({
    own: 1,
    req_key: 'jimeng_ti2v_v30_pro',
    prompt: 'A cat',
    binary_data_base64: ['iVBORw0KGgo='],
    frames: 241,
  });
  expect(warnings).toEqual(['`aspect_ratio` was dropped: the provider does not take it.']);
  const addressed = started({ ...plain, images: [{ ...byAddress, role: 'first' }, byAddress] });
  expect(addressed.body.image_urls).toEqual(Array(2).fill('https://images.example/last.png'));
  expect(() => started({ ...plain, images: [inline, byAddress] })).toThrow('either by address or as data');
});

test('a task is polled by its number and kind', () => {
  const { handle } = video.readStart(success({ task_id: '7392616336519610409' }), plain);
  const { method, url, body } = video.poll(handle, target);
  expect([method, url]).toEqual([
    'POST',
    'https://visual.volcengineapi.com/?Action=CVSync2AsyncGetResult&Version=2022-08-31',
  ]);
  const request = JSON.parse(new TextDecoder().decode(body));
  expect(request).toEqual({ req_key: 'jimeng_ti2v_v30_pro', task_id: '7392616336519610409' });
});

describe('the states of a task', () => {
  const seen = (answered: ProviderAnswer) => video.readPoll(answered, '1', target);

  test('known and unknown statuses', () => {
    expect(seen(success({ status: 'in_queue' })).state).toBe('queued');
    expect(seen(success({ status: 'generating' })).state).toBe('in_progress');
    expect(seen(success({ status: 'polishing' })).state).toBe('in_progress');
    expect(seen(success({ status: 'expired' }))).toMatchObject({ state: 'failed', error: { code: 'task_expired' } });
    expect(() => seen(success({ status: 'not_found' }))).toThrow(expect.objectContaining({ status: 404 }));
    const found = [{ url: 'https://j.example/v.mp4' }];
    expect(seen(success({ status: 'done', video_url: 'https://j.example/v.mp4' }))).toEqual({
      state: 'completed',
      found,
    });
  });

  test('a failed task is reported as an error of the poll', () => {
    for (const status of [200, 400]) {
      const error = { code: 'content_policy', message: 'Risk Not Pass' };
      expect(seen(refused(50_516, status))).toEqual({ state: 'failed', error });
    }
    expect(seen(refused(50_501, 500, { status: 'done' }))).toMatchObject({ state: 'failed' });
  });

  test('a rate limit or an internal error does not change the task', () => {
    expect(() => seen(refused(50_429, 429))).toThrow(expect.objectContaining({ code: 'rate_limited' }));
    expect(() => seen(refused(50_500, 500))).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
  });
});

test.each([
  [50_412, 400, 'upstream_refused', false],
  [50_412, 200, 'upstream_refused', false],
  [50_430, 200, 'rate_limited', true],
  [50_430, 429, 'rate_limited', true],
  [50_500, 200, 'upstream_failed', true],
  [100_010, 401, 'upstream_failed', true],
])('its error %d with status %d', (code, status, expected, retryable) => {
  const refusal = expect.objectContaining({ code: expected, retryable });
  expect(() => video.readStart(refused(code, status), plain)).toThrow(refusal);
});

test('a key that is not a pair is sent unchanged; a pair signs', async () => {
  const signing = { now: () => Date.UTC(2026, 4, 5), token: () => Promise.reject(new Error('no token')) };
  const { outgoing } = video.start(plain, target, 'video_1');
  await jimeng.authorize(outgoing, { ...target, credential: 'sk-gateway' }, signing);
  expect(outgoing.headers.authorization).toBe('Bearer sk-gateway');
  await jimeng.authorize(outgoing, { ...target, credential: 'AKLTid:c2VjcmV0:session' }, signing);
  expect(outgoing.headers.authorization).toStartWith(
    'HMAC-SHA256 Credential=AKLTid/20260505/cn-north-1/cv/request, SignedHeaders=content-type;host;x-content-sha256;x-date;x-security-token, ',
  );
});
