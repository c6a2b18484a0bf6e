/** Environment and file to one frozen Config; a wrong setting is a sentence at boot. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { MAX_JSON_DEPTH } from './canonical/json.ts';
import { type Money, readMoney } from './canonical/money.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import { readCatalogueFile } from './config/catalogue-file.ts';
import { readCertificate } from './config/certificate.ts';
import { filesPlace } from './config/files-place.ts';
import { readKeyFile } from './config/key-file.ts';
import { checkLedgerKey } from './config/ledger-key.ts';
import {
  type ListenPlace,
  LONGEST_MS,
  readAddress,
  readKey,
  readListen,
  readMs,
  readRanges,
  readSandbox,
  readSecretKey,
  readSetting,
  readWhole,
  readWord,
  readWords,
} from './config/read-settings.ts';
import { withSecretFiles } from './config/secret-files.ts';
import { type Environment, SettingError } from './config/setting-error.ts';
import { refuseUnknown, SECRETS, SETTINGS, type Setting } from './config/settings.ts';
import type { BucketPlace } from './files/files.ts';
import type { Certificate } from './http1/server.ts';
import type { TimeLimits } from './transport/time-limits.ts';

/** The variables that switch a provider on. */
export interface VendorVariables {
  type: string;
  credentialVariable?: string;
  /** Variables of a key's parts, where that one is not set; the first two must be. */
  credentialVariables?: readonly string[];
  baseUrlVariable?: string;
  /** For each setting the variables that say it, the first that is set. */
  settingVariables?: { readonly [setting: string]: readonly string[] };
}

/** A provider that the environment switches on. */
export interface Vendor {
  type: string;
  credential?: string;
  /** Without a trailing slash. */
  baseUrl?: string;
  settings?: { readonly [name: string]: string };
}

/** Everything that can be set. docs/reference/configuration.md describes each setting for people. */
export interface Config {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Clients speak TLS with this certificate. */
  tls?: Certificate;
  /** Absolute. */
  dataDir: string;
  /** How many processes serve together; `auto`: one for each core. */
  processes: number | 'auto';
  /** Postgres; absent: SQLite in `dataDir`. */
  databaseUrl?: string;
  /** How many connections each process may open to it. */
  databaseConnections: number;
  /** Records of calls older than this are dropped, their sums stay; 0: none are. */
  keepCallsDays: number;
  /** How far a commit of SQLite has gone when it counts: `full` survives a loss of power as well as a crash. */
  sqliteSync: 'normal' | 'full';
  /** Limits and caches shared between processes; absent: each process has its own. */
  redisUrl?: string;
  /** Before every key in Redis. */
  redisPrefix: string;
  /** How long a call waits for Redis to count it. */
  redisTimeoutMs: number;
  /** What becomes of limited calls where Redis does not answer: counted in this process alone, or refused. */
  limitsWithoutRedis: 'open' | 'closed';
  /** What verified books are signed with; absent: a key that is made in `dataDir`. */
  ledgerKey?: string;
  /** Keys for the first start on an empty database; absent: random ones. */
  apiKey?: string;
  adminKey?: string;
  /** What providers' credentials are encrypted with, and what they were before; absent: a key of a file. */
  secretKey?: string;
  secretKeyPrevious?: string;
  /** What the account of the first start is given. */
  startingCredit: Money;
  /** `auto`: on while no other provider is configured. */
  sandbox: 'on' | 'off' | 'auto';
  timeLimits: TimeLimits;
  /** Silence in a stream after which something harmless is sent. */
  keepAliveMs: number;
  maxBodyBytes: number;
  /** What a process may use of memory; 0: what the machine has decides. */
  memoryBytes: number;
  /** What one account may have under way in a process: calls, and bytes of their bodies (0: a quarter of the memory). */
  accountCalls: number;
  accountBytes: number;
  /** How long a request's body may take to arrive, and what it must bring a second on average; 0: anything. */
  bodyMs: number;
  bodyBytesPerSecond: number;
  /** What a body of JSON may hold. */
  jsonBounds: { depth: number; values: number; members: number; membersOfOne: number };
  /** Images a call may ask for. */
  maxImages: number;
  unpricedExtras: 'refuse' | 'tools' | 'allow';
  /** Addresses and ranges that are not public and may be fetched from for a client all the same. */
  fetchAllowed: readonly string[];
  /** The largest medium fetched for a client, and how long that may take. */
  maxFetchBytes: number;
  fetchMs: number;
  /** The model of a video where its client names none. */
  videoModel?: string;
  /** How long a video task may take. */
  videoMs: number;
  /** When a video task is first polled; 0: when it suits its provider. */
  videoPollMs: number;
  /** Where finished works are kept, how long, and how large they may be. */
  files: { folder: string } | BucketPlace;
  keepFilesMs: number;
  maxFileBytes: number;
  /** Where clients reach the gateway, without a trailing slash; absent: where they asked. */
  publicUrl?: string;
  /** How long images are kept that are asked for by their address. */
  keepImagesMs: number;
  /** How long another process's lease on the database holds without being renewed. */
  leaseMs: number;
  /** How long a stop waits for calls under way. */
  drainMs: number;
  /** A process whose event loop has not turned for so long is ended; 0: never. */
  stallMs: number;
  /** For models that do not say it themselves. */
  onDisconnect: 'abort' | 'drain';
  /** How long an upstream is read on after its client has left, where the policy is `drain`. */
  disconnectDrainMs: number;
  logLevel: (typeof LOG_LEVELS)[number];
  /** Addresses and ranges of proxies whose `x-forwarded-for` is believed. */
  trustedProxies: readonly string[];
  /** Opens `/metrics` beside the admin keys. */
  metricsToken?: string;
  /** `open`: everybody may read `/metrics`. */
  metrics: 'key' | 'open';
  /** Where the admin API and the metrics are served instead of on the main address, and under which host names. */
  adminListen?: ListenPlace;
  adminHosts: readonly string[];
  /** How long responses and proofs of thinking are kept; 0: not at all. */
  kept: { responsesMs: number; proofsMs: number };
  /** What modelport.yaml puts available; readable, for `applyCatalogue`. */
  file: CatalogueForm;
  /** Where that was read from; absent: there is no file. */
  filePath?: string;
  vendors: readonly Vendor[];
}

