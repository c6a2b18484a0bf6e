import { afterAll, beforeAll, expect, test } from 'bun:test';
import { inDatabase } from '../../test/helpers/stall.ts';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { providerVideo, videoAnswer } from '../../test/helpers/videos.ts';
import { GatewayError } from '../canonical/errors.ts';
import { releaseOrphans } from './runner.ts';

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench(['saved', 'lost', 'absent', 'refused', 'doubt']);
});
afterAll(() => bench.close());

const starts = (name: string) => bench.upstream.journal(`/${name}/`).filter(({ method }) => method === 'POST').length;
const thrownBy = (work: Promise<unknown>): Promise<GatewayError> =>
  work.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (thrown) => (thrown instanceof GatewayError ? thrown : Promise.reject(thrown)),
  );

/** Makes the database refuse this statement while `work` runs. */
async function refusing<T>(point: string, work: () => Promise<T>): Promise<T> {
  inDatabase(bench.dataFolder, (file) =>
    file.run(`CREATE TRIGGER refuse BEFORE ${point} BEGIN SELECT RAISE(ABORT, 'no'); END`),
  );
  try {
    return await work();
  } finally {
    inDatabase(bench.dataFolder, (file) => file.run('DROP TRIGGER IF EXISTS refuse'));
  }
}

test('the provider’s task id is saved again until the database accepts it', async () => {
  bench.upstream.script('/saved/v1/videos/vid_upstream/content', videoAnswer);
  bench.upstream.script('/saved/v1/videos/vid_upstream', providerVideo('completed'));
  bench.upstream.script('/saved/v1/videos', providerVideo('queued'));
  const task = await refusing(`UPDATE ON tasks WHEN NEW.body LIKE '%"handle"%'`, async () => {
    const creating = bench.create('saved');
    while (starts('saved') === 0) await Bun.sleep(10);
    await Bun.sleep(600);
    inDatabase(bench.dataFolder, (file) => file.run('DROP TRIGGER refuse'));
    return creating;
  });
  await bench.lookAfter(60_000);
  expect(await bench.task(task.id)).toMatchObject({ state: 'completed' });
  expect(starts('saved')).toBe(1);
  expect(await bench.held()).toBe(0n);
});

test('a task that cannot be stored is not started, and the client must not retry by itself', async () => {
  const error = await refusing('INSERT ON tasks', () => thrownBy(bench.create('absent')));
  expect(error.inDoubt).toBe(true);
  expect(starts('absent')).toBe(0);
  expect(await bench.held()).toBe(400_000_000n);
  await releaseOrphans(bench.deps, bench.now() + 120_000);
  expect(await bench.held()).toBe(0n);
});

test('a start that cannot be recorded is not sent, and is made when the database works again', async () => {
  bench.upstream.script('/lost/v1/videos', providerVideo('queued'));
  const error = await refusing(`UPDATE ON tasks WHEN NEW.body LIKE '%"sent":true%'`, () =>
    thrownBy(bench.create('lost')),
  );
  expect(error.inDoubt).toBe(true);
  expect(starts('lost')).toBe(0);
  bench.upstream.script('/lost/v1/videos/vid_upstream', providerVideo('failed'));
  await bench.lookAfter(60_000);
  expect(starts('lost')).toBe(1);
  expect(await bench.held()).toBe(0n);
});

test('a refused task leaves nothing behind, and the client may retry', async () => {
  bench.upstream.script('/refused/v1/videos', { status: 400, json: { error: { message: 'Not this.' } } });
  const error = await thrownBy(bench.create('refused'));
  expect([error.inDoubt, error.message]).toEqual([false, 'Not this.']);
  expect(bench.calls.at(-1)).toMatchObject({ outcome: 'refused', cost: 0n });
  const id = bench.calls.at(-1)?.id ?? '';
  expect(await bench.deps.store.tasks.task(id)).toBeUndefined();
  expect(await bench.held()).toBe(0n);
});

test('if a refused task cannot be removed, the client must not retry by itself', async () => {
  bench.upstream.script('/refused/v1/videos', { status: 400, json: { error: { message: 'Not this.' } } });
  const error = await refusing('DELETE ON tasks', () => thrownBy(bench.create('refused')));
  expect(error.inDoubt).toBe(true);
  bench.upstream.script('/refused/v1/videos', { status: 400, json: { error: { message: 'Not this.' } } });
  await bench.lookAfter(60_000);
  expect(await bench.held()).toBe(0n);
});

test('a start of unknown result fails the task, and the client is told before its webhook is called', async () => {
  bench.upstream.script('/doubt/v1/videos', { status: 504 });
  bench.upstream.script('/told', { status: 204, fault: { before: 'headers', does: 500 } });
  const { port } = new URL(bench.upstream.url);
  const error = await thrownBy(bench.create('doubt', { webhook: `http://hook.test:${port}/told` }));
  expect([error.inDoubt, error.status]).toEqual([true, 504]);
  expect(bench.upstream.journal('/told')).toEqual([]);
  const { id } = bench.calls.at(-1) ?? { id: '' };
  expect(await bench.task(id)).toMatchObject({ state: 'failed', error: { code: 'upstream_failed' } });
  await bench.lookAfter(0);
  expect(bench.upstream.journal('/told')).toMatchObject([{ body: { type: 'video.failed', data: { id } } }]);
  expect(starts('doubt')).toBe(1);
});
