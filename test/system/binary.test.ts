/** The binary does the main job in an empty folder that is its root: no Node, no npm, no file of this checkout. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chatRequest } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { readImageConfig } from '../helpers/image-config.ts';
import { doMainJob, OIDC_ENVIRONMENT, openConsole, startUnmetered, unmeteredModel } from '../helpers/main-job.ts';
import type { ScriptedUpstream } from '../upstream/scripted-upstream.ts';

const BUILD = join(import.meta.dirname, '../../scripts/build-binary.ts');
const canChangeRoot =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'proc', 'proc', '/proc']).status === 0;
if (!canChangeRoot)
  console.warn('No root rights to mount (unshare --mount): the tests of the binary in a chroot are skipped.');

/** `/proc` and, to start processes, `/dev/null` are all that the program needs of the machine: every container has both. */
const IN_ROOT = 'mount -t proc proc "$0/proc" && mount --bind /dev/null "$0/dev/null" && exec chroot "$0" "$@"';
/** The same as a container engine does it: the root is read-only, the volume is mounted, and the program has the image's user. */
const AS_IMAGE = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount --bind "$1" "$0$2" && user=$3 && shift 3 &&
  mount -t proc proc "$0/proc" && mount --bind /dev/null "$0/dev/null" && exec chroot --userspec="$user" "$0" "$@"`;

let root: string;
let upstream: ScriptedUpstream;
let gateway: GatewayProcess;

/** The C library, which the runtime is linked with. */
function copyLibraries(binary: string): void {
  const { stdout } = spawnSync('ldd', [binary], { encoding: 'utf8' });
  for (const [library] of stdout.matchAll(/\/\S*lib\S+/g)) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
}

describe.skipIf(!canChangeRoot)('in an empty root', () => {
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'modelport-binary-'));
    const { status, stderr } = spawnSync(process.execPath, [BUILD, '--out', root], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const [binary = ''] = readdirSync(root);
    copyLibraries(join(root, binary));
    for (const folder of ['proc', 'dev', 'data']) mkdirSync(join(root, folder));
    writeFileSync(join(root, 'dev/null'), '');
    // Both would end the start if they were read.
    writeFileSync(join(root, '.env'), 'MODELPORT_LOG_LEVEL=nonsense\n');
    writeFileSync(join(root, 'bunfig.toml'), 'preload = ["./missing.ts"]\n');
    upstream = await startUnmetered();
    gateway = await startGateway({
      ...unmeteredModel(upstream),
      program: ['unshare', '--mount', 'sh', '-c', IN_ROOT, root, `/${binary}`],
      dataFolder: join(root, 'data'),
      environment: {
        ...{ MODELPORT_DATA_DIR: '/data', MODELPORT_CONFIG: '/data/modelport.yaml', MODELPORT_PROCESSES: '2' },
        ...OIDC_ENVIRONMENT,
      },
    });
  }, 120_000);
  afterAll(async () => {
    expect(await gateway?.stop('keep')).toBe(0);
    await upstream?.close();
    rmSync(root, { recursive: true, force: true });
  }, 60_000);

  test('starts, answers, bills and verifies, with all its threads and processes', async () => {
    await doMainJob(gateway);
    expect((await gateway.metrics()).match(/process="\d+"/g)).toEqual(
      expect.arrayContaining(['process="1"', 'process="2"']),
    );
  }, 60_000);

  test('serves the console with its sign-in page', () => openConsole(gateway), 120_000);

  test('runs as configured in the container image: read-only, without rights, with its health check', async () => {
    const image = readImageConfig();
    const data = mkdtempSync(join(tmpdir(), 'modelport-image-'));
    const [uid = 0, gid = 0] = image.user.split(':').map(Number);
    chownSync(data, uid, gid);
    chmodSync(root, 0o755);
    const [program = ''] = image.entrypoint;
    mkdirSync(join(root, dirname(program)), { recursive: true });
    const [binary = ''] = readdirSync(root).filter((name) => name.startsWith('modelport-'));
    linkSync(join(root, binary), join(root, program));
    const contained = ['unshare', '--mount', 'sh', '-c', AS_IMAGE, root, data, image.volume, image.user];
    // The image listens on all addresses at a fixed port; a test does not.
    const settings = Object.entries(image.environment).filter(([name]) => name !== 'HOST' && name !== 'PORT');
    const environment = { ...Object.fromEntries(settings), HOME: '/home/nonroot' };
    const container = await startGateway({
      program: [...contained, ...image.entrypoint],
      dataFolder: data,
      environment: { ...environment, MODELPORT_CONFIG: '/data/modelport.yaml' },
    });
    const health = () => {
      const env = { ...environment, PORT: new URL(container.url).port, PATH: process.env.PATH };
      const [command = '', ...words] = [...contained, ...image.health];
      return spawnSync(command, words, { encoding: 'utf8', env, timeout: 30_000 });
    };
    try {
      const answer = await fetch(`${container.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${container.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(chatRequest('sandbox-chat')),
      });
      expect(answer.status).toBe(200);
      expect(health()).toMatchObject({ status: 0, stderr: '' });
    } finally {
      expect(await container.stop('keep')).toBe(0);
    }
    expect(health()).toMatchObject({ status: 1, stdout: '' });
    expect(readdirSync(data)).toContain('modelport.db');
    for (const name of readdirSync(data).filter((name) => name.startsWith('modelport.db')))
      expect({ name, uid: statSync(join(data, name)).uid }).toEqual({ name, uid });
    rmSync(data, { recursive: true });
  }, 60_000);
});