/** A process shows that it lives every second. */
const SHORTEST_LEASE_MS = 3000;

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const FILE_NAME = 'modelport.yaml';

/** Reads the environment and the file beside it; throws SettingError. `folder` is where relative paths begin. */
export function loadConfig(
  given: Environment,
  vendorVariables: readonly VendorVariables[],
  folder = process.cwd(),
): Config {
  refuseUnknown(given);
  const env = withSecretFiles(given, secretNames(vendorVariables));
  const databaseUrl = readAddress(env, 'DATABASE_URL', ['postgres:', 'postgresql:'], 'postgres://user@host/name');
  const redisUrl = readAddress(env, 'REDIS_URL', ['redis:', 'rediss:'], 'redis://host:6379');
  const videoModel = readSetting(env, 'MODELPORT_VIDEO_MODEL');
  const tls = readCertificate(env, folder);
  const publicUrl = readAddress(env, 'MODELPORT_PUBLIC_URL', ['http:', 'https:'], 'https://models.example.com');
  return freeze({
    host: readSetting(env, 'HOST'),
    port: readWhole(env, 'PORT', 0, 65_535),
    ...(tls && { tls }),
    processes: readProcesses(env),
    dataDir: resolve(folder, readSetting(env, 'MODELPORT_DATA_DIR')),
    ...(databaseUrl && { databaseUrl }),
    databaseConnections: readWhole(env, 'MODELPORT_DATABASE_CONNECTIONS', 2, 1000),
    keepCallsDays: readWhole(env, 'MODELPORT_KEEP_CALLS_DAYS', 0, 36_500),
    sqliteSync: readWord(env, 'MODELPORT_SQLITE_SYNC', ['normal', 'full'] as const),
    ...(redisUrl && { redisUrl }),
    redisPrefix: readSetting(env, 'MODELPORT_REDIS_PREFIX'),
    redisTimeoutMs: readMs(env, 'MODELPORT_REDIS_TIMEOUT_MS'),
    limitsWithoutRedis: readWord(env, 'MODELPORT_LIMITS_WITHOUT_REDIS', ['open', 'closed'] as const),
    ...readOperator(env),
    ...readKeys(env),
    startingCredit: readCredit(env),
    sandbox: readSandbox(env),
    timeLimits: readTimeLimits(env),
    keepAliveMs: readMs(env, 'MODELPORT_KEEP_ALIVE_MS'),
    maxBodyBytes: readWhole(env, 'MODELPORT_MAX_BODY_BYTES', 1, 2 ** 32),
    memoryBytes: readWhole(env, 'MODELPORT_MEMORY_BYTES', 0, 2 ** 48),
    accountCalls: readWhole(env, 'MODELPORT_ACCOUNT_CALLS', 1, 1_000_000),
    accountBytes: readWhole(env, 'MODELPORT_ACCOUNT_BYTES', 0, 2 ** 48),
    bodyMs: readMs(env, 'MODELPORT_BODY_TIMEOUT_MS'),
    bodyBytesPerSecond: readWhole(env, 'MODELPORT_BODY_MIN_RATE', 0, 2 ** 31),
    jsonBounds: {
      depth: MAX_JSON_DEPTH,
      values: readWhole(env, 'MODELPORT_MAX_JSON_VALUES', 1000, 2 ** 31),
      members: readWhole(env, 'MODELPORT_MAX_JSON_MEMBERS', 1000, 2 ** 31),
      membersOfOne: MOST_MEMBERS_OF_ONE,
    },
    ...readAskable(env),
    fetchAllowed: readRanges(env, 'MODELPORT_FETCH_ALLOW'),
    maxFetchBytes: readWhole(env, 'MODELPORT_FETCH_MAX_BYTES', 1, 2 ** 32),
    fetchMs: readMs(env, 'MODELPORT_FETCH_TIMEOUT_MS'),
    ...(videoModel && { videoModel }),
    ...(publicUrl && { publicUrl: publicUrl.replace(/\/+$/, '') }),
    keepImagesMs: readWhole(env, 'MODELPORT_IMAGES_KEEP_HOURS', 1, 87_600) * 3_600_000,
    ...readVideoTimes(env),
    files: filesPlace((setting) => readSetting(env, setting), folder),
    keepFilesMs: readWhole(env, 'MODELPORT_FILES_KEEP_DAYS', 1, 3650) * 86_400_000,
    maxFileBytes: readWhole(env, 'MODELPORT_FILES_MAX_BYTES', 1, 2 ** 40),
    leaseMs: readWhole(env, 'MODELPORT_LEASE_MS', SHORTEST_LEASE_MS, LONGEST_MS),
    drainMs: readWhole(env, 'MODELPORT_DRAIN_MS', 0, LONGEST_MS),
    stallMs: readWhole(env, 'MODELPORT_STALL_MS', 0, LONGEST_MS),
    onDisconnect: readWord(env, 'MODELPORT_ON_DISCONNECT', ['abort', 'drain'] as const),
    disconnectDrainMs: readMs(env, 'MODELPORT_DISCONNECT_DRAIN_MS'),
    logLevel: readWord(env, 'MODELPORT_LOG_LEVEL', LOG_LEVELS),
    trustedProxies: readRanges(env, 'MODELPORT_TRUSTED_PROXIES'),
    kept: {
      responsesMs: readWhole(env, 'MODELPORT_KEEP_RESPONSES_DAYS', 0, 3650) * 86_400_000,
      proofsMs: readWhole(env, 'MODELPORT_KEEP_PROOFS_HOURS', 0, 87_600) * 3_600_000,
    },
    ...readFile(env, folder),
    vendors: readVendors(env, vendorVariables, folder),
  });
}

