/** Reads environment and file into one frozen Config. An invalid setting throws SettingError. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { MAX_JSON_DEPTH } from './canonical/json.ts';
import type { Money } from './canonical/money.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import { readCatalogueFile } from './config/catalogue-file.ts';
import { readCertificate } from './config/certificate.ts';
import { type ConsoleSettings, readConsole } from './config/console-settings.ts';
import { filesPlace } from './config/files-place.ts';
import { type Kept, readKept } from './config/kept-settings.ts';
import { readKeyFile } from './config/key-file.ts';
import { checkLedgerKey } from './config/ledger-key.ts';
import { readTraces } from './config/otel-settings.ts';
import {
  type ListenPlace,
  LONGEST_MS,
  readAddress,
  readAmount,
  readInteger,
  readKey,
  readListen,
  readMs,
  readRanges,
  readSandbox,
  readSecretKey,
  readSetting,
  readWord,
  readWords,
} from './config/read-settings.ts';
import { withSecretFiles } from './config/secret-files.ts';
import { type Environment, SettingError } from './config/setting-error.ts';
import { refuseUnknown, SECRETS, SETTINGS, type Setting } from './config/settings.ts';
import type { BucketPlace } from './files/files.ts';
import type { Certificate } from './http1/server.ts';
import type { TraceSettings } from './telemetry/traces/tracing.ts';
import type { TimeLimits } from './transport/time-limits.ts';

/** The variables that enable a provider. */
export interface ProviderVariables {
  type: string;
  credentialVariable?: string;
  /** Variables with the parts of a key, if that one is not set; the first two are required. */
  credentialVariables?: readonly string[];
  baseUrlVariable?: string;
  /** For each setting its variables; the first that is set is used. */
  settingVariables?: { readonly [setting: string]: readonly string[] };
}

/** A provider enabled by the environment. */
export interface EnvironmentProvider {
  type: string;
  credential?: string;
  /** Without a trailing slash. */
  baseUrl?: string;
  settings?: { readonly [name: string]: string };
}

