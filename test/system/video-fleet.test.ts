/**
 * 2,000 video tasks over four processes on Postgres, one of them killed: none is lost, none is polled twice at the same time, and all are
 * charged once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayProcess, type ModelSetting, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { hasPostgres, testPostgres } from '../helpers/postgres.ts';
import { nanoOf } from '../helpers/scene.ts';
import { authorized, SECOND_PRICE, VIDEO, type VideoView } from '../helpers/videos.ts';

/** The provider's record of one task. */
type TaskRecord = { starts: number; polls: number[]; asking: number; videos: number };

const TASKS = 2000;
const PROCESSES = 4;
/** Concurrent clients at each process. */
const CLIENTS = 6;
const ANSWER_MS = 15;
/** The first poll interval, minus the random variation of a fifth. */
const SOONEST_LOOK_MS = 4000;
/** The maximum of tasks in progress in one process. */
const PLACES = 64;

/** A provider in OpenAI's format that counts requests. It finishes nothing before `finish`, and no task before its second poll. */
function startProvider() {
  const tasks = new Map<string, TaskRecord>();
  const seen = { twiceAtOnce: 0, asking: 0, mostAtOnce: 0 };
  let finishes = false;
  async function poll(id: string, made: TaskRecord, signal: AbortSignal): Promise<Response> {
    made.polls.push(Date.now());
    made.asking++;
    seen.asking++;
    if (made.asking > 1) seen.twiceAtOnce++;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.asking);
    const left = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => left.resolve());
    await Promise.race([Bun.sleep(ANSWER_MS), left.promise]);
    made.asking--;
    seen.asking--;
    const isDone = finishes && made.polls.length >= 2;
    return Response.json({ id, object: 'video', status: isDone ? 'completed' : 'in_progress', progress: 5 });
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (request.method === 'POST') {
        const { prompt } = (await request.json()) as { prompt: string };
        const made = tasks.get(prompt) ?? { starts: 0, polls: [], asking: 0, videos: 0 };
        tasks.set(prompt, { ...made, starts: made.starts + 1 });
        return Response.json({ id: prompt, object: 'video', status: 'queued', progress: 0 });
      }
      const [, id = '', video] = /\/videos\/([^/]+)(\/content)?$/.exec(path) ?? [];
      const made = tasks.get(id);
      if (!made) return Response.json({ error: { message: 'no such video' } }, { status: 404 });
      if (video === undefined) return poll(id, made, request.signal);
      made.videos++;
      return new Response(VIDEO, { headers: { 'content-type': 'video/mp4' } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    tasks,
    seen,
    finish() {
      finishes = true;
    },
    stop: () => server.stop(true),
  };
}

describe.skipIf(!hasPostgres)('Postgres', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-fleet-'));
  const gateways: GatewayProcess[] = [];
  let provider: ReturnType<typeof startProvider>;
  let caller: TestCaller;
  let first: GatewayProcess;

  beforeAll(async () => {
    provider = startProvider();
    const databaseUrl = await (await testPostgres()).freshDatabase();
    const setup = {
      dataFolder: folder,
      environment: { DATABASE_URL: databaseUrl, MODELPORT_LOG_LEVEL: 'error', MODELPORT_VIDEO_POLL_MS: '0' },
      providers: [{ name: 'provider', type: 'openai', baseUrl: `${provider.url}/v1`, credential: 'sk' }],
      models: [
        {
          name: 'video',
          kind: 'video' as ModelSetting['kind'],
          price: SECOND_PRICE,
          targets: [{ provider: 'provider', model: 'm' }],
        },
      ],
    };
    first = await startGateway(setup);
    gateways.push(first, ...(await Promise.all(Array.from({ length: PROCESSES - 1 }, () => startGateway(setup)))));
    caller = await first.newCaller('1000.00');
  }, 60_000);
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop('keep')));
    provider.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** Creates every task at one of the processes; ids by prompt. */
  async function createAll(): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    let next = 0;
    async function client(url: string): Promise<void> {
      for (let number = next++; number < TASKS; number = next++) {
        const prompt = `task-${number}`;
        const answer = await fetch(`${url}/v1/videos`, {
          method: 'POST',
          headers: { ...authorized({ caller }), 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'video', prompt, seconds: 1 }),
        });
        const { id } = (await answer.json()) as VideoView;
        ids.set(prompt, id);
      }
    }
    await Promise.all(gateways.flatMap(({ url }) => Array.from({ length: CLIENTS }, () => client(url))));
    return ids;
  }

  /** Every task of the account, page by page. */
  async function everyTask(): Promise<VideoView[]> {
    const all: VideoView[] = [];
    for (;;) {
      const after = all.length > 0 ? `&after=${all.at(-1)?.id}` : '';
      const answer = await fetch(`${first.url}/v1/videos?limit=100${after}`, { headers: authorized({ caller }) });
      const page = (await answer.json()) as { data: VideoView[]; has_more: boolean };
      all.push(...page.data);
      if (!page.has_more) return all;
    }
  }

  test('created at four processes, processed by four, then by three', async () => {
    const begun = Date.now();
    const ids = await createAll();
    const createdMs = Date.now() - begun;
    expect(ids.size).toBe(TASKS);
    expect((await first.balance(caller)).held).toBe('200');
    provider.finish();
    await gateways.pop()?.kill();

    const deadline = Date.now() + 180_000;
    while ((await first.balance(caller)).held !== '0' && Date.now() < deadline) await Bun.sleep(250);
    const all = await everyTask();
    expect(all.filter(({ status }) => status !== 'completed')).toEqual([]);
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids.values()));
    const wholeMs = Date.now() - begun;

    const made = [...provider.tasks.values()];
    expect(made).toHaveLength(TASKS);
    expect(made.filter(({ starts }) => starts !== 1)).toEqual([]);
    expect(provider.seen.twiceAtOnce).toBe(0);
    expect(provider.seen.mostAtOnce).toBeLessThanOrEqual(PROCESSES * PLACES);
    // Only tasks of the killed process are polled earlier than the interval.
    const hasty = made.filter(({ polls }) =>
      polls.some((at, n) => n > 0 && at - (polls[n - 1] ?? 0) < SOONEST_LOOK_MS),
    );
    expect(hasty.length).toBeLessThanOrEqual(PLACES);
    // Only tasks of the killed process are downloaded again.
    expect(made.filter(({ videos }) => videos > 1).length).toBeLessThanOrEqual(PLACES);

    const verification = await first.verify();
    expect(verification).toMatchObject({ ok: true, holds: 0 });
    expect(nanoOf((await first.balance(caller)).available)).toBe(nanoOf('1000') - BigInt(TASKS) * nanoOf('0.1'));
    const polls = made.reduce((sum, one) => sum + one.polls.length, 0);
    console.info(
      `${TASKS} tasks: created within ${createdMs} ms, all settled after ${wholeMs} ms; ${polls} polls, at most ${provider.seen.mostAtOnce} at once`,
    );
  }, 300_000);
});
