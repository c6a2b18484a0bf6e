/** The first start: what it prints works when pasted, and an invalid setting is one sentence. */
import { afterEach, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { chatRequest, streamAnswer } from '../helpers/chat-answers.ts';
import { freePort } from '../helpers/free-port.ts';
import {
  type Serving,
  spawnModelport,
  spawnNpmStart,
  spawnProgram,
  startGateway,
  untilReady,
} from '../helpers/gateway-process.ts';
import { nanoOf, startScene } from '../helpers/scene.ts';
import { inDatabase } from '../helpers/stall.ts';

/** As many refused calls are recorded in a second. */
const MOST_REFUSED = 50;

const folders: string[] = [];
const servings: Serving[] = [];
afterEach(async () => {
  for (const serving of servings.splice(0)) {
    serving.killTree();
    await serving.exited;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function freshStart(environment: { [name: string]: string } = {}, folder = freshFolder()) {
  const port = await freePort();
  const serving = spawnModelport(['serve'], { PORT: String(port), MODELPORT_DATA_DIR: folder, ...environment });
  servings.push(serving);
  return { serving, folder, url: `http://127.0.0.1:${port}` };
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-first-'));
  folders.push(folder);
  return folder;
}

function inShell(line: string): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'], timeout: 50_000 });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.on('close', (code) => resolve({ code, out }));
  });
}

describe('the first start', () => {
  test('prints lines that work when pasted, and its keys are only in a file readable by the owner', async () => {
    const { serving, folder, url } = await freshStart();
    await untilReady(url, serving);
    // It is printed when the gateway listens already.
    for (const end = Date.now() + 30_000; !serving.log().includes('Hello!"}]}\'') && Date.now() < end; )
      await Bun.sleep(20);
    const printed = serving.log();
    const file = join(folder, 'first-keys.env');
    expect(printed).toContain(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [, apiKey = '', adminKey = ''] =
      /^MODELPORT_KEY=(sk-[A-Za-z0-9]{48})\nMODELPORT_ADMIN_KEY=(sk-admin-[A-Za-z0-9]{48})\n$/.exec(
        readFileSync(file, 'utf8'),
      ) ?? [];
    expect(apiKey).toHaveLength(51);
    for (const key of [apiKey, adminKey]) expect(printed).not.toContain(key);
    const lines = /^\. [\s\S]*?[^\\]$(?=\n\n|\n\{|\n$)/m.exec(printed)?.[0] ?? '';
    expect(lines).toContain(url);
    const pasted = await inShell(lines);
    expect(pasted.code).toBe(0);
    expect(pasted.out).toMatch(/chat\.completion/);
    expect(pasted.out).not.toContain('"error"');
    const balance = await fetch(`${url}/v1/balance`, { headers: { authorization: `Bearer ${apiKey}` } });
    const { available, held, currency } = (await balance.json()) as {
      available: string;
      held: string;
      currency: string;
    };
    expect([held, currency]).toEqual(['0', 'USD']);
    expect(Number(nanoOf(available))).toBeWithin(9_900_000_000, 10_000_000_000);
    serving.child.kill('SIGTERM');
    expect(await serving.exited).toBe(0);
    const again = await freshStart({}, folder);
    await untilReady(again.url, again.serving);
    expect(again.serving.log()).not.toContain('first start');
    const still = await fetch(`${again.url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(still.status).toBe(200);
  }, 60_000);

  test('uses given keys and never prints them', async () => {
    const given = {
      MODELPORT_API_KEY: 'sk-my-own-0123456789-0123456789',
      MODELPORT_ADMIN_KEY: 'sk-admin-my-own-0123456789',
    };
    const { serving, folder, url } = await freshStart(given);
    await untilReady(url, serving);
    const status = async (path: string, key: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status('/v1/models', given.MODELPORT_API_KEY)).toBe(200);
    expect(await status('/admin/v1/accounts', given.MODELPORT_ADMIN_KEY)).toBe(200);
    expect(await status('/admin/v1/accounts', given.MODELPORT_API_KEY)).toBeOneOf([401, 403]);
    for (const key of Object.values(given)) expect(serving.log()).not.toContain(key);
    expect(existsSync(join(folder, 'first-keys.env'))).toBe(false);
    // Refused calls are written in groups: those of the last moment before a stop must not be lost.
    const refused: string[] = [];
    const refuse = async () => {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${given.MODELPORT_API_KEY}`, connection: 'close' },
        body: JSON.stringify(chatRequest('no-such-model')),
      }).catch(() => undefined);
      if (answer?.status === 404 && refused.length < MOST_REFUSED)
        refused.push(answer.headers.get('x-request-id') ?? '');
      return answer !== undefined;
    };
    await refuse();
    process.kill(-(serving.child.pid ?? 0), 'SIGTERM');
    while (await refuse());
    expect(await serving.exited).toBe(0);
    const recorded = inDatabase(folder, (file) => file.query('SELECT id FROM refused_calls').all()) as { id: string }[];
    expect(recorded.map(({ id }) => id)).toEqual(expect.arrayContaining(refused));
  }, 60_000);

  test('needs no key for health and readiness, but for the metrics', async () => {
    const { serving, url } = await freshStart();
    await untilReady(url, serving);
    for (const path of ['/health', '/ready']) expect((await fetch(url + path)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
  }, 60_000);
});

describe('exits with 1 and one sentence for an invalid setting', () => {
  const wrong: [string, { [name: string]: string }, RegExp][] = [
    ['a port out of range', { PORT: '99999' }, /PORT/],
    ['a word for a number', { MODELPORT_SILENCE_TIMEOUT_MS: 'soon' }, /MODELPORT_SILENCE_TIMEOUT_MS/],
    ['an unknown setting', { MODELPORT_API_KEX: 'sk-x' }, /MODELPORT_API_KEX.*MODELPORT_API_KEY/],
    ['a key of the wrong form', { MODELPORT_API_KEY: 'secret-word' }, /MODELPORT_API_KEY/],
    ['a key that can be guessed', { MODELPORT_API_KEY: 'sk-1' }, /MODELPORT_API_KEY.*24/],
    ['a file that is not there', { MODELPORT_CONFIG: '/nowhere/modelport.yaml' }, /modelport\.yaml/],
    ['a database that is none', { DATABASE_URL: 'mysql://x' }, /DATABASE_URL/],
  ];
  for (const [name, environment, sentence] of wrong) {
    test(name, async () => {
      const { serving } = await freshStart(environment);
      expect(await serving.exited).toBe(1);
      expect(serving.log()).toMatch(sentence);
      expect(serving.log().trim().split('\n')).toHaveLength(1);
      expect(serving.log()).not.toContain('secret-word');
    }, 60_000);
  }

  test('reports a port in use', async () => {
    const { serving, url, folder } = await freshStart();
    await untilReady(url, serving);
    const second = spawnModelport(['serve'], { PORT: new URL(url).port, MODELPORT_DATA_DIR: `${folder}/second` });
    servings.push(second);
    expect(await second.exited).toBe(1);
    expect(second.log().trim().split('\n')).toHaveLength(1);
  }, 60_000);
});

test('has the worker programs and the bytecode next to the bundled program', async () => {
  const { serving, url } = await freshStart();
  await untilReady(url, serving);
  const root = join(import.meta.dir, '..', '..');
  const sources = [...new Bun.Glob('src/**/*.ts').scanSync(root)].filter(
    // The fuzzer is not part of the program.
    (path) => !path.endsWith('.test.ts') && !path.includes('/fuzz/'),
  );
  const starts = sources.filter((path) =>
    /import\.meta\.(?!main|resolve)\w+/.test(readFileSync(join(root, path), 'utf8')),
  );
  const workers = [...new Bun.Glob('src/**/*-worker.ts').scanSync(root)].map((path) => basename(path));
  expect(starts).toHaveLength(workers.length);
  // The bytecode too: a start without it takes twice the processor time.
  const built = [...workers.map((path) => path.replace(/ts$/, 'js')), 'main.js', 'main.js.jsc'];
  const caches = process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '', '.cache');
  const folder = join(caches, 'modelport', realpathSync(root), '.program');
  for (const file of built) expect(existsSync(join(folder, file))).toBe(true);
}, 60_000);

describe.skipIf(process.platform === 'win32')('the launcher', () => {
  const root = join(import.meta.dir, '..', '..');

  test('runs through a link to its folder', async () => {
    const link = join(freshFolder(), 'programs');
    symlinkSync(join(root, 'bin'), link);
    const serving = spawnProgram([join(link, 'modelport'), '--version'], {});
    expect([await serving.exited, serving.log()]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  }, 60_000);

  test('bundles again where another clone was moved to the place of one', async () => {
    const folder = freshFolder();
    for (const name of ['old', 'new']) {
      for (const part of ['bin', 'src', 'node_modules']) mkdirSync(join(folder, name, part), { recursive: true });
      copyFileSync(join(root, 'bin', 'modelport'), join(folder, name, 'bin', 'modelport'));
      symlinkSync(join(root, 'node_modules', '@oven'), join(folder, name, 'node_modules', '@oven'));
      writeFileSync(join(folder, name, 'src', 'main.ts'), `console.log('${name}', Bun.main.endsWith('/main.js'))`);
      writeFileSync(join(folder, name, 'src', 'some-worker.ts'), '');
      writeFileSync(join(folder, name, 'package.json'), '{}');
    }
    const runs = async (name: string) => {
      renameSync(join(folder, name), join(folder, 'clone'));
      const serving = spawnProgram([join(folder, 'clone', 'bin', 'modelport')], { XDG_CACHE_HOME: folder });
      await serving.exited;
      renameSync(join(folder, 'clone'), join(folder, name));
      return serving.log();
    };
    expect(await runs('old')).toBe('old true\n');
    expect(await runs('new')).toBe('new true\n');
    expect(await runs('old')).toBe('old true\n');
  }, 60_000);

  test('writes nothing into the clone for a relative folder of caches', async () => {
    const folder = `caches-${process.pid}`;
    expect(await spawnModelport(['--version'], { XDG_CACHE_HOME: folder }).exited).toBe(0);
    expect(existsSync(join(root, folder))).toBe(false);
  }, 60_000);
});

test.skipIf(!existsSync('/dev/full'))(
  'a full disk for its output ends a command with a sentence, and not the service',
  async () => {
    const toFullDisk = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];
    const help = spawnModelport(['help'], {}, 'modelport', toFullDisk);
    expect(await help.exited).toBe(1);
    expect(help.log()).toMatch(/^The output could not be written: ENOSPC.*\n$/);
    const port = await freePort();
    const environment = { PORT: String(port), MODELPORT_DATA_DIR: freshFolder() };
    const serving = spawnModelport(['serve'], environment, 'modelport', toFullDisk);
    servings.push(serving);
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, serving);
    for (let n = 0; n < 3; n++) expect((await fetch(`${url}/v1/models`)).status).toBe(401);
    serving.child.kill('SIGTERM');
    expect(await serving.exited).toBe(0);
  },
  60_000,
);

