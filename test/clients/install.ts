/** Installs the client libraries into test/clients once, from their lockfile, so that a bare clone can run the tests. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const clientsFolder = import.meta.dirname;
const lockfile = join(clientsFolder, 'package-lock.json');
const stampFile = join(clientsFolder, 'node_modules', '.modelport-lockfile');
const installing = join(clientsFolder, '.installing');

const INSTALL_TIMEOUT_MS = 300_000;

/** Resolves when the libraries of the lockfile stand in node_modules; test files that start together wait for one of them. */
export async function installClients(): Promise<void> {
  const deadline = Date.now() + INSTALL_TIMEOUT_MS;
  while (!installed()) {
    if (Date.now() > deadline) throw new Error('the client libraries were not installed in time');
    if (claim()) {
      try {
        await npmCi();
        writeFileSync(stampFile, readFileSync(lockfile));
      } finally {
        rmdirSync(installing);
      }
    } else await Bun.sleep(200);
  }
}

/** Path of a Node that is new enough for every library, whatever the machine has. */
export function clientNode(): string {
  const windows = process.platform === 'win32';
  const platform = `${windows ? 'win' : process.platform}-${process.arch}`;
  const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`;
  return join(clientsFolder, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node');
}

function installed(): boolean {
  return existsSync(stampFile) && readFileSync(stampFile).equals(readFileSync(lockfile));
}

/** A folder is made by one process only; one that a killed run left behind is taken over. */
function claim(): boolean {
  try {
    mkdirSync(installing);
    return true;
  } catch {
    const age = Date.now() - (statSync(installing, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > INSTALL_TIMEOUT_MS) rmdirSync(installing);
    return false;
  }
}

function npmCi(): Promise<void> {
  console.warn('Installing the client libraries of the tests (npm ci in test/clients) …');
  return new Promise((resolve, reject) => {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const options = { cwd: clientsFolder, shell: process.platform === 'win32' };
    const child = spawn(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { ...options, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`npm ci in test/clients ended with ${code}`)),
    );
  });
}
