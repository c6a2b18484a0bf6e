/** Signals and closed pipes: SIGHUP reloads without ending calls, and a command whose reader has gone ends without an error. */
import { afterAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { hasOpenssl, makeCertificate } from '../helpers/certificate.ts';
import { freePort } from '../helpers/free-port.ts';
import { type Serving, spawnModelport } from '../helpers/gateway-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const API_KEY = `sk-${'test'.repeat(12)}`;
/** Each may be served by either of two processes: all by the same one once in eight million times. */
const CONNECTIONS = 24;
const folders: string[] = [];
const running: Serving[] = [];
afterAll(() => {
  for (const serving of running) serving.killTree();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const catalogue = (baseUrl: string, names: readonly string[]) =>
  JSON.stringify({
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables in modelport.yaml are written so
    providers: [{ name: 'up', type: 'openai-compatible', baseUrl, credential: '${UPSTREAM_KEY}' }],
    models: names.map((name) => ({
      name,
      kind: 'chat',
      price: { input: 0, output: 0 },
      maxOutputTokens: 100,
      targets: [{ provider: 'up', model: 'm' }],
    })),
  });

/** An upstream that streams as long as requested, and names the key of the request. */
function startUpstream() {
  const keys: string[] = [];
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      keys.push(request.headers.get('authorization') ?? '');
      async function* stream() {
        yield chunk({ role: 'assistant', content: 'begun ' });
        await finished;
        yield chunk({ content: 'ended' });
        yield chunk({}, 'stop');
        yield 'data: [DONE]\n\n';
      }
      return new Response(stream as never, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return { server, keys, finish, url: `http://127.0.0.1:${server.port}/v1` };
}

async function until<T>(what: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const end = performance.now() + 40_000; ; ) {
    const value = await what();
    if (holds(value)) return value;
    if (performance.now() > end) throw new Error(`never came: ${JSON.stringify(value)}`);
    await Bun.sleep(20);
  }
}

describe.skipIf(!hasOpenssl)('SIGHUP', () => {
  test.each([1, 2])(
    '%p processes: file, key file and certificate are reloaded, and streams continue',
    async (processes) => {
      const folder = mkdtempSync(join(tmpdir(), 'modelport-reload-'));
      folders.push(folder);
      const upstream = startUpstream();
      const file = join(folder, 'modelport.yaml');
      const keyFile = join(folder, 'upstream-key');
      writeFileSync(file, catalogue(upstream.url, ['before']));
      writeFileSync(keyFile, 'upstream-key-number-one\n');
      const first = makeCertificate(folder, 'first');
      const port = await freePort();
      const serving = spawnModelport(['serve', '--processes', String(processes)], {
        PORT: String(port),
        MODELPORT_DATA_DIR: join(folder, 'data'),
        MODELPORT_CONFIG: file,
        MODELPORT_API_KEY: API_KEY,
        MODELPORT_ADMIN_KEY: `sk-admin-${'test'.repeat(12)}`,
        MODELPORT_TLS_CERT: first.certPath,
        MODELPORT_TLS_KEY: first.keyPath,
        UPSTREAM_KEY_FILE: keyFile,
      });
      running.push(serving);
      const url = `https://127.0.0.1:${port}`;
      const tls = { rejectUnauthorized: false };
      await until(
        () =>
          fetch(`${url}/ready`, { tls }).then(
            ({ ok }) => ok,
            () => false,
          ),
        (ok) => ok,
      );
      // With several processes it is printed when all of them listen.
      await until(
        async () => serving.log(),
        (log) => log.includes(`Modelport listens on ${url}`),
      );
      const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
      const chat = (model: string) =>
        fetch(`${url}/v1/chat/completions`, {
          tls,
          method: 'POST',
          headers,
          body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
        });
      const names = async () => {
        const requests = Array.from({ length: CONNECTIONS }, () =>
          fetch(`${url}/v1/models`, { tls, headers: { ...headers, connection: 'close' } }).then(async (response) =>
            ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id).sort(),
          ),
        );
        return Promise.all(requests);
      };
      expect((await names()).every((list) => list.includes('before'))).toBe(true);
      const response = await chat('before');
      const reader = response.body!.getReader();
      await reader.read();

      writeFileSync(file, catalogue(upstream.url, ['before', 'after']));
      writeFileSync(keyFile, 'upstream-key-number-two\n');
      makeCertificate(folder, 'second');
      process.kill(serving.child.pid!, 'SIGHUP');
      await until(names, (lists) => lists.every((list) => list.includes('after')));
      const shown = () =>
        new Promise<string>((resolve, reject) => {
          const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
            resolve(String(socket.getPeerCertificate().subject.CN));
            socket.destroy();
          });
          socket.on('error', reject);
        });
      await until(
        () => Promise.all(Array.from({ length: CONNECTIONS }, shown)),
        (all) => all.every((name) => name === 'second'),
      );

      upstream.finish();
      let rest = '';
      for (let next = await reader.read(); !next.done; next = await reader.read()) rest += Buffer.from(next.value);
      expect(rest).toContain('ended');
      expect(rest).toContain('[DONE]');
      expect(await (await chat('after')).text()).toContain('[DONE]');
      expect(upstream.keys).toEqual(['Bearer upstream-key-number-one', 'Bearer upstream-key-number-two']);

      // An invalid file changes nothing.
      writeFileSync(file, 'providers: 5');
      process.kill(serving.child.pid!, 'SIGHUP');
      await until(
        async () => serving.log(),
        (log) => log.includes('The configuration could not be reloaded'),
      );
      expect((await names()).every((list) => list.includes('after'))).toBe(true);
      serving.child.kill('SIGTERM');
      expect(await serving.exited).toBe(0);
      await upstream.server.stop(true);
    },
    60_000,
  );
});

test('a command whose reader has gone ends without an error', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-pipe-'));
  folders.push(folder);
  const environment = { PATH: process.env.PATH, MODELPORT_DATA_DIR: folder };
  for (const launcher of ['modelport', 'modelport.mjs']) {
    for (const command of ['help', 'models list', 'audit --json']) {
      const program = join(ROOT, 'bin', launcher);
      const run = launcher.endsWith('.mjs') ? `node ${program}` : program;
      // It writes after its reader has gone.
      const script = `(sleep 0.3; ${run} ${command}; echo "code $?" >&2) | true`;
      const { stderr } = spawnSync('bash', ['-c', script], { cwd: folder, env: environment, encoding: 'utf8' });
      expect([launcher, command, stderr]).toEqual([launcher, command, expect.not.stringContaining('EPIPE')]);
      expect(stderr).not.toContain('    at ');
    }
  }
});

test('the programs in package.json are executable: otherwise npm would change their mode in the checkout', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin: { [name: string]: string } };
  for (const path of Object.values(bin)) expect([path, statSync(join(ROOT, path)).mode & 0o111]).toEqual([path, 0o111]);
});
