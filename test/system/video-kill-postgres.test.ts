/** Processes killed between two steps of video tasks on Postgres: saves and settlements are as durable as with SQLite. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { type GatewayProcess, type ModelSetting, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { hasPostgres, testPostgres } from '../helpers/postgres.ts';
import { nanoCost } from '../helpers/scene.ts';
import { authorized, providerVideo, SECOND_PRICE, type VideoView, videoAnswer, watch } from '../helpers/videos.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

/** Where the database blocks, the state of the task then, and its end. */
const POINTS = [
  ['sent', `UPDATE ON tasks FOR EACH ROW WHEN (NEW.body LIKE '%"handle":%')`, '"sent":true', 'failed'],
  ['kept', `UPDATE ON tasks FOR EACH ROW WHEN (NEW.body LIKE '%"due":%')`, '"files":["', 'completed'],
  ['due', 'DELETE ON holds FOR EACH ROW', '"due":{', 'completed'],
] as const;
const WITHIN_MS = 20_000;

describe.skipIf(!hasPostgres)('Postgres', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-killed-'));
  let upstream: ScriptedUpstream;
  let databaseUrl: string;
  let sql: SQL;
  let gateway: GatewayProcess;
  let caller: TestCaller;
  const start = () =>
    startGateway({
      dataFolder: folder,
      environment: { DATABASE_URL: databaseUrl },
      // The sandbox's adapter uses OpenAI's format and polls early.
      providers: POINTS.map(([name]) => ({ name, type: 'sandbox', baseUrl: `${upstream.url}/${name}/v1` })),
      models: POINTS.map(([name]) => ({
        name,
        kind: 'video' as ModelSetting['kind'],
        price: SECOND_PRICE,
        targets: [{ provider: name, model: 'm' }],
      })),
    });

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    databaseUrl = await (await testPostgres()).freshDatabase();
    sql = new SQL({ url: databaseUrl, max: 1 });
    gateway = await start();
    caller = await gateway.newCaller('10.00');
    await sql.unsafe(
      'CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$',
    );
  }, 60_000);
  afterAll(async () => {
    await sql.close();
    await gateway.stop('keep');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const SLEEPING = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + WITHIN_MS;
    while (!(await isSo())) {
      if (Date.now() > deadline) throw new Error('it did not come to pass');
      await Bun.sleep(50);
    }
  }

  test.each(POINTS)(
    'killed where it is %s',
    async (name, point, came, end) => {
      upstream.script(`/${name}/v1/videos`, providerVideo('queued'));
      upstream.script(`/${name}/v1/videos/vid_upstream`, { ...providerVideo('completed'), repeat: true });
      upstream.script(`/${name}/v1/videos/vid_upstream/content`, { ...videoAnswer, repeat: true });
      await sql.unsafe(`CREATE TRIGGER stall BEFORE ${point} EXECUTE FUNCTION stall()`);
      const body = JSON.stringify({ model: name, prompt: 'A cat', seconds: 4 });
      const headers = { ...authorized({ caller }), 'content-type': 'application/json' };
      void fetch(`${gateway.url}/v1/videos`, { method: 'POST', headers, body }).catch(() => undefined);
      await until(async () => (await sql.unsafe(`SELECT 1 ${SLEEPING}`)).length > 0);
      await gateway.kill();
      // The server does not notice that its client is gone.
      await sql.unsafe(`SELECT pg_terminate_backend(pid) ${SLEEPING}`);
      await until(async () => (await sql.unsafe(`SELECT 1 ${SLEEPING}`)).length === 0);
      await sql.unsafe(`DROP TRIGGER stall ON ${point.split(' ')[2]}`);
      const [task] = await sql.unsafe(`SELECT id, body FROM tasks WHERE body LIKE '%"model":"${name}"%'`);
      expect(task.body).toContain(came);

      gateway = await start();
      const { last } = await watch(gateway.url, { caller }, task.id, undefined, WITHIN_MS);
      expect(last).toMatchObject({ id: task.id, status: end } satisfies Partial<VideoView>);
      await until(async () => (await gateway.verify()).holds === 0);
      expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
      const calls = (await gateway.calls(caller)).filter(({ id }) => id === task.id);
      expect(calls.map(nanoCost)).toEqual([end === 'completed' ? 400_000_000n : 0n]);
      expect(upstream.journal(`/${name}/`).filter(({ method }) => method === 'POST')).toHaveLength(1);
    },
    60_000,
  );
});
