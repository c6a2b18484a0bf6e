import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readScrape, sumOf } from '../../test/helpers/scraped.ts';
import { inDatabase } from '../../test/helpers/stall.ts';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { providerVideo, videoAnswer } from '../../test/helpers/videos.ts';
import { GatewayError } from '../canonical/errors.ts';
import { releaseOrphans } from './runner.ts';

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench(['traced', 'saved', 'lost', 'absent', 'refused', 'doubt']);
});
afterAll(() => bench.close());

const starts = (name: string) => bench.upstream.journal(`/${name}/`).filter(({ method }) => method === 'POST').length;
const thrownBy = (work: Promise<unknown>): Promise<GatewayError> =>
  work.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (thrown) => (thrown instanceof GatewayError ? thrown : Promise.reject(thrown)),
  );

/** As stored with the record of the call. */
const receipt = async (id: string) =>
  JSON.parse((await bench.deps.store.call(id))?.receipt ?? 'null') as { [member: string]: unknown };

const TRACE = '0af7651916cd43dd8448eb211c80319c';

test('the record of a task has its attempts, and they are counted and exported as spans', async () => {
  bench.upstream.script('/traced/v1/videos', {
    status: 200,
    json: { id: 'vid_other', object: 'video', status: 'queued' },
  });
  bench.upstream.script('/traced/v1/videos/vid_other', providerVideo('failed'));
  const sent = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, 'x-modelport-tags': 'videos', 'x-request-id': 'mine' };
  const { id } = await bench.create('traced', { user: 'eve' }, sent);
  await bench.lookAfter(60_000);
  expect(await receipt(id)).toMatchObject({
    clientRequestId: 'mine',
    user: 'eve',
    tags: ['videos'],
    hold: '0.4',
    attempts: [{ provider: 'traced', target: 'traced/m', status: 200, outcome: 'ok', startedMs: 0, firstTokenMs: 0 }],
  });
  const series = readScrape(await bench.metrics.write({ ...bench.deps, gateway: { active: 0 } }, 'prometheus'));
  expect(sumOf(series, 'modelport_attempts_total', { provider: 'traced', outcome: 'ok' })).toBe(1);
  const spans = bench.spans.map((span) => JSON.parse(span)).filter(({ traceId }) => traceId === TRACE);
  expect(spans.map(({ name }) => name)).toEqual(['video_generation traced', 'video_generation m']);
  expect(spans[0]?.parentSpanId).toBe('b7ad6b7169203331');
  expect(spans[1]?.parentSpanId).toBe(spans[0]?.spanId);
  // The provider continues the trace below the attempt.
  const start = bench.upstream.journal('/traced/').find(({ method }) => method === 'POST');
  expect(start?.headers.traceparent).toBe(`00-${TRACE}-${spans[1]?.spanId}-01`);
});

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
  expect(bench.calls.at(-1)).toMatchObject({
    outcome: 'refused',
    cost: 0n,
    status: 400,
    errorCode: 'upstream_refused',
  });
  const id = bench.calls.at(-1)?.id ?? '';
  expect(await receipt(id)).toMatchObject({
    attempts: [{ provider: 'refused', target: 'refused/m', status: 400, outcome: 'failed' }],
    error: { message: 'Not this.' },
  });
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

test('a start with unknown result fails the task, and the client gets the error before its webhook is called', async () => {
  bench.upstream.script('/doubt/v1/videos', { status: 504 });
  bench.upstream.script('/webhook', { status: 204, fault: { before: 'headers', does: 500 } });
  const { port } = new URL(bench.upstream.url);
  const error = await thrownBy(bench.create('doubt', { webhook: `http://hook.test:${port}/webhook` }));
  expect([error.inDoubt, error.status]).toEqual([true, 504]);
  expect(bench.upstream.journal('/webhook')).toEqual([]);
  const { id } = bench.calls.at(-1) ?? { id: '' };
  expect(await bench.task(id)).toMatchObject({ state: 'failed', error: { code: 'upstream_failed' } });
  await bench.lookAfter(0);
  expect(bench.upstream.journal('/webhook')).toMatchObject([{ body: { type: 'video.failed', data: { id } } }]);
  expect(starts('doubt')).toBe(1);
});
