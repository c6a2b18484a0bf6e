/**
 * Processes killed between any two steps of video tasks: after a restart each task is started once, and charged once or released, under the
 * id its client has.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { type GatewayProcess, type ModelSetting, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { nanoCost } from '../helpers/scene.ts';
import { inDatabase, layStall, removeStall, stalled } from '../helpers/stall.ts';
import {
  authorized,
  providerVideo,
  SECOND_PRICE,
  VIDEO,
  type VideoView,
  videoAnswer,
  watch,
} from '../helpers/videos.ts';
import type { Answer } from '../upstream/answer.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

/** The state of a task when its process was killed, by the names of stored members. */
type Reached = 'nothing' | 'held' | 'unsent' | 'sent' | 'started' | 'due' | 'completed' | 'failed';

interface Point {
  name: string;
  /** A provider that knows tasks by our id. */
  findsById?: true;
  /** Where the database blocks; absent: `provider` does. */
  stall?: (name: string) => string;
  /** What the provider or the webhook does once instead of a normal answer. */
  provider?: { to: 'start' | 'poll' | 'video' | 'hook'; answer: Answer };
  reached: Reached;
  end: 'completed' | 'failed' | 'none';
  /** Requests of each kind, of both processes. */
  starts: number;
}

const silence: Answer = { fault: { before: 'headers', does: 'silence' } };
/** A video that stops in the middle. */
const half: Answer = { ...videoAnswer, fault: { before: 0, inside: 'event', does: 'silence' } };
const saving = (member: string) => (name: string) =>
  `UPDATE ON tasks WHEN NEW.body LIKE '%"model":"${name}"%' AND NEW.body LIKE '%${member}%'`;
const settling = (name: string) => `DELETE ON holds WHEN OLD.model = '${name}'`;

const POINTS: Point[] = [
  { name: 'held-no-task', stall: () => 'INSERT ON tasks', reached: 'held', end: 'none', starts: 0 },
  { name: 'task-not-sent', stall: saving('"sent":true'), reached: 'unsent', end: 'completed', starts: 1 },
  { name: 'sent-no-handle', stall: saving('"handle":'), reached: 'sent', end: 'failed', starts: 1 },
  { name: 'sent-can-tell', stall: saving('"handle":'), findsById: true, reached: 'sent', end: 'completed', starts: 1 },
  { name: 'no-answer', provider: { to: 'start', answer: silence }, reached: 'sent', end: 'failed', starts: 1 },
  {
    name: 'no-answer-can-tell',
    provider: { to: 'start', answer: silence },
    findsById: true,
    reached: 'sent',
    end: 'completed',
    starts: 1,
  },
  { name: 'mid-poll', provider: { to: 'poll', answer: silence }, reached: 'started', end: 'completed', starts: 1 },
  { name: 'mid-download', provider: { to: 'video', answer: half }, reached: 'started', end: 'completed', starts: 1 },
  { name: 'kept-not-due', stall: saving('"due":'), reached: 'started', end: 'completed', starts: 1 },
  { name: 'due-not-settled', stall: settling, reached: 'due', end: 'completed', starts: 1 },
  { name: 'settled-not-told', stall: saving('"state":"completed"'), reached: 'due', end: 'completed', starts: 1 },
  {
    name: 'failed-not-released',
    stall: settling,
    provider: { to: 'poll', answer: providerVideo('failed') },
    reached: 'failed',
    end: 'failed',
    starts: 1,
  },
  { name: 'mid-webhook', provider: { to: 'hook', answer: silence }, reached: 'completed', end: 'completed', starts: 1 },
];

