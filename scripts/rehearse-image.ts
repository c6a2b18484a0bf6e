/**
 * Builds the container image where there is no container engine and no registry of images: Buildah runs the steps of the Dockerfile, isolated by
 * `chroot` alone. In place of the two base images stand images of the same contents from Debian's packages. Needs root on Linux, `buildah`,
 * `debootstrap` and `apt-get`; takes some six minutes, and three when the bases exist.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './source-files.ts';

const DOCKERFILE = join(ROOT, 'deploy', 'docker', 'Dockerfile');
export const IMAGE = 'localhost/modelport:rehearsal';
/** `distroless/cc` is these packages. */
const RUNTIME_PACKAGES = ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6', 'ca-certificates', 'tzdata'];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** The command `buildah` with a storage of its own in the folder. */
export const buildahIn = (folder: string): string[] => [
  'buildah',
  ...['--storage-driver', 'vfs', '--root', join(folder, 'storage'), '--runroot', join(folder, 'run')],
];

/** Builds IMAGE into the storage of the folder. Throws an Error with the last lines of a command that failed. */
export function buildImage(folder: string): void {
  for (const program of ['buildah', 'debootstrap', 'apt-get', 'dpkg', 'node'])
    if (!Bun.which(program)) throw new Error(`${program} is not installed`);
  if (process.getuid?.() !== 0) throw new Error('it needs root');
  mkdirSync(folder, { recursive: true });
  const buildah = buildahIn(folder);
  const bases = readFileSync(DOCKERFILE, 'utf8').matchAll(/^FROM (?:--\S+ )?(\S+)/gm);
  const [[, builder = ''] = [], [, runtime = ''] = []] = [...bases];
  makeBase(buildah, 'localhost/rehearsal-build', makeBuilder);
  makeBase(buildah, 'localhost/rehearsal-runtime', makeRuntime);
  run([
    ...[...buildah, 'build', '--isolation', 'chroot', '--format', 'docker', '--layers=false'],
    ...['--build-context', `${builder}=container-image://localhost/rehearsal-build`],
    ...['--build-context', `${runtime}=container-image://localhost/rehearsal-runtime`],
    ...['--ignorefile', `${DOCKERFILE}.dockerignore`, '--file', DOCKERFILE, '--tag', IMAGE, ROOT],
  ]);
}

function run(command: readonly string[], cwd = ROOT): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, stdin: 'ignore', timeout: 1_200_000 });
  if (exitCode !== 0)
    throw new Error(`${command[0]} failed: ${`${stdout}${stderr}`.trim().split('\n').slice(-3).join('; ')}`);
  return stdout.toString().trim();
}

/** Makes an image of the files that `fill` puts into a folder, unless the image exists. */
function makeBase(buildah: readonly string[], name: string, fill: (root: string) => void): void {
  if (
    run([...buildah, 'images', '--format', '{{.Name}}'])
      .split('\n')
      .includes(name)
  )
    return;
  const root = mkdtempSync(join(tmpdir(), 'modelport-base-'));
  try {
    fill(root);
    const container = run([...buildah, 'from', 'scratch']);
    run([...buildah, 'add', '--quiet', container, root, '/']);
    // A machine may reach its registry of packages with a certificate of its own alone.
    run([...buildah, 'config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container]);
    run([...buildah, 'commit', '--quiet', '--rm', container, name]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Debian with Node and npm of this machine. */
function makeBuilder(root: string): void {
  run(['debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', root]);
  cpSync(Bun.which('node') ?? '', join(root, 'usr/bin/node'), { dereference: true });
  cpSync(
    join(run(['npm', 'root', '--global']).split('\n').at(-1) ?? '', 'npm'),
    join(root, 'usr/lib/node_modules/npm'),
    {
      recursive: true,
    },
  );
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
  copyCertificates(root);
}

function makeRuntime(root: string): void {
  const packages = mkdtempSync(join(tmpdir(), 'modelport-packages-'));
  try {
    run(['apt-get', 'download', '--quiet', ...RUNTIME_PACKAGES], packages);
    for (const file of readdirSync(packages)) run(['dpkg', '-x', join(packages, file), root]);
  } finally {
    rmSync(packages, { recursive: true });
  }
  copyCertificates(root);
}

function copyCertificates(root: string): void {
  if (!existsSync(CERTIFICATES)) return;
  mkdirSync(join(root, dirname(CERTIFICATES)), { recursive: true });
  cpSync(CERTIFICATES, join(root, CERTIFICATES), { dereference: true });
}
