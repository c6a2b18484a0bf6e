import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { providerVideo, videoAnswer } from '../../test/helpers/videos.ts';
import { LEASE_MS } from './held-task.ts';
import { writeBody } from './task.ts';

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench(['ended', 'going', 'due', 'held', 'drain']);
});
afterAll(() => bench.close());

const status = (name: string) => `/${name}/v1/videos/vid_upstream`;
const conflict = { code: 'conflict', status: 409 };

test('removing an ended task removes its files', async () => {
  bench.upstream.script('/ended/v1/videos', providerVideo('queued'));
  bench.upstream.script(status('ended'), providerVideo('completed'));
  bench.upstream.script(`${status('ended')}/content`, videoAnswer);
  const { id } = await bench.create('ended');
  await bench.lookAfter(10_000);
  const [{ file = '' } = {}] = (await bench.task(id)).outputs;
  expect(await bench.deps.files.size(file)).toBe(videoAnswer.bytes?.length);
  await bench.videos.remove(bench.caller, id);
  expect(await bench.deps.files.size(file)).toBeUndefined();
  await expect(bench.videos.find(bench.caller, id)).rejects.toMatchObject({ code: 'not_found' });
});

test('a running task whose provider cannot cancel continues, without a lease', async () => {
  bench.upstream.script('/going/v1/videos', providerVideo('queued'));
  bench.upstream.script(status('going'), providerVideo('failed'));
  const { id } = await bench.create('going');
  await expect(bench.videos.remove(bench.caller, id)).rejects.toMatchObject(conflict);
  await bench.lookAfter(10_000);
  expect(await bench.task(id)).toMatchObject({ state: 'failed' });
  expect(await bench.held()).toBe(0n);
});

test('a task that is stored and about to be charged is not cancelled', async () => {
  const { deps, upstream } = bench;
  upstream.script('/due/v1/videos', providerVideo('queued'));
  const task = await bench.create('due');
  await deps.store.tasks.take(task.id, 'bench', bench.now(), bench.now() + LEASE_MS);
  const usage = { input: 0, output: 0, seconds: 4, source: 'counted' as const };
  const body = writeBody({ ...task, due: { usage, cost: 400_000_000n } });
  await deps.store.tasks.save(task.id, 'bench', { body, dueAt: bench.now(), release: true });
  await expect(bench.videos.remove(bench.caller, task.id)).rejects.toMatchObject(conflict);
  const spent = await bench.spent();
  await bench.lookAfter(0);
  expect((await bench.spent()) - spent).toBe(400_000_000n);
  expect(await bench.task(task.id)).toMatchObject({ state: 'completed' });
});

test('a removal waits while another worker has the task, and does not overwrite its changes', async () => {
  const { deps, upstream } = bench;
  upstream.script('/held/v1/videos', providerVideo('queued'));
  const task = await bench.create('held');
  await deps.store.tasks.take(task.id, 'other', bench.now(), bench.now() + LEASE_MS);
  const removing = bench.videos.remove(bench.caller, task.id);
  await Bun.sleep(300);
  const body = writeBody({ ...task, state: 'failed', error: { code: 'moderation_blocked', message: 'Not this.' } });
  expect(await deps.store.tasks.save(task.id, 'other', { body, dueAt: undefined, release: true })).toBe(true);
  await removing;
  expect(await deps.store.tasks.task(task.id)).toBeUndefined();
});

test('drain waits for running starts, up to a limit', async () => {
  const slow = { ...providerVideo('queued'), fault: { before: 'headers', does: 2500 } } as const;
  bench.upstream.script('/drain/v1/videos', slow, slow);
  let created = 0;
  for (let made = 0; made < 2; made++) void bench.create('drain').then(() => created++);
  while (bench.upstream.journal('/drain/').length < 2) await Bun.sleep(10);
  await bench.videos.drain(50);
  expect(created).toBe(0);
  await bench.videos.drain(10_000);
  expect(created).toBe(2);
  await bench.videos.drain(10_000);
});
