/** A release from its tag to its verification, into a registry of this machine (Verdaccio). Only signatures and uploads are not rehearsed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from '../clients/install.ts';
import { freePort } from '../helpers/free-port.ts';

const ROOT = join(import.meta.dirname, '../..');
const REGISTRY = join(import.meta.dirname, '../release');
const canRelease =
  process.platform !== 'win32' &&
  Bun.which('git') !== null &&
  (await installPackages(REGISTRY).then(
    () => true,
    () => false,
  ));
if (!canRelease)
  console.warn('There is no git, or Verdaccio could not be installed: the tests of a release are skipped.');

/** What a release is made from. */
const SOURCES = [
  'bin',
  'deploy',
  'scripts',
  'src',
  'web',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const PLATFORM = `${process.platform}-${process.arch}${process.execPath.includes('-musl') ? '-musl' : ''}`;

let folder: string;
let registry: ChildProcess | undefined;
let url: string;

function run(
  command: string,
  args: readonly string[],
  cwd = folder,
): { code: number | null; output: string; stdout: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 300_000 });
  return { code: status, stdout, output: `${stdout}${stderr}` };
}

const release = (...args: string[]) => run(process.execPath, [join(folder, 'clone/scripts/release.ts'), ...args]);

/** A clone of its own: `npm pack` builds into the folder of the sources, and other tests do that too. */
function makeClone(): void {
  const clone = join(folder, 'clone');
  for (const name of SOURCES.filter((one) => existsSync(join(ROOT, one))))
    cpSync(join(ROOT, name), join(clone, name), {
      recursive: true,
      filter: (path) => !/node_modules|\.test\.ts$/.test(path),
    });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  writeFileSync(join(clone, '.gitignore'), 'node_modules\ndist\n');
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', '-c', 'commit.gpgsign=false'];
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    [...author, 'commit', '--quiet', '--message=release'],
    ['tag', `v${version}`],
  ])
    expect(run('git', args, clone)).toMatchObject({ code: 0 });
}

async function startRegistry(): Promise<void> {
  url = `http://127.0.0.1:${await freePort()}`;
  const everybody = { access: '$all', publish: '$all' };
  const config = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    packages: { '**': everybody },
    log: { type: 'stdout', level: 'warn' },
    web: { enable: false },
  };
  writeFileSync(join(folder, 'registry.yaml'), JSON.stringify(config));
  // It wants a newer Node than the oldest that Modelport supports; under Bun it runs.
  const program = join(REGISTRY, 'node_modules/verdaccio/bin/verdaccio');
  registry = spawn(
    process.execPath,
    [program, '--config', join(folder, 'registry.yaml'), '--listen', url.slice('http://'.length)],
    {
      stdio: 'ignore',
    },
  );
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(50))
    if (
      await fetch(`${url}/-/ping`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
  throw new Error('the registry did not start');
}

describe.skipIf(!canRelease)('a release', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'modelport-release-'));
    makeClone();
    await startRegistry();
    // npm sends no upload without a token, and the registry takes any.
    writeFileSync(join(folder, '.npmrc'), `registry=${url}\n${url.slice('http:'.length)}/:_authToken=any\n`);
  }, 360_000);
  afterAll(async () => {
    if (registry?.kill('SIGKILL')) await new Promise((resolve) => registry?.once('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  test('is built from its tag, published, downloaded and verified', async () => {
    const out = join(folder, 'out');
    const built = release(version, '--platform', PLATFORM, '--out', out);
    expect(built).toMatchObject({ code: 0 });
    const archive = `modelport-${version}.tgz`;
    const names = [
      'RELEASE_NOTES.md',
      'SHA256SUMS',
      `modelport-${version}.cdx.json`,
      archive,
      `modelport-chart-${version}.tgz`,
      `modelport-${PLATFORM}`,
    ];
    expect(readdirSync(out).sort()).toEqual(names.sort());
    expect(run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], out)).toMatchObject({ code: 0 });

    const published = run('npm', [
      'publish',
      join(out, archive),
      '--userconfig',
      join(folder, '.npmrc'),
      '--loglevel=error',
    ]);
    expect(published).toMatchObject({ code: 0 });
    const page = (await (await fetch(`${url}/modelport/${version}`)).json()) as {
      dist: { tarball: string; integrity: string };
    };
    const bytes = await (await fetch(page.dist.tarball)).bytes();
    expect(page.dist.integrity).toBe(`sha512-${createHash('sha512').update(bytes).digest('base64')}`);

    const downloads = join(folder, 'downloads');
    mkdirSync(downloads);
    for (const name of names.filter((name) => name !== archive)) linkSync(join(out, name), join(downloads, name));
    writeFileSync(join(downloads, archive), bytes);
    const verified = release('--verify', downloads);
    expect(verified).toMatchObject({ code: 0, output: expect.stringContaining('5 files') });
    writeFileSync(join(downloads, archive), bytes.subarray(1));
    const refused = release('--verify', downloads);
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining(`${archive} does not have the checksum`),
    });
  }, 900_000);

  test('is refused with another version or uncommitted changes, before anything is built', () => {
    const clone = join(folder, 'clone');
    writeFileSync(join(clone, 'src', 'more.ts'), '');
    const changed = release(version, '--out', join(folder, 'none'));
    expect(changed).toMatchObject({ code: 1, output: expect.stringContaining('There are uncommitted changes.') });
    rmSync(join(clone, 'src', 'more.ts'));
    const other = release('999.0.0', '--out', join(folder, 'none'));
    expect(other).toMatchObject({ code: 1, output: expect.stringContaining(`package.json has version ${version}.`) });
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });
});