let upstream: ScriptedUpstream;
let gateway: GatewayProcess;
let caller: TestCaller;
const start = (dataFolder?: string) =>
  startGateway({
    providers: POINTS.map(({ name, findsById }) => ({
      name,
      // The sandbox's adapter uses OpenAI's format and polls early.
      type: findsById ? 'kling' : 'sandbox',
      baseUrl: `${upstream.url}/${name}/v1`.replace(findsById ? '/v1' : ' ', ''),
      credential: 'sk',
    })),
    models: POINTS.map(({ name }) => ({
      name,
      kind: 'video' as ModelSetting['kind'],
      price: SECOND_PRICE,
      targets: [{ provider: name, model: 'upstream-model' }],
    })),
    environment: { MODELPORT_FETCH_ALLOW: '127.0.0.0/8' },
    ...(dataFolder && { dataFolder }),
  });

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await start();
  caller = await gateway.newCaller('10.00');
}, 60_000);
afterAll(async () => {
  const { dataFolder } = gateway;
  await gateway.stop();
  await upstream.close();
  rmSync(dataFolder, { recursive: true, force: true });
}, 60_000);

/** The scripted provider's requests by purpose; each is answered normally except for one fault. */
function script({ name, findsById, provider }: Point): void {
  const reply = (status: string, more = {}) => ({
    json: { code: 0, data: { task_id: '42', task_status: status, ...more } },
  });
  const finished = findsById
    ? reply('succeed', { task_result: { videos: [{ url: `${upstream.url}/${name}/video` }] } })
    : providerVideo('completed');
  const well: { [to in 'start' | 'poll' | 'video' | 'hook']: [string, Answer] } = findsById
    ? {
        start: [`/${name}/v1/videos/text2video`, reply('submitted')],
        poll: [`/${name}/v1/videos/text2video/42`, finished],
        video: [`/${name}/video`, videoAnswer],
        hook: [`/${name}/hook`, { status: 204 }],
      }
    : {
        start: [`/${name}/v1/videos`, providerVideo('queued')],
        poll: [`/${name}/v1/videos/vid_upstream`, finished],
        video: [`/${name}/v1/videos/vid_upstream/content`, videoAnswer],
        hook: [`/${name}/hook`, { status: 204 }],
      };
  for (const [to, [path, answer]] of Object.entries(well)) {
    if (provider?.to === to) upstream.script(path, provider.answer);
    upstream.script(path, { ...answer, repeat: true });
  }
}