/** All settings. docs/reference/configuration.md describes each. */
export interface Config {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The certificate for TLS. */
  tls?: Certificate;
  /** An absolute path. */
  dataDir: string;
  /** The number of processes; `auto`: one per core. */
  processes: number | 'auto';
  /** Postgres. Absent: SQLite in `dataDir`. */
  databaseUrl?: string;
  /** Connections of each process to the database. */
  databaseConnections: number;
  /** Call records are removed after this time, their sums are kept; 0: never. */
  keepCallsDays: number;
  /** When a commit of SQLite counts: `full` survives a power failure, `normal` a crash of the process. */
  sqliteSync: 'normal' | 'full';
  /** Redis for limits over all processes. Absent: each process counts for itself. */
  redisUrl?: string;
  /** The prefix of every key in Redis. */
  redisPrefix: string;
  /** How long a call waits for Redis to count it. */
  redisTimeoutMs: number;
  /** What happens to limited calls when Redis does not answer: counted in this process, or refused. */
  limitsWithoutRedis: 'open' | 'closed';
  /** The key that signs verification checkpoints. Absent: a key made in `dataDir`. */
  ledgerKey?: string;
  /** Keys for the bootstrap of an empty database. Absent: random ones. */
  apiKey?: string;
  adminKey?: string;
  /** The current and previous key for providers' credentials. Absent: a key in a file. */
  secretKey?: string;
  secretKeyPrevious?: string;
  /** The balance of the account that the bootstrap creates. */
  startingCredit: Money;
  /** `auto`: enabled while no other provider is configured. */
  sandbox: 'on' | 'off' | 'auto';
  timeLimits: TimeLimits;
  /** After this silence a stream sends a keep-alive. */
  keepAliveMs: number;
  maxBodyBytes: number;
  /** The memory limit of a process; 0: derived from the machine's memory. */
  memoryBytes: number;
  /** Concurrent work of one account in a process: calls, and bytes of their bodies (0: a quarter of the memory). */
  accountCalls: number;
  accountBytes: number;
  /** The time limit of a request body, and its minimum average rate per second; 0: none. */
  bodyMs: number;
  bodyBytesPerSecond: number;
  /** Limits on the structure of JSON bodies. */
  jsonBounds: { depth: number; values: number; members: number; membersOfOne: number };
  /** The maximum of images per call. */
  maxImages: number;
  /** Whether callers may see which provider answered. */
  showProvider: boolean;
  /** Whether callers see the providers that their calls were sent to. */
  showAttempts: boolean;
  unpricedExtras: 'refuse' | 'tools' | 'allow';
  /** Private addresses and ranges that may be fetched for clients. */
  fetchAllowed: readonly string[];
  /** Size and time limits of media fetched for clients. */
  maxFetchBytes: number;
  fetchMs: number;
  /** The model for video requests without one. */
  videoModel?: string;
  /** The maximum duration of a video task. */
  videoMs: number;
  /** The first poll interval of a video task; 0: the provider's default. */
  videoPollMs: number;
  /** Storage of results: where, how long, and the maximum size. */
  files: { folder: string } | BucketPlace;
  keepFilesMs: number;
  maxFileBytes: number;
  /** The gateway's public URL, without a trailing slash. Absent: the host of the request. */
  publicUrl?: string;
  /** How long images requested as URLs are stored. */
  keepImagesMs: number;
  /** How long another process's lease on the database is valid without renewal. */
  leaseMs: number;
  /** How long a stop waits for active calls. */
  drainMs: number;
  /** A process whose event loop is blocked for this long is ended; 0: never. */
  stallMs: number;
  /** The default for models that do not set it. */
  onDisconnect: 'abort' | 'drain';
  /** How long an upstream is read after its client disconnected, with the policy `drain`. */
  disconnectDrainMs: number;
  logLevel: (typeof LOG_LEVELS)[number];
  /** Addresses and ranges of proxies whose `x-forwarded-for` is trusted. */
  trustedProxies: readonly string[];
  /** A token for `/metrics`, besides the admin keys. */
  metricsToken?: string;
  /** `open`: `/metrics` needs no key. */
  metrics: 'key' | 'open';
  /** Absent: no traces are exported. */
  traces?: TraceSettings;
  /** A separate address for the admin API and the metrics, and its host names. */
  adminListen?: ListenPlace;
  adminHosts: readonly string[];
  /** Absent: there is no console. */
  console?: ConsoleSettings;
  kept: Kept;
  /** The contents of modelport.yaml, for `applyCatalogue`. */
  file: CatalogueForm;
  /** Its path. Absent: there is no file. */
  filePath?: string;
  providers: readonly EnvironmentProvider[];
}

/** Processes renew their leases every second. */
const SHORTEST_LEASE_MS = 3000;

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const FILE_NAME = 'modelport.yaml';

/**
 * Reads the environment and the file into one frozen object. `folder` is the base of relative paths. Throws SettingError, which names the
 * setting, for a value that cannot be used and for an unknown setting.
 *
 * @example
 * const { port, dataDir } = loadConfig({ PORT: '8080' }, []);
 */
