// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in modelport.yaml are written so
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogueFile } from './config/catalogue-file.ts';
import { type Environment, SettingError } from './config/setting-error.ts';
import { SETTINGS } from './config/settings.ts';
import { loadConfig, settingsInForce } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-config-'));
const GIVEN_KEY = 'sk-given-0123456789-0123456789';
const GIVEN_ADMIN_KEY = 'sk-admin-given-0123456789-0123456789';
afterAll(() => rmSync(folder, { recursive: true }));

const load = (env: Environment = {}) => loadConfig(env, PROVIDERS, folder);
const PROVIDERS = [
  { type: 'openai', credentialVariable: 'OPENAI_API_KEY' },
  { type: 'vllm', credentialVariable: 'VLLM_API_KEY', baseUrlVariable: 'VLLM_BASE_URL' },
];

/** The message with which an invalid setting is refused. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof SettingError) return thrown.message;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('without settings everything has its default, and the Config is frozen', () => {
  const config = load();
  expect(config).toEqual({
    host: '127.0.0.1',
    port: 8080,
    dataDir: join(folder, 'data'),
    processes: 1,
    databaseConnections: 5,
    keepCallsDays: 0,
    sqliteSync: 'normal',
    redisPrefix: 'modelport:',
    redisTimeoutMs: 100,
    limitsWithoutRedis: 'open',
    startingCredit: 10_000_000_000n,
    sandbox: 'auto',
    videoMs: 86_400_000,
    videoPollMs: 0,
    files: { folder: join(folder, 'data', 'files') },
    keepFilesMs: 604_800_000,
    keepImagesMs: 86_400_000,
    maxFileBytes: 1_073_741_824,
    timeLimits: {
      connectMs: 10_000,
      headersMs: 300_000,
      firstTokenMs: 300_000,
      silenceMs: 120_000,
      wholeMs: 1_800_000,
    },
    keepAliveMs: 15_000,
    maxBodyBytes: 64 * 1024 * 1024,
    bodyMs: 1_800_000,
    bodyBytesPerSecond: 512,
    jsonBounds: { depth: 100, values: 500_000, members: 100_000, membersOfOne: 10_000 },
    maxImages: 10,
    showProvider: true,
    showAttempts: false,
    unpricedExtras: 'tools',
    fetchAllowed: [],
    maxFetchBytes: 20 * 1024 * 1024,
    fetchMs: 15_000,
    leaseMs: 30_000,
    drainMs: 30_000,
    stallMs: 30_000,
    memoryBytes: 0,
    accountCalls: 2000,
    accountBytes: 0,
    onDisconnect: 'abort',
    disconnectDrainMs: 120_000,
    logLevel: 'info',
    trustedProxies: [],
    metrics: 'key',
    adminHosts: [],
    console: { times: { idleMs: 12 * 3_600_000, longestMs: 7 * 86_400_000 } },
    kept: {
      ...{ responsesMs: 30 * 86_400_000, signaturesMs: 86_400_000, accountCacheBytes: 67_108_864 },
      ...{ captureBytes: 262_144, captureDays: 7, hourlyCalls: 'off' },
    },
    file: {},
    providers: [],
  });
  expect(Object.isFrozen(config)).toBe(true);
  expect(Object.isFrozen(config.timeLimits)).toBe(true);
});

test('hourly files of calls have a format', () => {
  expect(load({ MODELPORT_HOURLY_CALLS: 'Parquet' }).kept.hourlyCalls).toBe('parquet');
  expect(() => load({ MODELPORT_HOURLY_CALLS: 'xml' })).toThrow('must be one of off, ndjson, csv, parquet');
});

test('each setting is read from its variable', () => {
  const config = load({
    HOST: '0.0.0.0',
    PORT: '0',
    DATABASE_URL: 'postgres://user:secret@db/modelport',
    REDIS_URL: 'redis://cache:6379',
    MODELPORT_DATA_DIR: '/var/lib/modelport',
    MODELPORT_SQLITE_SYNC: 'FULL',
    MODELPORT_API_KEY: GIVEN_KEY,
    MODELPORT_ADMIN_KEY: GIVEN_ADMIN_KEY,
    MODELPORT_STARTING_CREDIT: '2.50',
    MODELPORT_SANDBOX: 'off',
    MODELPORT_CONNECT_TIMEOUT_MS: '1',
    MODELPORT_HEADERS_TIMEOUT_MS: '2',
    MODELPORT_FIRST_TOKEN_TIMEOUT_MS: '3',
    MODELPORT_SILENCE_TIMEOUT_MS: '4',
    MODELPORT_WHOLE_TIMEOUT_MS: '5',
    MODELPORT_KEEP_ALIVE_MS: '6',
    MODELPORT_MAX_BODY_BYTES: '7',
    MODELPORT_DRAIN_MS: '0',
    MODELPORT_ON_DISCONNECT: 'drain',
    MODELPORT_DISCONNECT_DRAIN_MS: '8',
    MODELPORT_LOG_LEVEL: 'debug',
    MODELPORT_TRUSTED_PROXIES: '127.0.0.1,fd00::/8',
  });
  expect(config).toMatchObject({
    host: '0.0.0.0',
    port: 0,
    databaseUrl: 'postgres://user:secret@db/modelport',
    redisUrl: 'redis://cache:6379',
    dataDir: '/var/lib/modelport',
    sqliteSync: 'full',
    apiKey: GIVEN_KEY,
    adminKey: GIVEN_ADMIN_KEY,
    startingCredit: 2_500_000_000n,
    sandbox: 'off',
    timeLimits: { connectMs: 1, headersMs: 2, firstTokenMs: 3, silenceMs: 4, wholeMs: 5 },
    keepAliveMs: 6,
    maxBodyBytes: 7,
    drainMs: 0,
    onDisconnect: 'drain',
    disconnectDrainMs: 8,
    logLevel: 'debug',
    trustedProxies: ['127.0.0.1', 'fd00::/8'],
  });
});

test('settingsInForce lists settings that have a value, and marks secrets', () => {
  const env = { PORT: '9000', MODELPORT_API_KEY: GIVEN_KEY };
  const inForce = settingsInForce(load(env), env);
  expect(inForce).toContainEqual({ name: 'HOST', value: '127.0.0.1', secret: false });
  expect(inForce).toContainEqual({ name: 'PORT', value: '9000', secret: false });
  expect(inForce).toContainEqual({ name: 'MODELPORT_API_KEY', value: GIVEN_KEY, secret: true });
  expect(inForce).toContainEqual({ name: 'MODELPORT_DATA_DIR', value: join(folder, 'data'), secret: false });
  expect(inForce.some(({ name }) => name === 'DATABASE_URL')).toBe(false);
});

test('an empty variable counts as not set', () => {
  expect(load({ PORT: '', MODELPORT_SANDBOX: ' ', DATABASE_URL: '' })).toEqual(load());
});

test.each([
  [{ PORT: '80a' }, 'PORT must be a whole number from 0 to 65535, not "80a".'],
  [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65535, not "70000".'],
  [{ MODELPORT_KEEP_ALIVE_MS: '0' }, 'MODELPORT_KEEP_ALIVE_MS must be a whole number from 1 to 2147483647, not "0".'],
  [{ MODELPORT_SANDBOX: 'maybe' }, 'MODELPORT_SANDBOX must be on, off or auto, not "maybe".'],
  [{ MODELPORT_ON_DISCONNECT: 'stop' }, 'MODELPORT_ON_DISCONNECT must be one of abort, drain, not "stop".'],
  [
    { MODELPORT_STARTING_CREDIT: '-1' },
    'MODELPORT_STARTING_CREDIT must be an amount in USD such as 10 or 2.50, not "-1".',
  ],
  [{ MODELPORT_API_KEY: 'sk-admin-x' }, 'MODELPORT_API_KEY must begin with sk- and have no spaces.'],
  [
    { MODELPORT_API_KEY: 'sk-1' },
    'MODELPORT_API_KEY has 4 characters and must have at least 24: use sk- and 48 random ones.',
  ],
  [
    { MODELPORT_ADMIN_LISTEN: '9090' },
    'MODELPORT_ADMIN_LISTEN must be a host and a port such as 127.0.0.1:9090 or [::1]:9090, not "9090".',
  ],
  [{ MODELPORT_METRICS: 'public' }, 'MODELPORT_METRICS must be one of key, open, not "public".'],
  [{ MODELPORT_ADMIN_KEY: 'sk-x' }, 'MODELPORT_ADMIN_KEY must begin with sk-admin- and have no spaces.'],
  [{ DATABASE_URL: 'mysql://u:secret@h/d' }, 'DATABASE_URL must be a URL such as postgres://user@host/name.'],
  [{ REDIS_URL: 'cache:6379' }, 'REDIS_URL must be a URL such as redis://host:6379.'],
  [{ VLLM_BASE_URL: 'localhost:8000' }, 'VLLM_BASE_URL must be an http or https URL such as http://127.0.0.1:8000/v1.'],
  [{ MODELPORT_SANDBOXX: 'on' }, 'MODELPORT_SANDBOXX is not a setting: did you mean MODELPORT_SANDBOX?'],
  [{ MODELPORT_PORT: '80' }, 'MODELPORT_PORT is not a setting: did you mean PORT?'],
  [
    { MODELPORT_TIMEOUT_CONNECT_MS: '1' },
    'MODELPORT_TIMEOUT_CONNECT_MS is not a setting: did you mean MODELPORT_CONNECT_TIMEOUT_MS?',
  ],
] as [Environment, string][])('%j is refused with one sentence', (env, sentence) => {
  expect(refusal(() => load(env))).toBe(sentence);
});

test("a cloud's key can have parts, be a file, and have settings", () => {
  const rows = [
    {
      type: 'bedrock',
      credentialVariable: 'AWS_BEARER_TOKEN_BEDROCK',
      credentialVariables: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
      settingVariables: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
    },
    { type: 'vertex', credentialVariable: 'GOOGLE_APPLICATION_CREDENTIALS' },
  ];
  const providersOf = (env: Environment) => loadConfig(env, rows, folder).providers;
  const keys = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's/+=', AWS_DEFAULT_REGION: 'eu-west-1' };
  expect(providersOf(keys)).toEqual([{ type: 'bedrock', credential: 'AKIA:s/+=', settings: { region: 'eu-west-1' } }]);
  expect(providersOf({ ...keys, AWS_SESSION_TOKEN: 't', AWS_REGION: 'us-east-1' })).toEqual([
    { type: 'bedrock', credential: 'AKIA:s/+=:t', settings: { region: 'us-east-1' } },
  ]);
  expect(providersOf({ ...keys, AWS_BEARER_TOKEN_BEDROCK: 'b' })[0]?.credential).toBe('b');
  expect(providersOf({ AWS_ACCESS_KEY_ID: 'AKIA' })).toEqual([]);

  writeFileSync(join(folder, 'account.json'), '{"type":"service_account"}\n');
  expect(providersOf({ GOOGLE_APPLICATION_CREDENTIALS: './account.json' })).toEqual([
    { type: 'vertex', credential: '{"type":"service_account"}' },
  ]);
  expect(() => providersOf({ GOOGLE_APPLICATION_CREDENTIALS: '/none/such.json' })).toThrow(
    'GOOGLE_APPLICATION_CREDENTIALS names the file /none/such.json, which cannot be read.',
  );
  const path = join(folder, 'clouds.yaml');
  writeFileSync(
    path,
    'providers: [{ name: v, type: vertex, credential: ${KEY} }, { name: w, type: vertex, credentials: [./account.json] }]',
  );
  expect(readCatalogueFile(path, { KEY: './account.json' }).providers).toEqual([
    { name: 'v', type: 'vertex', credential: '{"type":"service_account"}' },
    { name: 'w', type: 'vertex', credentials: ['{"type":"service_account"}'] },
  ]);
});

test('a provider is enabled by its key, a self-hosted server by its URL', () => {
  expect(load({ OPENAI_API_KEY: ' sk-o ', VLLM_API_KEY: 'v' }).providers).toEqual([
    { type: 'openai', credential: 'sk-o' },
  ]);
  expect(load({ VLLM_BASE_URL: 'http://gpu:8000/v1/', VLLM_API_KEY: 'v' }).providers).toEqual([
    { type: 'vllm', credential: 'v', baseUrl: 'http://gpu:8000/v1' },
  ]);
  expect(load({ VLLM_BASE_URL: 'http://gpu:8000/v1' }).providers).toEqual([
    { type: 'vllm', baseUrl: 'http://gpu:8000/v1' },
  ]);
});

test('modelport.yaml in the folder is read, and its variables come from the environment', () => {
  const own = mkdtempSync(join(folder, 'own-'));
  writeFileSync(
    join(own, 'modelport.yaml'),
    [
      'providers:',
      '  - name: main # ${NOT_A_VALUE}',
      '    type: openai',
      '    credentials: [${FIRST}, "${SECOND}"]',
      '    baseUrl: https://${REGION}.example.com/v1',
      'models:',
      '  - { name: m, price: { input: 0.15, output: ${OUTPUT} }, targets: [{ provider: main }] }',
    ].join('\n'),
  );
  const env = { FIRST: 'a: "b" # {c}', SECOND: '${FIRST}', REGION: 'eu', OUTPUT: '0.60' };
  expect(() => loadConfig({ ...env, FIRST: 'with blank' }, [], own)).toThrow(SettingError);
  const { file } = loadConfig({ ...env, FIRST: 'a:"b"#{c}[,' }, [], own);
  expect(file).toEqual({
    providers: [
      { name: 'main', type: 'openai', credentials: ['a:"b"#{c}[,', '${FIRST}'], baseUrl: 'https://eu.example.com/v1' },
    ],
    models: [{ name: 'm', price: { input: 0.15, output: '0.60' }, targets: [{ provider: 'main' }] }],
  });
});

test('an invalid file is refused with one sentence that names it', () => {
  const read = (text: string) => refusal(() => readCatalogueFile(file('x.yaml', text), {}));
  expect(read('providers:\n  - { name: p, type: openai, credential: ${NO_SUCH} }')).toBe(
    'x.yaml: providers[0].credential needs the environment variable NO_SUCH, which is not set.',
  );
  expect(read('models:\n  - { name: m, targets: [{ provider: p }] }')).toBe(
    'x.yaml: models[0].price is missing: the model "m" needs a price, { input: 0, output: 0 } if it is free.',
  );
  expect(read('modles: []')).toBe('x.yaml has the unknown member "modles": the members are providers and models.');
  expect(read('- a')).toBe('x.yaml must be an object with the members providers and models.');
  expect(read('a: [')).toStartWith('x.yaml is not valid YAML: ');
  expect(refusal(() => load({ MODELPORT_CONFIG: 'nowhere.yaml' }))).toContain('nowhere.yaml cannot be read');
});

test('an empty file adds nothing', () => {
  expect(readCatalogueFile(file('empty.yaml', '# nothing yet\n'), {})).toEqual({});
});

test('docs/reference/configuration.md describes every setting with its default, and no other', () => {
  const docs = readFileSync(join(import.meta.dir, '../docs/reference/configuration.md'), 'utf8');
  const [, settings = ''] = docs.split('\n## ');
  const rows = [...settings.matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)` )?\|/gm)];
  expect(Object.fromEntries(rows.map(([, name, fallback = '']) => [name, fallback]))).toEqual({ ...SETTINGS });
});

test('the example file in docs/reference/configuration.md is valid', () => {
  const docs = readFileSync(join(import.meta.dir, '../docs/reference/configuration.md'), 'utf8');
  const shown = /```yaml\n([\s\S]*?)```/.exec(docs)?.[1] ?? '';
  const path = file('shown.yaml', shown);
  expect(Object.keys(readCatalogueFile(path, { OPENAI_API_KEY: 'sk-x' }))).toEqual(['providers', 'models']);
});

test('the variable that the README exports for clients does not prevent a start', () => {
  expect(load({ MODELPORT_KEY: 'sk-1234' })).toEqual(load());
});

test('every secret can be in a file', () => {
  const path = join(folder, 'secret');
  writeFileSync(path, `${GIVEN_KEY}\n`);
  const secrets = load({ MODELPORT_API_KEY_FILE: path, OPENAI_API_KEY_FILE: path });
  expect(secrets.apiKey).toBe(GIVEN_KEY);
  expect(secrets.providers).toMatchObject([{ type: 'openai', credential: GIVEN_KEY }]);
  const env = { MODELPORT_API_KEY_FILE: path };
  expect(settingsInForce(load(env), env)).toContainEqual({ name: 'MODELPORT_API_KEY', value: GIVEN_KEY, secret: true });
  expect(() => load({ MODELPORT_API_KEY: GIVEN_KEY, ...env })).toThrow(
    'MODELPORT_API_KEY and MODELPORT_API_KEY_FILE are both set: set one of them.',
  );
  expect(() => load({ REDIS_URL_FILE: '/nowhere/x' })).toThrow(
    'REDIS_URL_FILE names the file /nowhere/x, which cannot be read.',
  );
});
