/**
 * Imported first by the main file. Bun reads some variables when the process starts. The launchers set them; the binary, which has none,
 * starts itself again with them, which takes some 6 ms.
 */

/** As in `bin/`, where the reasons are. */
const VARIABLES = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535', MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000' };

const isComplete = Object.keys(VARIABLES).every((name) => process.env[name] !== undefined);
if (Bun.isStandaloneExecutable && process.argv[2] === 'serve' && !isComplete) startAgain();

function startAgain(): void {
  const command = [process.execPath, ...process.argv.slice(2)];
  const env: { [name: string]: string } = { ...VARIABLES, ...(process.env as { [name: string]: string }) };
  // The same process: service managers know its id. Windows cannot do that: there this process waits for another one.
  if (process.execve && process.platform !== 'win32') process.execve(process.execPath, command, env);
  else {
    const launcher = { MODELPORT_LAUNCHER: String(process.pid) };
    const { exitCode } = Bun.spawnSync(command, {
      env: { ...env, ...launcher },
      stdio: ['inherit', 'inherit', 'inherit'],
    });
    process.exit(exitCode);
  }
}