export function loadConfig(
  given: Environment,
  providerVariables: readonly ProviderVariables[],
  folder = process.cwd(),
): Config {
  refuseUnknown(given);
  const env = withSecretFiles(given, secretNames(providerVariables));
  const databaseUrl = readAddress(env, 'DATABASE_URL', ['postgres:', 'postgresql:'], 'postgres://user@host/name');
  const redisUrl = readAddress(env, 'REDIS_URL', ['redis:', 'rediss:'], 'redis://host:6379');
  const videoModel = readSetting(env, 'MODELPORT_VIDEO_MODEL');
  const tls = readCertificate(env, folder);
  const publicUrl = readAddress(env, 'MODELPORT_PUBLIC_URL', ['http:', 'https:'], 'https://models.example.com');
  return freeze({
    host: readSetting(env, 'HOST'),
    port: readInteger(env, 'PORT', 0, 65_535),
    ...(tls && { tls }),
    processes: readProcesses(env),
    dataDir: resolve(folder, readSetting(env, 'MODELPORT_DATA_DIR')),
    ...(databaseUrl && { databaseUrl }),
    databaseConnections: readInteger(env, 'MODELPORT_DATABASE_CONNECTIONS', 2, 1000),
    keepCallsDays: readInteger(env, 'MODELPORT_KEEP_CALLS_DAYS', 0, 36_500),
    sqliteSync: readWord(env, 'MODELPORT_SQLITE_SYNC', ['normal', 'full'] as const),
    ...(redisUrl && { redisUrl }),
    redisPrefix: readSetting(env, 'MODELPORT_REDIS_PREFIX'),
    redisTimeoutMs: readMs(env, 'MODELPORT_REDIS_TIMEOUT_MS'),
    limitsWithoutRedis: readWord(env, 'MODELPORT_LIMITS_WITHOUT_REDIS', ['open', 'closed'] as const),
    ...readOperator(env),
    ...readKeys(env),
    startingCredit: readAmount(env, 'MODELPORT_STARTING_CREDIT'),
    sandbox: readSandbox(env),
    timeLimits: readTimeLimits(env),
    keepAliveMs: readMs(env, 'MODELPORT_KEEP_ALIVE_MS'),
    maxBodyBytes: readInteger(env, 'MODELPORT_MAX_BODY_BYTES', 1, 2 ** 32),
    memoryBytes: readInteger(env, 'MODELPORT_MEMORY_BYTES', 0, 2 ** 48),
    accountCalls: readInteger(env, 'MODELPORT_ACCOUNT_CALLS', 1, 1_000_000),
    accountBytes: readInteger(env, 'MODELPORT_ACCOUNT_BYTES', 0, 2 ** 48),
    bodyMs: readMs(env, 'MODELPORT_BODY_TIMEOUT_MS'),
    bodyBytesPerSecond: readInteger(env, 'MODELPORT_BODY_MIN_RATE', 0, 2 ** 31),
    jsonBounds: {
      depth: MAX_JSON_DEPTH,
      values: readInteger(env, 'MODELPORT_MAX_JSON_VALUES', 1000, 2 ** 31),
      members: readInteger(env, 'MODELPORT_MAX_JSON_MEMBERS', 1000, 2 ** 31),
      membersOfOne: MOST_MEMBERS_OF_ONE,
    },
    ...readAskable(env),
    fetchAllowed: readRanges(env, 'MODELPORT_FETCH_ALLOW'),
    maxFetchBytes: readInteger(env, 'MODELPORT_FETCH_MAX_BYTES', 1, 2 ** 32),
    fetchMs: readMs(env, 'MODELPORT_FETCH_TIMEOUT_MS'),
    ...(videoModel && { videoModel }),
    ...(publicUrl && { publicUrl: publicUrl.replace(/\/+$/, '') }),
    keepImagesMs: readInteger(env, 'MODELPORT_IMAGES_KEEP_HOURS', 1, 87_600) * 3_600_000,
    ...readVideoTimes(env),
    files: filesPlace((setting) => readSetting(env, setting), folder),
    keepFilesMs: readInteger(env, 'MODELPORT_FILES_KEEP_DAYS', 1, 3650) * 86_400_000,
    maxFileBytes: readInteger(env, 'MODELPORT_FILES_MAX_BYTES', 1, 2 ** 40),
    leaseMs: readInteger(env, 'MODELPORT_LEASE_MS', SHORTEST_LEASE_MS, LONGEST_MS),
    drainMs: readInteger(env, 'MODELPORT_DRAIN_MS', 0, LONGEST_MS),
    stallMs: readInteger(env, 'MODELPORT_STALL_MS', 0, LONGEST_MS),
    onDisconnect: readWord(env, 'MODELPORT_ON_DISCONNECT', ['abort', 'drain'] as const),
    disconnectDrainMs: readMs(env, 'MODELPORT_DISCONNECT_DRAIN_MS'),
    logLevel: readWord(env, 'MODELPORT_LOG_LEVEL', LOG_LEVELS),
    trustedProxies: readRanges(env, 'MODELPORT_TRUSTED_PROXIES'),
    ...readConsole(env),
    kept: readKept(env),
    ...readFile(env, folder),
    providers: readProviders(env, providerVariables, folder),
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

/** Settings for metrics, traces, the operator's address, and the checkpoint key. */
function readOperator(
  env: Environment,
): Pick<Config, 'metricsToken' | 'metrics' | 'traces' | 'adminListen' | 'adminHosts' | 'ledgerKey'> {
  const ledgerKey = readSetting(env, 'MODELPORT_LEDGER_KEY');
  const metricsToken = readSetting(env, 'MODELPORT_METRICS_TOKEN');
  const adminListen = readListen(env, 'MODELPORT_ADMIN_LISTEN');
  const traces = readTraces(env);
  return {
    ...(ledgerKey && { ledgerKey: checkLedgerKey(ledgerKey) }),
    ...(metricsToken && { metricsToken }),
    ...(traces && { traces }),
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

function secretNames(providerVariables: readonly ProviderVariables[]): Set<string> {
  const ofProviders = providerVariables.flatMap(({ credentialVariable, credentialVariables = [] }) =>
    credentialVariable ? [credentialVariable, ...credentialVariables] : credentialVariables,
  );
  return new Set([...SECRETS, ...ofProviders]);
}

/** Settings of requests and their answers. */
function readAskable(env: Environment): Pick<Config, 'maxImages' | 'unpricedExtras' | 'showProvider' | 'showAttempts'> {
  return {
    showProvider: readWord(env, 'MODELPORT_SHOW_PROVIDER', ['true', 'false'] as const) === 'true',
    showAttempts: readWord(env, 'MODELPORT_SHOW_ATTEMPTS', ['true', 'false'] as const) === 'true',
    maxImages: readInteger(env, 'MODELPORT_MAX_IMAGES', 1, 1000),
    unpricedExtras: readWord(env, 'MODELPORT_UNPRICED_EXTRAS', ['refuse', 'tools', 'allow'] as const),
  };
}

function readVideoTimes(env: Environment): Pick<Config, 'videoMs' | 'videoPollMs'> {
  const videoMs = readMs(env, 'MODELPORT_VIDEO_TIMEOUT_MS');
  return { videoMs, videoPollMs: readInteger(env, 'MODELPORT_VIDEO_POLL_MS', 0, LONGEST_MS) };
}

/** Settings that have a value, in the order of SETTINGS. Secrets are marked and must not be shown completely. */
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

/** A self-hosted server is enabled by its URL, a provider by its key. */
function readProviders(env: Environment, rows: readonly ProviderVariables[], folder: string): EnvironmentProvider[] {
  const providers: EnvironmentProvider[] = [];
  for (const row of rows) {
    const { type, baseUrlVariable } = row;
    const credential = credentialOf(env, row, folder);
    const baseUrl = baseUrlVariable && env[baseUrlVariable]?.trim();
    if (!(baseUrlVariable ? baseUrl : credential)) continue;
    if (baseUrlVariable && baseUrl && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw new SettingError(`${baseUrlVariable} must be an http or https URL such as http://127.0.0.1:8000/v1.`);
    }
    const settings = settingsOf(env, row);
    providers.push({
      type,
      ...(credential && { credential }),
      ...(baseUrl && { baseUrl: baseUrl.replace(/\/+$/, '') }),
      ...(settings && { settings }),
    });
  }
  return providers;
}

function credentialOf(env: Environment, row: ProviderVariables, folder: string): string | undefined {
  const { credentialVariable, credentialVariables = [] } = row;
  const whole = credentialVariable && env[credentialVariable]?.trim();
  if (whole) return readKeyFile(whole, credentialVariable, folder);
  const parts = credentialVariables.map((variable) => env[variable]?.trim() ?? '');
  return parts[0] && parts[1] ? parts.filter(Boolean).join(':') : undefined;
}

function settingsOf(env: Environment, { settingVariables = {} }: ProviderVariables): EnvironmentProvider['settings'] {
  const found = Object.entries(settingVariables).flatMap(([setting, variables]) => {
    const value = variables.map((variable) => env[variable]?.trim()).find(Boolean);
    return value ? [[setting, value]] : [];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** Of one object: more names than any request has, few enough to be cheap. */
const MOST_MEMBERS_OF_ONE = 10_000;
const MOST_PROCESSES = 256;

function readProcesses(env: Environment): number | 'auto' {
  if (readSetting(env, 'MODELPORT_PROCESSES') === 'auto') return 'auto';
  return readInteger(env, 'MODELPORT_PROCESSES', 1, MOST_PROCESSES);
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
