import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { providerVideo, videoAnswer } from '../../test/helpers/videos.ts';
import { LASTING_OWNER } from '../ledger/ledger.ts';
import { LEASE_MS } from './held-task.ts';
import { releaseOrphans, startRunner } from './runner.ts';
import { writeBody } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench(['dead', 'orphans', 'crowd', 'calm', 'stop', 'twice']);
});
afterAll(() => bench.close());

const status = (name: string) => `/${name}/v1/videos/vid_upstream`;
const looks = (name: string) => bench.upstream.journal(status(name)).length;

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it did not come to pass');
    await Bun.sleep(20);
  }
}

/** Runs a runner while `work` runs. */
async function running(deps: TaskDeps, work: () => Promise<unknown>): Promise<void> {
  const runner = startRunner(deps);
  try {
    await work();
  } finally {
    await runner.stop(5000);
  }
}

/** Creates a task that waits at its provider, leased to this worker. */
async function taskIn(worker: string): Promise<string> {
  bench.upstream.script('/dead/v1/videos', providerVideo('queued'));
  const { id } = await bench.create('dead');
  const task = await bench.task(id);
  const now = bench.now();
  await bench.deps.store.tasks.take(id, worker, now, now + LEASE_MS);
  await bench.deps.store.tasks.save(id, worker, { body: writeBody(task), dueAt: now, release: false });
  return id;
}

test('tasks of a dead process are taken over at once, those of a live or unknown process are not', async () => {
  bench.upstream.script(status('dead'), { ...providerVideo('failed'), repeat: true });
  const fates = { dead: 'gone', alive: 'alive', stranger: 'unknown' } as const;
  const ids = new Map<string, string>();
  for (const worker of Object.keys(fates)) ids.set(worker, await taskIn(worker));
  const processStatusOf = (worker: string) => fates[worker as keyof typeof fates];
  const stateOf = async (worker: string) => (await bench.task(ids.get(worker) ?? '')).state;
  await running({ ...bench.deps, processStatusOf }, async () => {
    await until(async () => (await stateOf('dead')) === 'failed');
    await Bun.sleep(700);
    expect([await stateOf('alive'), await stateOf('stranger')]).toEqual(['queued', 'queued']);
    // For unknown processes, and for live ones without progress, the lease decides.
    bench.turn(LEASE_MS);
    await until(async () => (await stateOf('stranger')) === 'failed' && (await stateOf('alive')) === 'failed');
  });
  expect(await bench.held()).toBe(0n);
});

test('a hold without a task is released after two minutes, and other holds never are', async () => {
  const { deps, upstream } = bench;
  upstream.script('/orphans/v1/videos', providerVideo('queued'));
  const { id, account, key, priceId } = await bench.create('orphans');
  const orphan = { callId: 'video_orphan', account, key, amount: 1n, model: 'orphans', priceId, at: bench.now() };
  await deps.ledger.hold({ ...orphan, owner: LASTING_OWNER });
  const open = async () => (await deps.store.holds()).map(({ callId }) => callId).sort();
  await releaseOrphans(deps, bench.now() + 119_000);
  expect(await open()).toEqual([id, 'video_orphan'].sort());
  await releaseOrphans(deps, bench.now() + 120_000);
  expect(await open()).toEqual([id]);
  expect(await deps.store.call('video_orphan')).toMatchObject({ outcome: 'interrupted', cost: 0n });
  await releaseOrphans(deps, bench.now() + 86_400_000);
  expect(await open()).toEqual([id]);
  upstream.script(status('orphans'), providerVideo('failed'));
  await bench.lookAfter(60_000);
  expect(await open()).toEqual([]);
});

test('a failed task whose process died before the release is released by another process', async () => {
  const { deps, upstream } = bench;
  upstream.script('/orphans/v1/videos', providerVideo('queued'));
  const failed = await bench.create('orphans');
  await deps.store.tasks.take(failed.id, 'bench', bench.now(), bench.now() + 1);
  const body = writeBody({ ...failed, state: 'failed', error: { code: 'task_expired', message: 'late' } });
  await deps.store.tasks.save(failed.id, 'bench', { body, dueAt: bench.now(), release: true });
  expect(await bench.held()).toBe(400_000_000n);
  await bench.lookAfter(0);
  expect(await bench.held()).toBe(0n);
  expect(await deps.store.call(failed.id)).toMatchObject({ outcome: 'failed', errorCode: 'task_expired', cost: 0n });
});

test('webhooks that never answer delay no video', async () => {
  const { deps, upstream } = bench;
  upstream.script('/never', { fault: { before: 'headers', does: 'silence' }, repeat: true });
  upstream.script('/calm/v1/videos', providerVideo('queued'));
  const calm = await bench.create('calm');
  const { port } = new URL(upstream.url);
  for (let made = 0; made < 150; made++) {
    const id = `video_crowd${made}`;
    const ended = {
      ...calm,
      id,
      state: 'failed' as const,
      webhook: { url: `http://hook.test:${port}/never`, tries: 0 },
    };
    const row = { id, account: calm.account, createdAt: bench.now(), dueAt: bench.now(), body: writeBody(ended) };
    await deps.store.tasks.insert(row, 'gone', bench.now());
  }
  upstream.script(status('calm'), providerVideo('completed'));
  upstream.script(`${status('calm')}/content`, videoAnswer);
  const runner = startRunner(deps);
  await until(() => upstream.journal('/never').length > 0);
  bench.turn(10_000);
  await until(async () => (await bench.task(calm.id)).state === 'completed');
  expect(upstream.journal('/never').length).toBeLessThanOrEqual(64);
  // It does not wait for them longer than its limit.
  const begun = performance.now();
  await runner.stop(300);
  expect(performance.now() - begun).toBeLessThan(10_000);
  upstream.forget('/never');
}, 60_000);

test('a stop waits for the running poll and starts no other', async () => {
  const { upstream } = bench;
  upstream.script('/stop/v1/videos', providerVideo('queued'));
  const slow = { ...providerVideo('in_progress', { progress: 40 }), fault: { before: 'headers', does: 600 } } as const;
  upstream.script(status('stop'), slow);
  const { id } = await bench.create('stop');
  bench.turn(10_000);
  const runner = startRunner(bench.deps);
  await until(() => looks('stop') === 1);
  await runner.stop(5000);
  expect(await bench.task(id)).toMatchObject({ state: 'in_progress', percent: 40, looks: 1 });
  expect(looks('stop')).toBe(1);
}, 60_000);

test('a process that was blocked for longer than a lease does not take up its own tasks twice', async () => {
  const { upstream } = bench;
  upstream.script('/twice/v1/videos', providerVideo('queued'));
  const slow = { ...providerVideo('in_progress'), fault: { before: 'headers', does: 1500 } } as const;
  upstream.script(status('twice'), slow, providerVideo('failed'));
  await bench.create('twice');
  bench.turn(10_000);
  await running(bench.deps, async () => {
    await until(() => looks('twice') === 1);
    bench.turn(LEASE_MS + 1);
    await Bun.sleep(1000);
    expect(looks('twice')).toBe(1);
  });
}, 60_000);
