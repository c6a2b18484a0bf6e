#!/usr/bin/env node
// Finds the Bun binary that npm installed for this platform and becomes it: people need only Node and npm.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Bun reads how many requests its fetch may hold open at once when the process starts, so a parent must set it. */
const MAX_UPSTREAM_REQUESTS = '65535';
/** How often Bun's allocator returns unused parts of its pages to the system. Its own 100 ms cost a tenth of a call's processor time. */
const PURGE_INTERVAL_MS = '1000';

/** Path of the Bun executable of this platform's npm package; throws a sentence where npm installed none. */
export function findBun() {
  const require = createRequire(import.meta.url);
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  const names = [`bun-${process.platform}-${arch}`];
  if (process.platform === 'linux') {
    const musl = !process.report?.getReport().header.glibcVersionRuntime;
    names[musl ? 'unshift' : 'push'](`bun-linux-${arch}-musl`);
  }
  if (process.platform === 'win32') names[0] = `bun-windows-${arch}`;
  for (const name of names) {
    try {
      const folder = dirname(require.resolve(`@oven/${name}/package.json`));
      const binary = join(folder, 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
      if (existsSync(binary)) return binary;
    } catch {
      // that platform's package is not installed: the next one may be
    }
  }
  throw new Error(`no Bun binary for ${process.platform}-${process.arch}: run "npm ci" again without --omit=optional`);
}

/** Runs Bun with these arguments in this terminal, hands it our signals and ends as it ends. */
export function runBun(args) {
  const child = spawn(findBun(), args, {
    stdio: 'inherit',
    // The child watches whether its launcher lives: who kills the launcher means both.
    env: {
      BUN_CONFIG_MAX_HTTP_REQUESTS: MAX_UPSTREAM_REQUESTS,
      MIMALLOC_PURGE_HOLES_MIN_INTERVAL: PURGE_INTERVAL_MS,
      ...process.env,
      MODELPORT_LAUNCHER: String(process.pid),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}

if (import.meta.filename === process.argv[1]) runBun(process.argv.slice(2));
