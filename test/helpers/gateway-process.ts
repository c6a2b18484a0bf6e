/** The gateway as a real process, started as by its users and seen only from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export interface ProviderSetting {
  name: string;
  type: string;
  baseUrl: string;
  credential?: string;
  /** Instead of `credential`. */
  credentials?: string[];
  settings?: { [name: string]: string };
}

export interface ModelSetting {
  name: string;
  kind: 'chat';
  price: { [component: string]: number };
  maxOutputTokens?: number;
  onDisconnect?: 'abort' | 'drain';
  hedge?: 'on';
  targets: { provider: string; model: string; priority?: number; weight?: number }[];
}

export interface GatewaySetup {
  providers?: readonly ProviderSetting[];
  models?: readonly ModelSetting[];
  environment?: { [name: string]: string };
  /** A command that runs the gateway, for example in another namespace. */
  under?: readonly string[];
  /** The command that runs the program, instead of this checkout's launcher. */
  program?: readonly string[];
  /** The program's working folder. */
  folder?: string;
  /** The data folder of an earlier process; by default a new one. */
  dataFolder?: string;
  /** The database, and the data folder unless `dataFolder` names one. */
  database?: { dataDir: string; databaseUrl?: string };
}

/** A key with its own account, so that a test sees only its own calls and money. */
export interface TestCaller {
  account: string;
  key: string;
}

/** A call as the admin API lists it. */
export interface CallView {
  id: string;
  model: string;
  provider: string;
  status: number;
  outcome: string;
  errorCode?: string | null;
  attempts: number;
  cost: string;
  stream: boolean;
  usage?: {
    input: number;
    output: number;
    source: string;
    cachedInput?: number;
    reasoning?: number;
    hedge?: { provider: string; cost: string };
  } | null;
}

export interface VerifyView {
  ok: boolean;
  accounts: number;
  entries: number;
  holds: number;
  faults?: string[];
}

export interface GatewayProcess {
  readonly url: string;
  readonly apiKey: string;
  readonly adminKey: string;
  readonly dataFolder: string;
  /** Everything it has printed. */
  log(): string;
  /** Resolves when it has printed this text: lines are gathered for 50 ms. Rejects after 30 s. */
  printed(text: string): Promise<void>;
  /** A response of the admin API. Throws if it is an error. */
  admin<T>(method: string, path: string, body?: unknown): Promise<T>;
  newCaller(amount?: string): Promise<TestCaller>;
  balance(caller: TestCaller): Promise<{ available: string; held: string }>;
  calls(caller: TestCaller): Promise<CallView[]>;
  verify(): Promise<VerifyView>;
  /** In the Prometheus text format. */
  metrics(): Promise<string>;
  /** Sends SIGTERM and resolves with the exit code. Deletes the data folder unless `keep` is given. */
  stop(keep?: 'keep'): Promise<number | null>;
  /** Stops or continues the whole process tree. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills the whole process tree; the data folder stays. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the process ends by itself. */
  readonly exited: Promise<number | null>;
}

const READY_TIMEOUT_MS = 55_000;
const STOP_TIMEOUT_MS = 40_000;
const ROOT = join(import.meta.dirname, '../..');

const API_KEY = `sk-${'test'.repeat(12)}`;
const ADMIN_KEY = `sk-admin-${'test'.repeat(12)}`;

