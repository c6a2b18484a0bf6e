import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { providerVideo, videoAnswer } from '../../test/helpers/videos.ts';
import type { Answer } from '../../test/upstream/answer.ts';
import { HOUR_MS, MINUTE_MS } from '../canonical/time.ts';

const COST = 400_000_000n;
const broken: Answer = { status: 500, json: { error: { message: 'broken' } }, repeat: true };
const NAMES = [
  'hour',
  'limit',
  'last',
  'dead',
  'large',
  'gone',
  'hook',
  'swept',
  'words',
  'fetch',
  'again',
  'lies',
  'fresh',
];

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench(NAMES);
});
afterAll(() => bench.close());

const status = (name: string) => `/${name}/v1/videos/vid_upstream`;
const video = (name: string) => `${status(name)}/content`;
const polls = (name: string) => bench.upstream.journal(status(name)).filter(({ path }) => path === status(name));
const filesKept = () => {
  const everything = readdirSync(join(bench.dataFolder, 'files'), { recursive: true, withFileTypes: true });
  return everything.filter((one) => one.isFile()).length;
};
/** The amount charged while `work` runs. */
async function paid(work: () => Promise<unknown>): Promise<bigint> {
  const before = await bench.spent();
  await work();
  expect(await bench.held()).toBe(0n);
  return (await bench.spent()) - before;
}

