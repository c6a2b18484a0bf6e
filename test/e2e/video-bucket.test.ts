/** Videos in an S3-compatible bucket: stored, read with `Range`, removed with their task. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Bucket, startBucket } from '../helpers/bucket.ts';
import { type Scene, startScene } from '../helpers/scene.ts';
import { authorized, providerVideo, SECOND_PRICE, type VideoView, watch } from '../helpers/videos.ts';

let bucket: Bucket;
let scene: Scene;
beforeAll(async () => {
  bucket = await startBucket();
  const { bucket: name, region, accessKeyId, secretAccessKey } = bucket.settings;
  scene = await startScene({
    environment: {
      MODELPORT_FILES_BUCKET: name,
      MODELPORT_FILES_ENDPOINT: bucket.endpoint,
      MODELPORT_FILES_REGION: region,
      MODELPORT_FILES_ACCESS_KEY: accessKeyId,
      MODELPORT_FILES_SECRET_KEY: secretAccessKey,
    },
  });
}, 60_000);
afterAll(async () => {
  await scene.close();
  await bucket.close();
}, 60_000);

/** Several parts. */
const VIDEO = Buffer.alloc(11 << 20, 'a video of its own kind ');

test('a video is stored in parts, read in whole and in part, and removed', async () => {
  const stage = await scene.stage({ type: 'sandbox', kind: 'video', upstreamModel: 'm', price: SECOND_PRICE });
  const video = { bytes: VIDEO, headers: { 'content-type': 'video/mp4' } };
  stage.script(providerVideo('queued'), providerVideo('completed'), video);
  const answer = await stage.post('/v1/videos', { model: stage.model, prompt: 'A cat', seconds: '4' });
  const { id } = (await answer.json()) as VideoView;
  expect((await watch(scene.gateway.url, stage, id)).last.status).toBe('completed');
  expect([...bucket.objects.values()].map((bytes) => VIDEO.equals(bytes))).toEqual([true]);
  await stage.settledCall();

  const address = `${scene.gateway.url}/v1/videos/${id}/content`;
  const whole = await fetch(address, { headers: authorized(stage) });
  expect(VIDEO.equals(await whole.bytes())).toBe(true);
  const part = await fetch(address, { headers: { ...authorized(stage), range: 'bytes=5000000-5000099' } });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(`bytes 5000000-5000099/${VIDEO.length}`);
  expect(VIDEO.subarray(5_000_000, 5_000_100).equals(await part.bytes())).toBe(true);

  bucket.fail(503);
  expect((await fetch(address, { headers: authorized(stage) })).status).toBe(503);
  bucket.fail(undefined);
  const removed = await fetch(`${scene.gateway.url}/v1/videos/${id}`, { method: 'DELETE', headers: authorized(stage) });
  expect(removed.status).toBe(200);
  expect(bucket.objects.size).toBe(0);
}, 60_000);

test('a bucket that fails temporarily delays the video and loses nothing', async () => {
  const stage = await scene.stage({ type: 'sandbox', kind: 'video', upstreamModel: 'm', price: SECOND_PRICE });
  const video = { bytes: VIDEO.subarray(0, 1000), headers: { 'content-type': 'video/mp4' } };
  const finished = [providerVideo('completed'), video];
  stage.script(providerVideo('queued'), ...finished, ...finished, ...finished, ...finished);
  bucket.fail(500);
  const answer = await stage.post('/v1/videos', { model: stage.model, prompt: 'A cat', seconds: '4' });
  const { id } = (await answer.json()) as VideoView;
  const refusals = () => bucket.journal.filter(({ method, status }) => method === 'PUT' && status === 500).length;
  const deadline = Date.now() + 20_000;
  while (refusals() === 0 && Date.now() < deadline) await Bun.sleep(20);
  expect(refusals()).toBeGreaterThan(0);
  bucket.fail(undefined);
  expect((await watch(scene.gateway.url, stage, id)).last.status).toBe('completed');
  expect([...bucket.objects.values()].map(({ length }) => length)).toEqual([1000]);
  await stage.settledCall();
}, 60_000);