/** Starts `modelport serve` on a free port and resolves when it is ready. */
export async function startGateway(setup: GatewaySetup = {}): Promise<GatewayProcess> {
  const { database } = setup;
  const environment = {
    ...(database?.databaseUrl && { DATABASE_URL: database.databaseUrl }),
    ...setup.environment,
  };
  const dataFolder = setup.dataFolder ?? database?.dataDir ?? mkdtempSync(join(tmpdir(), 'modelport-test-'));
  const configFile = join(dataFolder, 'modelport.yaml');
  const { providers = [], models = [] } = setup;
  // JSON is valid YAML.
  writeFileSync(configFile, JSON.stringify({ providers, models }, undefined, 2));
  const port = await freePort();
  const settings = {
    HOST: '127.0.0.1',
    PORT: String(port),
    MODELPORT_DATA_DIR: dataFolder,
    MODELPORT_CONFIG: configFile,
    MODELPORT_API_KEY: API_KEY,
    MODELPORT_ADMIN_KEY: ADMIN_KEY,
    MODELPORT_VIDEO_POLL_MS: '200',
    // Gateways that share a database share its encryption key.
    ...('DATABASE_URL' in environment && { MODELPORT_SECRET_KEY: 'the key of every test gateway on one database' }),
    MODELPORT_SANDBOX: 'on',
    ...environment,
  };
  const serving = setup.program
    ? spawnProgram([...setup.program, 'serve'], settings, setup.folder)
    : spawnModelport(['serve'], settings, undefined, setup.under);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url, serving);

  async function admin<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }
  let callers = 0;
  return {
    url,
    apiKey: API_KEY,
    adminKey: ADMIN_KEY,
    dataFolder,
    log: serving.log,
    async printed(text) {
      for (const end = Date.now() + 30_000; !serving.log().includes(text); await Bun.sleep(20))
        if (Date.now() > end) throw new Error(`it did not print "${text}":\n${serving.log().slice(-4000)}`);
    },
    admin,
    exited: serving.exited,
    async newCaller(amount = '10.00') {
      const { id } = await admin<{ id: string }>('POST', '/accounts', { name: `test-${process.pid}-${++callers}` });
      if (Number(amount) > 0) await admin('POST', `/accounts/${id}/top-ups`, { amount, note: 'test' });
      const { key } = await admin<{ key: string }>('POST', '/keys', { account: id, name: 'test' });
      return { account: id, key };
    },
    balance: ({ account }) => admin('GET', `/accounts/${account}`),
    calls: async ({ account }) =>
      (await admin<{ data: CallView[] }>('GET', `/calls?account=${account}&limit=1000`)).data,
    async verify() {
      for (;;) {
        const report = await admin<VerifyView | { state: 'running' }>('GET', '/ledger/verify');
        if (!('state' in report)) return report;
      }
    },
    async metrics() {
      const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
      return response.text();
    },
    async stop(keep) {
      serving.child.kill('SIGTERM');
      const late = setTimeout(() => serving.killTree(), STOP_TIMEOUT_MS);
      const code = await serving.exited;
      clearTimeout(late);
      if (keep === undefined) rmSync(dataFolder, { recursive: true, force: true });
      return code;
    },
    signal(name) {
      if (serving.child.pid !== undefined) process.kill(-serving.child.pid, name);
    },
    async kill() {
      serving.killTree();
      await serving.exited;
    },
  };
}

export interface Serving {
  child: ChildProcess;
  log(): string;
  exited: Promise<number | null>;
  killTree(): void;
}

/** For POSIX shells, and for Node elsewhere. */
type Launcher = 'modelport' | 'modelport.mjs';

/** Runs the command as users have it. */
export function spawnModelport(
  args: readonly string[],
  environment: { [name: string]: string },
  launcher: Launcher = process.platform === 'win32' ? 'modelport.mjs' : 'modelport',
  under: readonly string[] = [],
): Serving {
  const command = join(ROOT, 'bin', launcher);
  const [first = '', ...rest] = [...under, ...(launcher === 'modelport' ? [] : ['node']), command, ...args];
  return spawnServing(first, rest, environment);
}

/** Runs a program that was built or installed elsewhere. */
export function spawnProgram(
  [command = '', ...args]: readonly string[],
  environment: { [name: string]: string },
  folder?: string,
): Serving {
  return spawnServing(command, args, environment, folder);
}

export function spawnNpmStart(environment: { [name: string]: string }): Serving {
  return spawnServing('npm', ['start', '--prefix', ROOT], environment);
}

/** In its own process group, with only PATH of our environment. */
function spawnServing(
  command: string,
  args: readonly string[],
  environment: { [name: string]: string },
  folder = tmpdir(),
): Serving {
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME, ...environment },
  });
  let log = '';
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  return {
    child,
    log: () => log,
    exited,
    killTree() {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // it has ended by itself
      }
    },
  };
}

export async function untilReady(url: string, serving: Serving): Promise<void> {
  let ended = false;
  void serving.exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline && !ended) {
    const ready = await fetch(`${url}/ready`).catch(() => undefined);
    if (ready?.ok) return;
    await Bun.sleep(25);
  }
  serving.killTree();
  throw new Error(`the gateway did not become ready:\n${serving.log()}`);
}