const startsOf = (name: string) =>
  upstream.journal(`/${name}/`).filter(({ method, path }) => method === 'POST' && !path.endsWith('/hook'));

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it did not come to pass: ${what}`);
    await Bun.sleep(20);
  }
}

/** Orders a task whose client may never get an answer. */
function ask({ name, provider }: Point): void {
  const hook = provider?.to === 'hook' && { webhook_url: `${upstream.url}/${name}/hook` };
  void fetch(`${gateway.url}/v1/videos`, {
    method: 'POST',
    headers: { ...authorized({ caller }), 'content-type': 'application/json' },
    body: JSON.stringify({ model: name, prompt: 'A cat', seconds: 4, ...hook }),
  }).catch(() => undefined);
}

/** The state that the killed process had reached. */
function cameOf(name: string): Reached {
  return inDatabase(gateway.dataFolder, (file) => {
    const row = file
      .query<{ body: string }, [string]>(`SELECT body FROM tasks WHERE body LIKE ?`)
      .get(`%"model":"${name}"%`);
    const hold = file.query<object, [string]>('SELECT * FROM holds WHERE model = ?').get(name);
    if (!row) return hold ? 'held' : 'nothing';
    const task = JSON.parse(row.body) as { [member: string]: unknown };
    if (task.state === 'completed' || task.state === 'failed') return task.state;
    if (task.due) return 'due';
    if (task.handle !== undefined) return 'started';
    return task.sent ? 'sent' : 'unsent';
  });
}

async function killAndRestart(points: readonly Point[]): Promise<void> {
  await gateway.kill();
  expect(points.map(({ name }) => [name, cameOf(name)])).toEqual(points.map(({ name, reached }) => [name, reached]));
  if (points.some(({ stall }) => stall)) removeStall(gateway.dataFolder);
  // A recent hold without a task may still get one: pretend that two minutes have passed.
  inDatabase(gateway.dataFolder, (file) => file.run(`UPDATE holds SET at = at - 120000 WHERE model = 'held-no-task'`));
  gateway = await start(gateway.dataFolder);
}

test.each(POINTS.filter(({ stall }) => stall).map((point) => [point.name, point] as const))(
  'killed at the point: %s',
  async (name, point) => {
    script(point);
    layStall(gateway.dataFolder, point.stall?.(name) ?? '');
    ask(point);
    await stalled(gateway.dataFolder);
    await killAndRestart([point]);
  },
  60_000,
);

test('killed while the provider or the webhook is silent', async () => {
  const silent = POINTS.filter(({ stall }) => !stall);
  for (const point of silent) {
    script(point);
    ask(point);
  }
  const last = { start: '/v1/videos', poll: '/vid_upstream', video: '/content', hook: '/hook' } as const;
  for (const { name, provider } of silent) {
    const to = last[provider?.to ?? 'start'];
    await until(`${name} is asked`, () =>
      upstream.journal(`/${name}/`).some(({ path }) => path.endsWith(to) || path.endsWith('/text2video')),
    );
  }
  await killAndRestart(silent);
}, 60_000);

test('each is started once, and charged once or released, under the id its client has', async () => {
  const listed = await fetch(`${gateway.url}/v1/videos?limit=100`, { headers: authorized({ caller }) });
  const { data } = (await listed.json()) as { data: VideoView[] };
  const made = POINTS.filter(({ end }) => end !== 'none').map(({ name }) => name);
  expect(data.map(({ model }) => model).sort()).toEqual(made.sort());
  const ends = new Map<string, string>();
  for (const { id, model } of data) {
    const { last } = await watch(gateway.url, { caller }, id);
    ends.set(model, last.status);
    if (last.status !== 'completed') continue;
    const content = await fetch(`${gateway.url}/v1/videos/${id}/content`, { headers: authorized({ caller }) });
    expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
  }
  for (const { name, end, starts } of POINTS) {
    expect([name, ends.get(name) ?? 'none', startsOf(name).length]).toEqual([name, end, starts]);
  }
  // It was looked up by our id first.
  expect(upstream.journal('/no-answer-can-tell/')[1]?.path).toMatch(/\/v1\/videos\/text2video\/video_\w{32}$/);
  await until('nothing is held', async () => (await gateway.verify()).holds === 0);
  expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
  const paid = (await gateway.calls(caller)).map((call) => [call.model, nanoCost(call)] as const);
  expect(paid).toHaveLength(POINTS.length);
  for (const { name, end } of POINTS)
    expect([name, new Map(paid).get(name)]).toEqual([name, end === 'completed' ? 400_000_000n : 0n]);
  // It is called again: webhooks are delivered at least once.
  await until('the webhook is called', () => upstream.journal('/mid-webhook/hook').length >= 2);
  const ids = upstream.journal('/mid-webhook/hook').map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
}, 60_000);

test('a stop waits for a running start, and the next process continues the task', async () => {
  upstream.forget('/mid-poll/v1/videos');
  upstream.script('/mid-poll/v1/videos', { ...providerVideo('queued'), fault: { before: 'headers', does: 2000 } });
  const startCount = startsOf('mid-poll').length;
  const created = fetch(`${gateway.url}/v1/videos`, {
    method: 'POST',
    headers: { ...authorized({ caller }), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mid-poll', prompt: 'A cat', seconds: 4 }),
  });
  await until('it is started', () => startsOf('mid-poll').length > startCount);
  const stopped = gateway.stop('keep');
  const answer = await created;
  expect(answer.status).toBe(200);
  expect(await stopped).toBe(0);
  const { id } = (await answer.json()) as VideoView;
  gateway = await start(gateway.dataFolder);
  expect((await watch(gateway.url, { caller }, id)).last.status).toBe('completed');
  expect(startsOf('mid-poll').length).toBe(startCount + 1);
}, 60_000);

test('no incomplete file stays', async () => {
  const kept = [...new Bun.Glob('**/*').scanSync(`${gateway.dataFolder}/files`)];
  expect(kept.filter((path) => path.endsWith('.part'))).toEqual([]);
  // One for each killed process, and one for the stopped one.
  expect(kept).toHaveLength(POINTS.filter(({ end }) => end === 'completed').length + 1);
});
