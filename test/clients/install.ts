/** Installs the packages that tests drive the gateway with, once per folder and from its lockfile. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { claim } from './claim.ts';

export const clientsFolder = import.meta.dirname;

const INSTALL_TIMEOUT_MS = 300_000;

/** The official client libraries. */
export function installClients(): Promise<void> {
  return installPackages(clientsFolder);
}

/** Resolves when the packages of the folder's lockfile are installed. Test files that start together wait for one of them. */
export async function installPackages(folder: string): Promise<void> {
  const lockfile = join(folder, 'package-lock.json');
  const stampFile = join(folder, 'node_modules', '.modelport-lockfile');
  const installing = join(folder, '.installing');
  const installed = () => existsSync(stampFile) && readFileSync(stampFile).equals(readFileSync(lockfile));
  const deadline = Date.now() + INSTALL_TIMEOUT_MS;
  while (!installed()) {
    if (Date.now() > deadline) throw new Error(`the packages of ${folder} were not installed in time`);
    if (claim(installing, INSTALL_TIMEOUT_MS)) {
      try {
        await install(folder);
        writeFileSync(stampFile, readFileSync(lockfile));
      } finally {
        rmdirSync(installing);
      }
    } else await Bun.sleep(200);
  }
}

/** The path of a Node that is recent enough for every library. */
export function clientNode(): string {
  const windows = process.platform === 'win32';
  const platform = `${windows ? 'win' : process.platform}-${process.arch}`;
  const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`;
  return join(clientsFolder, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node');
}

/**
 * With Bun, which takes an eighth of npm's processor time, keeps to the versions and checksums of the same lockfile, and runs no script of
 * a package; with npm if that fails, as where npm alone knows the registry.
 */
async function install(folder: string): Promise<void> {
  const place = relative(process.cwd(), folder);
  console.warn(`Installing what the tests need in ${place} …`);
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  const bun = await run(folder, process.execPath, ['install', '--frozen-lockfile', '--no-save', '--silent']);
  if (bun === 0) return;
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const code = await run(folder, npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0) throw new Error(`npm ci in ${place} ended with ${code}`);
}

function run(folder: string, command: string, args: string[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, shell: command.endsWith('.cmd') };
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('exit', resolve);
  });
}

if (import.meta.main) {
  for (const folder of ['.', 'matrix', '../agents', '../oidc', '../openapi/tools', '../parquet', '../release'])
    await installPackages(join(clientsFolder, folder));
}
