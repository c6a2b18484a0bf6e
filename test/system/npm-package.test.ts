/** The npm package does the main job on a machine with Node alone, without this checkout. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../helpers/gateway-process.ts';
import { doMainJob, OIDC_ENVIRONMENT, openConsole, startUnmetered, unmeteredModel } from '../helpers/main-job.ts';
import type { ScriptedUpstream } from '../upstream/scripted-upstream.ts';

const ROOT = join(import.meta.dirname, '../..');

let upstream: ScriptedUpstream;
const folders: string[] = [];

beforeAll(async () => {
  upstream = await startUnmetered();
});
afterAll(async () => {
  await upstream.close();
  for (const folder of folders) {
    spawnSync('chmod', ['-R', 'u+w', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-package-'));
  folders.push(folder);
  return folder;
}

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

/** A lockfile for the packed program and our runtimes: npm then needs no registry, only its cache. */
function lockfileFor(archive: string): object {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const { optionalDependencies, bin, version } = packages[''];
  return {
    lockfileVersion: 3,
    packages: {
      '': { dependencies: { modelport: `file:${archive}` } },
      'node_modules/modelport': { version, resolved: `file:${archive}`, optionalDependencies, bin },
      ...Object.fromEntries(Object.entries(packages).filter(([path]) => path.startsWith('node_modules/@oven/'))),
    },
  };
}

/** Installs what `npm pack` makes into the folder. */
function installPackage(folder: string): void {
  run('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], ROOT);
  const [archive = ''] = readdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { modelport: `file:${archive}` } }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lockfileFor(archive)));
  const install = (cache: string) => run('npm', ['ci', cache, '--ignore-scripts', '--loglevel=error'], folder);
  try {
    install('--offline');
  } catch {
    install('--prefer-offline');
  }
}

/** Every file below the folder with the time of its last change. */
const listing = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((path) => `${path} ${statSync(join(folder, path)).mtimeMs}`);

test.skipIf(process.platform === 'win32')(
  'the npm package does the main job where it may write nothing, with Node alone',
  async () => {
    const [folder, bin, home, work] = [newFolder(), newFolder(), newFolder(), newFolder()] as const;
    installPackage(folder);
    symlinkSync(run('node', ['-p', 'process.execPath'], ROOT).trim(), join(bin, 'node'));
    run('chmod', ['-R', 'a-w', join(folder, 'node_modules')], folder);
    // Both would end the start if they were read.
    writeFileSync(join(work, '.env'), 'MODELPORT_LOG_LEVEL=nonsense\n');
    writeFileSync(join(work, 'bunfig.toml'), 'preload = ["./missing.ts"]\n');
    // The libraries are in the bundle: npm installs the runtime beside it and nothing else.
    const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/modelport/package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@oven',
      'modelport',
    ]);
    const before = listing(folder);
    expect(before.some((line) => line.includes('dist/program/console/index.html '))).toBe(true);
    const modelport = join(folder, 'node_modules/.bin/modelport');
    // The file that it writes is one that it accepts.
    const environment = { PATH: bin, HOME: home };
    run(modelport, ['init'], work, environment);
    run(modelport, ['migrate'], work, environment);
    const gateway = await startGateway({
      ...unmeteredModel(upstream),
      program: [modelport],
      folder: work,
      environment: { ...environment, ...OIDC_ENVIRONMENT },
    });
    try {
      await doMainJob(gateway);
      await openConsole(gateway);
    } finally {
      expect(await gateway.stop()).toBe(0);
    }
    // Root may write everywhere, so what was written is looked for.
    expect(listing(folder)).toEqual(before);
    expect(readdirSync(home)).toEqual([]);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(run('npx', ['--offline', '--loglevel=error', 'modelport', '--version'], folder).trim()).toBe(version);
    // The launcher for POSIX shells, which service managers start, finds the runtime beside the package.
    expect(run(join(folder, 'node_modules/modelport/bin/modelport'), ['--version'], work).trim()).toBe(version);
  },
  240_000,
);
