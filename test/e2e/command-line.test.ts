/** The command line as users run it: over the network, in a folder without a database, in pipes. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../package.json';
import { hasOpenssl, makeCertificate } from '../helpers/certificate.ts';
import { freePort } from '../helpers/free-port.ts';
import { type GatewayProcess, type Serving, spawnModelport, startGateway } from '../helpers/gateway-process.ts';

const MODELPORT = join(import.meta.dirname, '..', '..', 'bin', 'modelport');
let gateway: GatewayProcess;
let elsewhere: string;
beforeAll(async () => {
  elsewhere = mkdtempSync(join(tmpdir(), 'modelport-elsewhere-'));
  gateway = await startGateway();
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  rmSync(elsewhere, { recursive: true });
});

async function run(
  argv: string[],
  environment: { [name: string]: string },
): Promise<{ code: number | null; log: string }> {
  const command: Serving = spawnModelport(argv, { MODELPORT_DATA_DIR: elsewhere, ...environment });
  return { code: await command.exited, log: command.log() };
}

test('in another folder, with URL and key file, the server is used and no database is opened', async () => {
  const keyFile = join(elsewhere, 'admin.key');
  writeFileSync(keyFile, gateway.adminKey);
  const there = ['--url', gateway.url, '--key-file', keyFile, '--json'];
  const made = await run(['accounts', 'create', 'from afar', ...there], {});
  expect(made.code).toBe(0);
  const { id } = JSON.parse(made.log) as { id: string };
  expect(await gateway.admin('GET', `/accounts/${id}`)).toMatchObject({ name: 'from afar' });
  const listed = await run(['accounts', 'list'], { MODELPORT_URL: gateway.url, MODELPORT_ADMIN_KEY_FILE: keyFile });
  expect(listed.log).toContain('from afar');
  expect(readdirSync(elsewhere)).toEqual(['admin.key']);
}, 60_000);

test('the first start leaves a key that commands on the same machine use', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-first-'));
  const settings = { PORT: String(await freePort()), MODELPORT_DATA_DIR: folder, MODELPORT_SANDBOX: 'on' };
  const before = await run(['models'], settings);
  expect(before.log).toContain('There is no admin key: set MODELPORT_ADMIN_KEY');
  const tls = hasOpenssl ? makeCertificate(folder, 'models.example.com') : undefined;
  const secure = tls && { MODELPORT_TLS_CERT: tls.certPath, MODELPORT_TLS_KEY: tls.keyPath };
  const serving = spawnModelport(['serve'], { ...settings, ...secure });
  try {
    const deadline = Date.now() + 20_000;
    while (!serving.log().includes('listens on') && Date.now() < deadline) await Bun.sleep(20);
    expect(await run(['models', '--json'], { ...settings, ...secure })).toMatchObject({
      code: 0,
      log: expect.stringContaining('sandbox-chat'),
    });
  } finally {
    serving.child.kill('SIGTERM');
    await serving.exited;
  }
  const after = await run(['models'], { ...settings, ...secure });
  expect(after).toMatchObject({ code: 1, log: expect.stringContaining('Start one with "modelport serve"') });
  rmSync(folder, { recursive: true });
}, 60_000);

test.skipIf(process.platform === 'win32')(
  'a closed pipe ends a command without an error',
  () => {
    const env = { PATH: process.env.PATH, MODELPORT_URL: gateway.url, MODELPORT_ADMIN_KEY: gateway.adminKey };
    for (const command of ['help', 'audit --limit 1000', 'models']) {
      // The reader ends before the first line; "status" is the exit status of the command itself.
      const script = `{ ${MODELPORT} ${command}; echo "status $?" >&2; } | true`;
      const { stderr } = spawnSync('sh', ['-c', script], {
        env: { ...env, MODELPORT_DATA_DIR: elsewhere },
        encoding: 'utf8',
      });
      expect({ command, stderr }).toEqual({ command, stderr: 'status 0\n' });
    }
  },
  60_000,
);

test('--version prints the version of the package', async () => {
  expect(await run(['--version'], {})).toEqual({ code: 0, log: `${version}\n` });
}, 60_000);
