/**
 * The upgrade promise: this program takes over the database of the previous release, and that release goes on with the database
 * afterwards. `test/upgrade/make.ts` made the databases.
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { chatRequest, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { ENGINES } from '../helpers/engines.ts';
import { type GatewayProcess, type GatewaySetup, startGateway } from '../helpers/gateway-process.ts';
import { nanoOf } from '../helpers/scene.ts';
import facts from '../upgrade/facts.json' with { type: 'json' };
import { oldModels, SECRET_KEY } from '../upgrade/old-release.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const ROOT = join(import.meta.dirname, '../..');
const LAUNCHER = join(ROOT, 'bin/modelport');

/** A folder with the previous release; `undefined` if this clone does not have its commit. */
function checkOutOldRelease(): string | undefined {
  const archive = spawnSync('git', ['archive', facts.commit, 'src', 'package.json'], { cwd: ROOT, maxBuffer: 1e8 });
  if (archive.status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'modelport-old-release-'));
  spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const oldRelease = checkOutOldRelease();
if (!oldRelease)
  console.warn(`There is no commit ${facts.commit} (a shallow clone): runs of the previous release are skipped.`);

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.script('/openai/', { ...wholeAnswer('Hello.'), repeat: true });
});
afterAll(async () => {
  await upstream.close();
  if (oldRelease) rmSync(oldRelease, { recursive: true });
});

const textOf = (name: string) => readFileSync(join(ROOT, 'test/upgrade', name), 'utf8');

describe.each(ENGINES)('$name', (engine) => {
  const { caller, ...known } = engine.name === 'Postgres' ? facts.postgres : facts.sqlite;
  let setup: GatewaySetup & { dataFolder: string; environment: { [name: string]: string } };

  beforeAll(async () => {
    const { settings } = await engine.emptyDatabase();
    const { dataDir, databaseUrl } = settings;
    mkdirSync(dataDir, { recursive: true });
    if (databaseUrl) {
      const connection = new SQL(databaseUrl);
      await connection.unsafe(textOf('postgres.sql'));
      await connection.close();
    } else {
      const file = new Database(join(dataDir, 'modelport.db'));
      file.run(textOf('sqlite.sql'));
      file.close();
    }
    const database = databaseUrl && { DATABASE_URL: databaseUrl };
    setup = {
      dataFolder: dataDir,
      environment: { MODELPORT_SECRET_KEY: SECRET_KEY, ...database },
      ...oldModels(upstream.url),
    };
  });

  /** Runs `modelport migrate --check`. */
  function check() {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...setup.environment };
    return spawnSync(LAUNCHER, ['migrate', '--check'], {
      encoding: 'utf8',
      cwd: tmpdir(),
      env: { ...env, MODELPORT_DATA_DIR: setup.dataFolder },
    });
  }

  const post = (gateway: GatewayProcess, path: string, body: object) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const send = (gateway: GatewayProcess, more: { [member: string]: unknown } = {}) =>
    post(gateway, '/v1/chat/completions', chatRequest('alpha', more));

  async function startVideo(gateway: GatewayProcess): Promise<string> {
    const answer = await post(gateway, '/v1/videos', { model: 'sandbox-video', prompt: 'a wave', seconds: '4' });
    const { id, ...more } = (await answer.json()) as { id: string };
    expect({ status: answer.status, more }).toMatchObject({ status: 200 });
    return id;
  }

  async function videoIsDone(gateway: GatewayProcess, id: string): Promise<void> {
    for (;;) {
      const headers = { authorization: `Bearer ${caller.key}` };
      const task = (await (await fetch(`${gateway.url}/v1/videos/${id}`, { headers })).json()) as { status: string };
      if (task.status === 'completed') return;
      expect(['queued', 'in_progress']).toContain(task.status);
      await Bun.sleep(100);
    }
  }

  const shortLease = () => ({ ...setup.environment, MODELPORT_LEASE_MS: '3000' });

  async function nothingIsHeld(gateway: GatewayProcess): Promise<void> {
    while ((await gateway.balance(caller)).held !== '0') await Bun.sleep(100);
  }

  async function callOnce(gateway: GatewayProcess): Promise<void> {
    const before = nanoOf((await gateway.balance(caller)).available);
    const answer = await send(gateway);
    expect(answer.status).toBe(200);
    // The stored credential is decrypted.
    expect(upstream.journal('/openai/').at(-1)?.headers.authorization).toBe('Bearer sk-of-the-old-release');
    expect(nanoOf((await gateway.balance(caller)).available)).toBeLessThan(before);
    expect(await gateway.verify()).toMatchObject({ ok: true });
  }

  test('this program takes over the database of the previous release', async () => {
    const pending = check();
    expect(pending.stderr).toBe('');
    expect(pending.stdout).toContain('CREATE TABLE');
    expect(pending.status).toBe(2);
    const gateway = await startGateway({ ...setup, environment: shortLease() });
    try {
      const up = check();
      expect([up.status, up.stdout, up.stderr]).toEqual([0, 'The database is up to date.\n', '']);
      // The call that was under way when the old process was killed is settled, once: at the end of its lease, since that process ran on
      // another machine.
      await nothingIsHeld(gateway);
      const { available } = await gateway.balance(caller);
      expect(nanoOf(available)).toBeLessThanOrEqual(nanoOf(known.available));
      expect(await gateway.calls(caller)).toHaveLength(known.calls + 1);
      const report = await gateway.verify();
      expect(report).toMatchObject({ ok: true });
      expect(report.entries).toBeGreaterThan(known.entries);
      await callOnce(gateway);
    } finally {
      expect(await gateway.stop('keep')).toBe(0);
    }
  }, 120_000);

  test.skipIf(!oldRelease)(
    'the previous release goes on beside this program, and what it leaves is settled',
    async () => {
      const environment = shortLease();
      const program = [process.execPath, join(oldRelease ?? '', 'src/main.ts')];
      const old = await startGateway({ ...setup, environment, program });
      const fresh = await startGateway({ ...setup, environment });
      try {
        for (const gateway of [old, fresh, old, fresh]) await callOnce(gateway);
        // Tasks and credentials that one has stored are read by the other.
        const videos = await Promise.all([old, fresh].map((gateway) => startVideo(gateway)));
        for (const [index, gateway] of [fresh, old].entries()) await videoIsDone(gateway, videos[index] ?? '');
        upstream.forget('/openai/');
        upstream.script('/openai/', streamAnswer(['slow '], { repeat: true, paceMs: 60_000 }));
        const stream = await send(old, { stream: true });
        await stream.body?.getReader().read();
        expect(nanoOf((await fresh.balance(caller)).held)).toBeGreaterThan(0n);
        await old.kill();
        await nothingIsHeld(fresh);
        expect(await fresh.verify()).toMatchObject({ ok: true });
        const [abandoned] = await fresh.calls(caller);
        expect(abandoned).toMatchObject({ outcome: 'interrupted', provisional: true });
      } finally {
        upstream.forget('/openai/');
        upstream.script('/openai/', { ...wholeAnswer('Hello.'), repeat: true });
        await old.kill();
        expect(await fresh.stop('keep')).toBe(0);
      }
    },
    120_000,
  );
});
