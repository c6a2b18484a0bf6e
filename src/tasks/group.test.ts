/** Several videos in one order: one task each if the provider generates one at a time, shown to the client as one task. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { providerVideo, videoAnswer } from '../../test/helpers/videos.ts';
import { SIBLING } from './group.ts';

const NAMES = ['all', 'some', 'none', 'refused', 'poor', 'again', 'gone', 'hooked', 'seeds', 'dead'];
/** Four seconds at 0.10 USD. */
const ONE = 400_000_000n;

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench(NAMES);
});
afterAll(() => bench.close());

/** Makes the provider answer `n` orders with ids, and polls with these ends. */
function script(name: string, ends: readonly ('completed' | 'failed')[]): void {
  for (const [place, end] of ends.entries()) {
    const id = `vid_${place}`;
    bench.upstream.script(`/${name}/v1/videos`, providerVideo('queued', { id }));
    bench.upstream.script(`/${name}/v1/videos/${id}`, providerVideo(end, { id }));
    bench.upstream.script(`/${name}/v1/videos/${id}/content`, videoAnswer);
  }
}

const orders = (name: string) => bench.upstream.journal(`/${name}/`).filter(({ method }) => method === 'POST');
const find = (id: string) => bench.videos.find(bench.caller, id);

test('each video is held, generated, stored and charged, and the client sees one task', async () => {
  const [held, spent] = [await bench.held(), await bench.spent()];
  script('all', ['completed', 'completed', 'completed']);
  const { id, siblings = [] } = await bench.create('all', { n: 3 });
  expect(siblings).toHaveLength(2);
  expect((await bench.held()) - held).toBe(3n * ONE);
  await bench.lookAfter(60_000);
  expect(orders('all')).toHaveLength(3);
  const task = await find(id);
  expect(task).toMatchObject({ state: 'completed', percent: 100 });
  expect(new Set(task.outputs.map(({ file }) => file)).size).toBe(3);
  expect((await bench.spent()) - spent).toBe(3n * ONE);
  expect(await bench.held()).toBe(held);
  const listed = await bench.videos.list(bench.caller, { limit: 100 });
  expect(listed.filter((one) => one.id.startsWith(SIBLING))).toEqual([]);
  expect(listed.find((one) => one.id === id)?.outputs).toHaveLength(3);
  for (const sibling of siblings) await expect(find(sibling)).rejects.toMatchObject({ code: 'not_found' });
});

test('a failed video is not charged, and the others are available', async () => {
  const spent = await bench.spent();
  script('some', ['completed', 'failed', 'completed']);
  const { id } = await bench.create('some', { n: 3 });
  await bench.lookAfter(60_000);
  const task = await find(id);
  expect([task.state, task.outputs.length, task.error]).toEqual(['completed', 2, undefined]);
  expect((await bench.spent()) - spent).toBe(2n * ONE);
  script('none', ['failed', 'failed']);
  const lost = await bench.create('none', { n: 2 });
  await bench.lookAfter(60_000);
  expect(await find(lost.id)).toMatchObject({ state: 'failed', error: expect.anything() });
  expect((await bench.spent()) - spent).toBe(2n * ONE);
});

test('an order that the provider refuses leaves no task, no hold and no further start', async () => {
  const held = await bench.held();
  bench.upstream.script('/refused/v1/videos', { status: 400, json: { error: { message: 'Not this.' } } });
  await expect(bench.create('refused', { n: 4 })).rejects.toMatchObject({ status: 400 });
  await bench.lookAfter(700_000);
  expect(orders('refused')).toHaveLength(1);
  expect(await bench.held()).toBe(held);
});

test('an order above the balance makes no hold', async () => {
  const held = await bench.held();
  await expect(bench.create('poor', { n: 10, seconds: 20 })).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect([await bench.held(), orders('poor').length]).toEqual([held, 0]);
});

test('the same idempotency key returns the same order', async () => {
  script('again', ['completed', 'completed']);
  const submission = {
    caller: bench.caller,
    format: 'test',
    strict: false,
    ask: { model: 'again', prompt: 'A cat', seconds: 4, n: 2, images: [], metadata: {} },
    idempotencyKey: 'one',
  };
  const first = await bench.videos.create(submission);
  const second = await bench.videos.create(submission);
  await bench.lookAfter(60_000);
  const third = await bench.videos.create(submission);
  expect([second.id, third.id, third.state, third.outputs.length]).toEqual([first.id, first.id, 'completed', 2]);
  expect(orders('again')).toHaveLength(2);
});

test('after a crash following the first start another process starts the others', async () => {
  script('dead', ['completed', 'completed', 'completed']);
  const { insert, save } = bench.deps.store.tasks;
  const ids: string[] = [];
  bench.deps.store.tasks.insert = (row, worker, until) => {
    ids.push(row.id);
    return insert(row, row.id.startsWith(SIBLING) ? 'dead' : worker, until);
  };
  const { id } = await bench.create('dead', { n: 3 });
  Object.assign(bench.deps.store.tasks, { insert, save });
  await bench.lookAfter(20_000);
  expect(orders('dead')).toHaveLength(1);
  expect(await find(id)).toMatchObject({ state: 'in_progress' });
  await bench.deps.store.tasks.releaseOf(['dead']);
  await bench.lookAfter(60_000);
  expect(orders('dead')).toHaveLength(3);
  expect((await find(id)).outputs).toHaveLength(3);
});

test('removing the task removes all its files', async () => {
  script('gone', ['completed', 'completed']);
  const { id, siblings = [] } = await bench.create('gone', { n: 2 });
  await bench.lookAfter(60_000);
  const { outputs } = await find(id);
  await bench.videos.remove(bench.caller, id);
  for (const { file } of outputs) expect(await bench.deps.files.size(file)).toBeUndefined();
  for (const one of [id, ...siblings]) expect(await bench.deps.store.tasks.task(one)).toBeUndefined();
});

test('the webhook is called once, when all videos have ended', async () => {
  const deliveries: { data: { status: string } }[] = [];
  const hook = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      deliveries.push((await request.json()) as never);
      return new Response();
    },
  });
  script('hooked', ['failed', 'completed']);
  await bench.create('hooked', { n: 2, webhook: `http://hook.test:${hook.port}/` });
  await bench.lookAfter(120_000);
  await hook.stop(true);
  expect(deliveries.map(({ data }) => data.status)).toEqual(['completed']);
});

describe('a provider that generates several at once', () => {
  test('gets one order', async () => {
    const { tasksFor } = await import('./group.ts');
    const { google, openai } = { google: 'google', openai: 'openai' };
    const target = (type: string) => ({
      id: type,
      provider: type,
      type,
      model: 'm',
      baseUrl: 'http://upstream.test',
      credentials: ['k'],
      settings: {},
      priority: 0,
      weight: 1,
    });
    const count = (n: number, ...types: string[]) => tasksFor(bench.deps, n, types.map(target));
    expect([count(4, google), count(5, google), count(2, openai), count(2, google, openai), count(1, openai)]).toEqual([
      1, 5, 2, 2, 1,
    ]);
  });
});