function readTimeLimits(env: Environment): TimeLimits {
  return {
    connectMs: readMs(env, 'MODELPORT_CONNECT_TIMEOUT_MS'),
    headersMs: readMs(env, 'MODELPORT_HEADERS_TIMEOUT_MS'),
    firstTokenMs: readMs(env, 'MODELPORT_FIRST_TOKEN_TIMEOUT_MS'),
    silenceMs: readMs(env, 'MODELPORT_SILENCE_TIMEOUT_MS'),
    wholeMs: readMs(env, 'MODELPORT_WHOLE_TIMEOUT_MS'),
  };
}

/** Who reads the metrics, where the operator's surface is, and what the books are signed with. */
function readOperator(
  env: Environment,
): Pick<Config, 'metricsToken' | 'metrics' | 'adminListen' | 'adminHosts' | 'ledgerKey'> {
  const ledgerKey = readSetting(env, 'MODELPORT_LEDGER_KEY');
  const metricsToken = readSetting(env, 'MODELPORT_METRICS_TOKEN');
  const adminListen = readListen(env, 'MODELPORT_ADMIN_LISTEN');
  return {
    ...(ledgerKey && { ledgerKey: checkLedgerKey(ledgerKey) }),
    ...(metricsToken && { metricsToken }),
    metrics: readWord(env, 'MODELPORT_METRICS', ['key', 'open'] as const),
    ...(adminListen && { adminListen }),
    adminHosts: readWords(env, 'MODELPORT_ADMIN_HOSTS'),
  };
}

type Keys = Pick<Config, 'apiKey' | 'adminKey' | 'secretKey' | 'secretKeyPrevious'>;

function readKeys(env: Environment): Keys {
  const apiKey = readKey(env, 'MODELPORT_API_KEY', /^sk-(?!admin-)\S+$/, 'sk-');
  const adminKey = readKey(env, 'MODELPORT_ADMIN_KEY', /^sk-admin-\S+$/, 'sk-admin-');
  const secretKey = readSecretKey(env, 'MODELPORT_SECRET_KEY');
  const secretKeyPrevious = readSecretKey(env, 'MODELPORT_SECRET_KEY_PREVIOUS');
  return {
    ...(apiKey && { apiKey }),
    ...(adminKey && { adminKey }),
    ...(secretKey && { secretKey }),
    ...(secretKeyPrevious && { secretKeyPrevious }),
  };
}

