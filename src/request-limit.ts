/**
 * Imported first by the main file. Bun reads how many requests its own fetch (used behind a proxy and for buckets) may hold open when
 * the process starts: 256. The launchers set it; the binary, which has none, starts itself again, which takes some 6 ms.
 */

/** As in `bin/`. */
const MAX_UPSTREAM_REQUESTS = '65535';
const VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

if (Bun.isStandaloneExecutable && process.argv[2] === 'serve' && process.env[VARIABLE] === undefined) startAgain();

function startAgain(): void {
  const command = [process.execPath, ...process.argv.slice(2)];
  const env = { ...process.env, [VARIABLE]: MAX_UPSTREAM_REQUESTS };
  // The same process: service managers know its id. Windows cannot do that: there this process waits for another one.
  if (process.execve && process.platform !== 'win32')
    process.execve(process.execPath, command, env as { [name: string]: string });
  else {
    const launcher = { MODELPORT_LAUNCHER: String(process.pid) };
    const { exitCode } = Bun.spawnSync(command, {
      env: { ...env, ...launcher },
      stdio: ['inherit', 'inherit', 'inherit'],
    });
    process.exit(exitCode);
  }
}