describe('a task whose provider is working', () => {
  test('is polled less often while the provider answers 500, and its video is charged when available', async () => {
    const { upstream } = bench;
    upstream.script('/hour/v1/videos', providerVideo('queued'));
    upstream.script(status('hour'), broken);
    const { id } = await bench.create('hour');
    await bench.lookAfter(HOUR_MS);
    expect(await bench.task(id)).toMatchObject({ state: 'queued' });
    // Two seconds, four, eight … five minutes.
    expect(polls('hour').length).toBeLessThan(25);
    expect(await bench.held()).toBe(COST);
    upstream.forget(status('hour'));
    upstream.script(status('hour'), providerVideo('completed'));
    upstream.script(video('hour'), videoAnswer);
    expect(await paid(() => bench.lookAfter(6 * MINUTE_MS))).toBe(COST);
    expect(await bench.task(id)).toMatchObject({ state: 'completed', percent: 100 });
  });

  test('is polled by a process that has not yet seen its model, which another process has configured', async () => {
    bench.upstream.script('/fresh/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('fresh'), providerVideo('completed'));
    bench.upstream.script(video('fresh'), videoAnswer);
    const { id } = await bench.create('fresh');
    const { store, catalog } = bench.deps;
    const model = (await store.models()).find(({ name }) => name === 'fresh')!;
    await store.removeModel('fresh');
    await catalog.reload();
    await store.saveModel(model);
    expect(await paid(() => bench.lookAfter(MINUTE_MS))).toBe(COST);
    expect(await bench.task(id)).toMatchObject({ state: 'completed' });
  });

  test('is charged the hold and disputed if the provider reports 400 seconds for an order of four', async () => {
    bench.upstream.script('/lies/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('lies'), providerVideo('completed', { seconds: '400' }));
    bench.upstream.script(video('lies'), videoAnswer);
    const { id } = await bench.create('lies');
    expect(await paid(() => bench.lookAfter(MINUTE_MS))).toBe(COST);
    expect(await bench.task(id)).toMatchObject({ state: 'completed' });
    const usage = { seconds: 4, claimed: { cost: '40', usage: { seconds: 400 } } };
    expect(bench.calls.at(-1)).toMatchObject({ id, outcome: 'disputed', cost: COST, usage });
    expect(bench.disputes.map((call) => call.id)).toEqual([id]);
  });

  test('fails exactly at its deadline without a charge', async () => {
    bench.upstream.script('/limit/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('limit'), { ...providerVideo('in_progress'), repeat: true });
    const { id, deadlineAt, createdAt } = await bench.create('limit');
    // For most of the day nothing polls, as if every process were down.
    bench.turn(23 * HOUR_MS);
    expect(await paid(() => bench.lookAfter(HOUR_MS))).toBe(0n);
    expect(deadlineAt - createdAt).toBe(24 * HOUR_MS);
    const error = { code: 'task_expired' };
    expect(await bench.task(id)).toMatchObject({ state: 'failed', endedAt: deadlineAt, error });
    expect(bench.calls.at(-1)).toMatchObject({ id, outcome: 'failed', errorCode: 'task_expired', cost: 0n });
    expect(polls('limit').length).toBeLessThan(140);
    const pollCount = polls('limit').length;
    await bench.lookAfter(HOUR_MS);
    expect(polls('limit').length).toBe(pollCount);
  });

  test('is polled a last time at its deadline, and a finished video is stored and charged', async () => {
    bench.upstream.script('/last/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('last'), providerVideo('completed'));
    bench.upstream.script(video('last'), videoAnswer);
    const { id } = await bench.create('last');
    bench.turn(30 * HOUR_MS);
    expect(await paid(() => bench.lookAfter(0))).toBe(COST);
    expect(await bench.task(id)).toMatchObject({ state: 'completed' });
  });

  test.each([404, 410])('fails without a charge when the provider answers %d repeatedly', async (gone) => {
    bench.upstream.script('/gone/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('gone'), {
      status: gone,
      json: { error: { message: 'no such video' } },
      repeat: true,
    });
    const { id } = await bench.create('gone');
    expect(await paid(() => bench.lookAfter(MINUTE_MS))).toBe(0n);
    expect(await bench.task(id)).toMatchObject({ state: 'failed', error: { code: 'upstream_failed' } });
    for (const path of ['/gone/', status('gone')]) bench.upstream.forget(path);
  });

  test('fails with a code that every database stores, whatever the provider sends', async () => {
    bench.upstream.script('/gone/v1/videos', providerVideo('queued'));
    const error = { code: 'bad\0code\ud83d', message: 'a\0b' };
    bench.upstream.script(status('gone'), { ...providerVideo('failed', { error }), repeat: true });
    const { id } = await bench.create('gone');
    expect(await paid(() => bench.lookAfter(MINUTE_MS))).toBe(0n);
    expect(bench.calls.at(-1)).toMatchObject({ id, outcome: 'failed', errorCode: 'badcode\ufffd' });
    for (const path of ['/gone/', status('gone')]) bench.upstream.forget(path);
  });

  test('is polled again after a single 404, and after the retry-after time of the provider', async () => {
    const { upstream } = bench;
    upstream.script('/again/v1/videos', providerVideo('queued'));
    const busy = { status: 429, headers: { 'retry-after': '600' }, json: { error: { message: 'slower' } } };
    upstream.script(status('again'), { status: 404 }, busy, providerVideo('completed'));
    upstream.script(video('again'), videoAnswer);
    const { id } = await bench.create('again');
    await bench.lookAfter(10 * MINUTE_MS);
    expect(polls('again')).toHaveLength(2);
    expect(await paid(() => bench.lookAfter(MINUTE_MS))).toBe(COST);
    expect(await bench.task(id)).toMatchObject({ state: 'completed' });
  });

  test('continues after an unknown status, and its progress never decreases', async () => {
    const { upstream } = bench;
    upstream.script('/words/v1/videos', providerVideo('dreaming'));
    const seen = [
      providerVideo('in_progress', { progress: 70 }),
      providerVideo('marinating', { progress: 10 }),
      providerVideo('queued', { progress: 120 }),
    ];
    upstream.script(status('words'), ...seen, providerVideo('completed'));
    upstream.script(video('words'), videoAnswer);
    const { id } = await bench.create('words');
    const progress: [string, number][] = [];
    for (let looks = 0; looks < seen.length; looks++) {
      const pollCount = polls('words').length;
      while (polls('words').length === pollCount) await bench.lookAfter(1000);
      const { state, percent } = await bench.task(id);
      progress.push([state, percent]);
    }
    expect(progress).toEqual([
      ['in_progress', 70],
      ['in_progress', 70],
      ['in_progress', 99],
    ]);
    await bench.lookAfter(MINUTE_MS);
    expect(await bench.task(id)).toMatchObject({ state: 'completed', percent: 100 });
  });
});

describe('a task that its provider has finished', () => {
  test('fails and leaves no files if the video cannot be downloaded for more than an hour', async () => {
    const before = filesKept();
    const half: Answer = { ...videoAnswer, fault: { before: 0, inside: 'event', does: 'cut' } };
    bench.upstream.script('/dead/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('dead'), { ...providerVideo('completed'), repeat: true });
    bench.upstream.script(video('dead'), half, { status: 403, text: 'expired', repeat: true });
    const { id } = await bench.create('dead');
    await bench.lookAfter(HOUR_MS);
    expect(await bench.task(id)).toMatchObject({ state: 'in_progress', percent: 99 });
    expect(await paid(() => bench.lookAfter(HOUR_MS))).toBe(0n);
    expect(await bench.task(id)).toMatchObject({ state: 'failed', error: { code: 'upstream_failed' } });
    expect(bench.upstream.journal(video('dead'))).toHaveLength(20);
    expect(filesKept()).toBe(before);
  });

  test('downloads again after an incomplete or failed download', async () => {
    const half: Answer = { ...videoAnswer, fault: { before: 0, inside: 'event', does: 'cut' } };
    bench.upstream.script('/fetch/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('fetch'), { ...providerVideo('completed'), repeat: true });
    bench.upstream.script(
      video('fetch'),
      half,
      { status: 503 },
      { ...videoAnswer, bytes: Buffer.alloc(0) },
      videoAnswer,
    );
    const before = filesKept();
    const { id } = await bench.create('fetch');
    expect(await paid(() => bench.lookAfter(5 * MINUTE_MS))).toBe(COST);
    expect(await bench.task(id)).toMatchObject({ state: 'completed', fetches: 4 });
    expect(filesKept()).toBe(before + 1);
  });

  test('fails at once with a reason if the video is too large', async () => {
    bench.upstream.script('/large/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('large'), providerVideo('completed'));
    bench.upstream.script(video('large'), { ...videoAnswer, bytes: Buffer.alloc(1_000_001) });
    const { id } = await bench.create('large');
    expect(await paid(() => bench.lookAfter(MINUTE_MS))).toBe(0n);
    const { error } = await bench.task(id);
    expect(error?.message).toContain('larger than the maximum of 1000000 bytes');
  });

  test('keeps its files for a week and then removes them', async () => {
    bench.upstream.script('/swept/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('swept'), providerVideo('completed'));
    bench.upstream.script(video('swept'), videoAnswer);
    const before = filesKept();
    const { id } = await bench.create('swept');
    await bench.lookAfter(MINUTE_MS);
    const [{ file = '' } = {}] = (await bench.task(id)).outputs;
    bench.turn(7 * 24 * HOUR_MS - 2 * MINUTE_MS);
    await bench.lookAfter(0);
    expect(await bench.deps.files.size(file)).toBe(videoAnswer.bytes?.length);
    await bench.lookAfter(2 * MINUTE_MS);
    expect(await bench.deps.files.size(file)).toBeUndefined();
    expect(await bench.task(id)).toMatchObject({ state: 'completed', emptied: true });
    expect(filesKept()).toBeLessThanOrEqual(before);
  });

  test('does not call a webhook whose name resolves to a private address, and calls it once it does not', async () => {
    const port = new URL(bench.upstream.url).port;
    bench.upstream.script('/hook/v1/videos', providerVideo('queued'));
    bench.upstream.script(status('hook'), providerVideo('failed'));
    bench.upstream.script('/webhook', { status: 204 });
    bench.hookLeadsTo('10.0.0.7');
    const { id } = await bench.create('hook', { webhook: `http://hook.test:${port}/webhook` });
    expect(await paid(() => bench.lookAfter(HOUR_MS))).toBe(0n);
    expect((await bench.task(id)).webhook?.told).toBeUndefined();
    expect(bench.upstream.journal('/webhook')).toEqual([]);
    bench.hookLeadsTo('127.0.0.1');
    await bench.lookAfter(6 * MINUTE_MS);
    expect(bench.upstream.journal('/webhook')).toMatchObject([{ body: { type: 'video.failed', data: { id } } }]);
    await expect(bench.create('hook', { webhook: 'http://10.0.0.7/webhook' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