function secretNames(vendorVariables: readonly VendorVariables[]): Set<string> {
  const ofVendors = vendorVariables.flatMap(({ credentialVariable, credentialVariables = [] }) =>
    credentialVariable ? [credentialVariable, ...credentialVariables] : credentialVariables,
  );
  return new Set([...SECRETS, ...ofVendors]);
}

/** What a request may ask for. */
function readAskable(env: Environment): Pick<Config, 'maxImages' | 'unpricedExtras'> {
  return {
    maxImages: readWhole(env, 'MODELPORT_MAX_IMAGES', 1, 1000),
    unpricedExtras: readWord(env, 'MODELPORT_UNPRICED_EXTRAS', ['refuse', 'tools', 'allow'] as const),
  };
}

function readVideoTimes(env: Environment): Pick<Config, 'videoMs' | 'videoPollMs'> {
  const videoMs = readMs(env, 'MODELPORT_VIDEO_TIMEOUT_MS');
  return { videoMs, videoPollMs: readWhole(env, 'MODELPORT_VIDEO_POLL_MS', 0, LONGEST_MS) };
}

/** The settings in force that have a value, in the order of SETTINGS; secret ones say so and are not to be shown whole. */
export function settingsInForce(
  config: Config,
  given: Environment,
): { name: Setting; value: string; secret: boolean }[] {
  const env = withSecretFiles(given, SECRETS);
  const settings = Object.keys(SETTINGS) as Setting[];
  return settings
    .map((name) => ({
      name,
      value: name === 'MODELPORT_DATA_DIR' ? config.dataDir : readSetting(env, name),
      secret: SECRETS.has(name),
    }))
    .filter(({ value }) => value !== '');
}

function readFile(env: Environment, folder: string): { file: CatalogueForm; filePath?: string } {
  const named = readSetting(env, 'MODELPORT_CONFIG');
  const path = resolve(folder, named || FILE_NAME);
  return named || existsSync(path) ? { file: readCatalogueFile(path, env), filePath: path } : { file: {} };
}

/** A server of one's own is on when its address is named, a provider when its key is. */
function readVendors(env: Environment, rows: readonly VendorVariables[], folder: string): Vendor[] {
  const vendors: Vendor[] = [];
  for (const row of rows) {
    const { type, baseUrlVariable } = row;
    const credential = credentialOf(env, row, folder);
    const baseUrl = baseUrlVariable && env[baseUrlVariable]?.trim();
    if (!(baseUrlVariable ? baseUrl : credential)) continue;
    if (baseUrlVariable && baseUrl && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw new SettingError(`${baseUrlVariable} must be an http or https address such as http://127.0.0.1:8000/v1.`);
    }
    const settings = settingsOf(env, row);
    vendors.push({
      type,
      ...(credential && { credential }),
      ...(baseUrl && { baseUrl: baseUrl.replace(/\/+$/, '') }),
      ...(settings && { settings }),
    });
  }
  return vendors;
}

function credentialOf(env: Environment, row: VendorVariables, folder: string): string | undefined {
  const { credentialVariable, credentialVariables = [] } = row;
  const whole = credentialVariable && env[credentialVariable]?.trim();
  if (whole) return readKeyFile(whole, credentialVariable, folder);
  const parts = credentialVariables.map((variable) => env[variable]?.trim() ?? '');
  return parts[0] && parts[1] ? parts.filter(Boolean).join(':') : undefined;
}

function settingsOf(env: Environment, { settingVariables = {} }: VendorVariables): Vendor['settings'] {
  const said = Object.entries(settingVariables).flatMap(([setting, variables]) => {
    const value = variables.map((variable) => env[variable]?.trim()).find(Boolean);
    return value ? [[setting, value]] : [];
  });
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** Of one object: more names than any request has, fewer than cost much. */
const MOST_MEMBERS_OF_ONE = 10_000;
const MOST_PROCESSES = 256;

function readProcesses(env: Environment): number | 'auto' {
  if (readSetting(env, 'MODELPORT_PROCESSES') === 'auto') return 'auto';
  return readWhole(env, 'MODELPORT_PROCESSES', 1, MOST_PROCESSES);
}

function readCredit(env: Environment): Money {
  const text = readSetting(env, 'MODELPORT_STARTING_CREDIT');
  const amount = readMoney(text);
  if (amount !== undefined && amount >= 0n) return amount;
  throw new SettingError(`MODELPORT_STARTING_CREDIT must be an amount in USD such as 10 or 2.50, not "${text}".`);
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
