/** The program `modelport`: passes the modules to its commands. */

// Before everything else, because it may start the process again.
import './start-variables.ts';
import { version } from '../package.json';
import { openApp, openDatabase, openTransport } from './app.ts';
import type { CliDeps } from './cli/cli-deps.ts';
import { runCommand } from './cli/run-command.ts';
import { readAdminServer, readServerAddress } from './config/admin-server.ts';
import { readCatalogueFile } from './config/catalogue-file.ts';
import { type Config, loadConfig, settingsInForce } from './config.ts';
import { openFiles } from './files/open-files.ts';
import { probe, providerVariables } from './found-providers.ts';
import type { Ledger } from './ledger/ledger.ts';
import { liveChecks } from './live-checks.ts';
import { createLog } from './log.ts';
import { processCount } from './processes.ts';
import { serve } from './serve.ts';
import type { Store } from './store/store.ts';
import { askServer } from './transport/ask-server.ts';

const env = Bun.env;
const proxied = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((variable) => env[variable]);
/** The launcher's process, if it started this one. */
const launcher = Number(env.MODELPORT_LAUNCHER) === process.ppid ? process.ppid : undefined;
/** The index of this process among several, set by the process that started them. */
const worker = env.MODELPORT_WORKER === undefined ? undefined : Number(env.MODELPORT_WORKER);
const workers = Number(env.MODELPORT_WORKERS ?? 1);
const out = (line: string) => void process.stdout.write(`${line}\n`);

let loaded: Config | undefined;
const config = () => (loaded ??= loadConfig(env, providerVariables()));
let opened: Promise<Store> | undefined;
const store = () => (opened ??= openDatabase(config()));
const app = async () =>
  openApp(
    config(),
    await store(),
    openTransport(proxied),
    createLog('silent', () => {}, Date.now),
  );
let ledger: Ledger | undefined;

const opener: CliDeps = {
  version,
  terminal: { out, err: (line) => void process.stderr.write(`${line}\n`) },
  now: Date.now,
  wait: (ms) => Bun.sleep(ms).then(() => true),
  server: (asked) => readAdminServer(env, asked),
  address: (url) => readServerAddress(env, url),
  ask: askServer,
  store,
  async ledger() {
    ledger ??= (await app()).ledger;
    return ledger;
  },
  verifier: async () => (await app()).verifier,
  files: () => openFiles(config().files),
  async close() {
    await ledger?.flush();
    await (await opened)?.close();
  },
  settings: () => settingsInForce(config(), env),
  serve(processes) {
    const count = worker === undefined ? processCount(processes ?? config().processes) : 1;
    return serve(config(), count, {
      version,
      proxied,
      launcher,
      worker,
      workers,
      isTerminal: process.stdout.isTTY,
      command: [process.execPath, ...(Bun.isStandaloneExecutable ? [] : [Bun.main])],
      env,
      out,
      readAgain: () => loadConfig(env, providerVariables()),
    });
  },
  readForm: async (path) => readCatalogueFile(path, env),
  probe: (row) => probe(row, config(), openTransport(proxied)),
  liveChecks: (providers) =>
    liveChecks({ config: config(), providers, transport: openTransport(proxied), now: Date.now }),
};

/**
 * What cannot be written, because the reader closed the pipe (`modelport audit | head -1`) or the disk of a log file is full, ends a command. The
 * service continues, without these lines of its log.
 */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code, message }: Error & { code?: string }) => {
    if (process.argv[2] === 'serve') return;
    if (code === 'EPIPE' || code === 'EIO') process.exit();
    if (stream === process.stdout) process.stderr.write(`The output could not be written: ${message}\n`);
    process.exit(1);
  });
}

/** How long the service may take to write its last lines. What still goes on, such as settlements without a database, ends with it. */
const LAST_LINES_MS = 1000;

// Not awaited at the top level: a bundle with bytecode is a CommonJS module. Bun collects garbage when this file has been evaluated: what the
// command makes is not there yet, and the collection takes a start 10 ms less.
setImmediate(async () => {
  process.exitCode = await runCommand(process.argv.slice(2), opener);
  if (process.argv[2] === 'serve') setTimeout(() => process.exit(), LAST_LINES_MS).unref();
});