test('a gateway whose launcher is killed stops by itself', async () => {
  const port = await freePort();
  const environment = { PORT: String(port), MODELPORT_DATA_DIR: freshFolder() };
  const serving = spawnModelport(['serve'], environment, 'modelport.mjs');
  servings.push(serving);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url, serving);
  process.kill(serving.child.pid ?? 0, 'SIGKILL');
  const answers = () =>
    fetch(`${url}/health`).then(
      () => true,
      () => false,
    );
  const deadline = Date.now() + 30_000;
  while ((await answers()) && Date.now() < deadline) await Bun.sleep(100);
  expect(await answers()).toBe(false);
}, 60_000);

describe('SIGTERM', () => {
  test('reaches the gateway through npm', async () => {
    const port = await freePort();
    const serving = spawnNpmStart({ PORT: String(port), MODELPORT_DATA_DIR: freshFolder() });
    servings.push(serving);
    await untilReady(`http://127.0.0.1:${port}`, serving);
    serving.child.kill('SIGTERM');
    await serving.exited;
    expect(serving.log()).toContain('"msg":"stopping"');
  }, 60_000);

  test('finishes an active stream, settles it, takes no new call, exits with 0', async () => {
    const scene = await startScene();
    try {
      const stage = await scene.stage();
      stage.script(streamAnswer(['one ', 'two ', 'three ', 'four'], { paceMs: 150 }));
      const request = { model: stage.model, messages: [{ role: 'user', content: 'Hi' }], stream: true };
      const response = await stage.post('/v1/chat/completions', request);
      const stopping = scene.gateway.stop('keep');
      await Bun.sleep(100);
      const late = await stage.post('/v1/chat/completions', request).catch(() => undefined);
      expect(late?.ok ?? false).toBe(false);
      const text = await response.text();
      expect(text).toContain('four');
      expect(text).toEndWith('data: [DONE]\n\n');
      expect(await stopping).toBe(0);
      const verified = spawnModelport(['ledger', 'verify'], { MODELPORT_DATA_DIR: scene.gateway.dataFolder });
      expect(await verified.exited).toBe(0);
    } finally {
      rmSync(scene.gateway.dataFolder, { recursive: true, force: true });
      await scene.upstream.close();
    }
  }, 60_000);

  test('leaves nothing to wait for after a verification, which may take 10 s to answer', async () => {
    const gateway = await startGateway();
    expect(await gateway.verify()).toMatchObject({ ok: true });
    const from = performance.now();
    expect(await gateway.stop()).toBe(0);
    expect(performance.now() - from).toBeLessThan(9000);
  }, 60_000);

  test('ends what exceeds the drain time with an error, settles it, exits with 0', async () => {
    const scene = await startScene({ environment: { MODELPORT_DRAIN_MS: '400' } });
    try {
      const stage = await scene.stage();
      stage.script(streamAnswer(['one ', 'two '], { paceMs: 20, fault: { before: 2, does: 'silence' } }));
      const response = await stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }));
      const stopping = scene.gateway.stop('keep');
      const text = await response.text().catch(() => '');
      expect(text).not.toContain('[DONE]');
      expect(await stopping).toBe(0);
      const verified = spawnModelport(['ledger', 'verify'], { MODELPORT_DATA_DIR: scene.gateway.dataFolder });
      expect(await verified.exited).toBe(0);
      expect(text).toContain('"error"');
    } finally {
      rmSync(scene.gateway.dataFolder, { recursive: true, force: true });
      await scene.upstream.close();
    }
  }, 60_000);
});
