/**
 * `npm run build:binary`: one file that runs without Node, npm or a folder beside it, in `dist/` (`--out FOLDER`), for this platform.
 * `--all` builds every platform; names (`linux-arm64-musl`) build those. The runtime of another platform is its npm package in the version and with the
 * checksum of package-lock.json.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ASSET_FOLDERS, buildAssets, buildOptions } from './program-build.ts';
import { ROOT } from './source-files.ts';

export interface Platform {
  /** `linux-x64-musl`: the end of the binary's name. */
  name: string;
  /** The npm package of its runtime. */
  runtime: string;
  /** The file of the runtime in the package, and the end of a program's name. */
  executable: 'bun' | 'bun.exe';
}

const RUNTIME = /^node_modules\/(@oven\/bun-(linux|darwin|windows)-(x64|aarch64)(-musl)?)$/;

interface Lockfile {
  packages: { [path: string]: { version: string; integrity?: string } };
}

/** The platforms whose runtime the lockfile pins. */
export function platformsOf({ packages }: Lockfile): Platform[] {
  return Object.keys(packages).flatMap((path) => {
    const [, runtime, system, machine, musl = ''] = RUNTIME.exec(path) ?? [];
    if (!runtime) return [];
    const arch = machine === 'aarch64' ? 'arm64' : machine;
    return { name: `${system}-${arch}${musl}`, runtime, executable: system === 'windows' ? 'bun.exe' : 'bun' };
  });
}

/** The platforms with these names: the host's without any. Throws an Error for an unknown one. */
export function choosePlatforms(names: readonly string[], all: readonly Platform[], host: string): Platform[] {
  return (names.length === 0 ? [host] : names).map((name) => {
    const platform = all.find((one) => one.name === name);
    if (!platform)
      throw new Error(
        `There is no platform "${name}". Use --all or some of: ${all.map((one) => one.name).join(', ')}.`,
      );
    return platform;
  });
}

/** Throws an Error if the bytes do not have the checksum of the lockfile. */
export function checkIntegrity(bytes: Uint8Array, integrity: string, name: string): void {
  const [algorithm = '', expected] = integrity.split(/-(.*)/s);
  const found = createHash(algorithm).update(bytes).digest('base64');
  if (found !== expected) throw new Error(`${name} does not have the checksum of package-lock.json.`);
}

function hostPlatform(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `${system}-${process.arch}${process.execPath.includes('-musl') ? '-musl' : ''}`;
}

/** The path of a platform's runtime: as installed, or fetched by npm into the folder. */
function runtimeOf({ runtime, executable }: Platform, { packages }: Lockfile, folder: string): string {
  const installed = join(ROOT, 'node_modules', runtime, 'bin', executable);
  if (existsSync(installed)) return installed;
  const { version, integrity } = packages[`node_modules/${runtime}`] ?? {};
  if (!version || !integrity) throw new Error(`package-lock.json has no checksum of ${runtime}.`);
  const [packed] = JSON.parse(
    run([
      'npm',
      'pack',
      `${runtime}@${version}`,
      '--json',
      '--prefer-offline',
      '--loglevel=error',
      '--pack-destination',
      folder,
    ]),
  ) as { filename: string }[];
  const archive = join(folder, (packed as { filename: string }).filename);
  checkIntegrity(readFileSync(archive), integrity, runtime);
  run(['tar', '-xzf', archive, '-C', folder]);
  return join(folder, 'package', 'bin', executable);
}

function run(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: ROOT, stdin: 'ignore' });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stderr.toString().trim()}`);
  return stdout.toString();
}

/** Builds the binary of a platform into the folder and returns its path. */
async function build(platform: Platform, lockfile: Lockfile, target: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-build-'));
  try {
    buildAssets(join(folder, 'assets'));
    const outfile = join(target, `modelport-${platform.name}${platform.executable === 'bun' ? '' : '.exe'}`);
    mkdirSync(target, { recursive: true });
    // Assets have the paths that they have below the working folder.
    process.chdir(join(folder, 'assets'));
    await Bun.build({
      ...buildOptions(),
      compile: {
        target: `bun-${platform.name}` as Bun.Build.CompileTarget,
        executablePath: runtimeOf(platform, lockfile, folder),
        outfile,
        assets: ASSET_FOLDERS,
        // The working folder is where data is, and may be anybody's: it does not change the program.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    });
    return outfile;
  } finally {
    process.chdir(ROOT);
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile;
  const { values, positionals } = parseArgs({
    options: { all: { type: 'boolean' }, out: { type: 'string', default: 'dist' } },
    allowPositionals: true,
  });
  const pinned = platformsOf(lockfile);
  const chosen = values.all ? pinned : choosePlatforms(positionals, pinned, hostPlatform());
  for (const platform of chosen) {
    const start = performance.now();
    const path = await build(platform, lockfile, resolve(values.out));
    const size = (statSync(path).size / 1e6).toFixed(1);
    console.log(`${relative('.', path)}  ${size} MB  ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
}
