/** All settings with their defaults. docs/reference/configuration.md describes each. */
import { type Environment, SettingError } from './setting-error.ts';

/** Every setting with its default as text; empty: not set. */
export const SETTINGS = {
  HOST: '127.0.0.1',
  PORT: '8080',
  MODELPORT_TLS_CERT: '',
  MODELPORT_TLS_KEY: '',
  MODELPORT_PROCESSES: '1',
  DATABASE_URL: '',
  MODELPORT_DATABASE_CONNECTIONS: '5',
  REDIS_URL: '',
  MODELPORT_REDIS_PREFIX: 'modelport:',
  MODELPORT_REDIS_TIMEOUT_MS: '100',
  MODELPORT_LIMITS_WITHOUT_REDIS: 'open',
  MODELPORT_CONFIG: '',
  MODELPORT_DATA_DIR: './data',
  MODELPORT_KEEP_CALLS_DAYS: '0',
  MODELPORT_SQLITE_SYNC: 'normal',
  MODELPORT_LEDGER_KEY: '',
  MODELPORT_API_KEY: '',
  MODELPORT_ADMIN_KEY: '',
  MODELPORT_SECRET_KEY: '',
  MODELPORT_SECRET_KEY_PREVIOUS: '',
  MODELPORT_STARTING_CREDIT: '10',
  MODELPORT_SANDBOX: 'auto',
  MODELPORT_CONNECT_TIMEOUT_MS: '10000',
  MODELPORT_HEADERS_TIMEOUT_MS: '300000',
  MODELPORT_FIRST_TOKEN_TIMEOUT_MS: '300000',
  MODELPORT_SILENCE_TIMEOUT_MS: '120000',
  MODELPORT_WHOLE_TIMEOUT_MS: '1800000',
  MODELPORT_KEEP_ALIVE_MS: '15000',
  MODELPORT_MAX_BODY_BYTES: '67108864',
  MODELPORT_MEMORY_BYTES: '0',
  MODELPORT_ACCOUNT_CALLS: '2000',
  MODELPORT_ACCOUNT_BYTES: '0',
  MODELPORT_BODY_TIMEOUT_MS: '1800000',
  MODELPORT_BODY_MIN_RATE: '512',
  MODELPORT_MAX_JSON_VALUES: '500000',
  MODELPORT_MAX_JSON_MEMBERS: '100000',
  MODELPORT_MAX_IMAGES: '10',
  MODELPORT_SHOW_PROVIDER: 'true',
  MODELPORT_SHOW_ATTEMPTS: 'false',
  MODELPORT_UNPRICED_EXTRAS: 'tools',
  MODELPORT_FETCH_ALLOW: '',
  MODELPORT_FETCH_MAX_BYTES: '20971520',
  MODELPORT_FETCH_TIMEOUT_MS: '15000',
  MODELPORT_VIDEO_MODEL: '',
  MODELPORT_VIDEO_TIMEOUT_MS: '86400000',
  MODELPORT_VIDEO_POLL_MS: '0',
  MODELPORT_PUBLIC_URL: '',
  MODELPORT_IMAGES_KEEP_HOURS: '24',
  MODELPORT_FILES_KEEP_DAYS: '7',
  MODELPORT_FILES_MAX_BYTES: '1073741824',
  MODELPORT_CAPTURE_MAX_BYTES: '262144',
  MODELPORT_CAPTURE_KEEP_DAYS: '7',
  MODELPORT_HOURLY_CALLS: 'off',
  MODELPORT_FILES_BUCKET: '',
  MODELPORT_FILES_ENDPOINT: '',
  MODELPORT_FILES_REGION: '',
  MODELPORT_FILES_ACCESS_KEY: '',
  MODELPORT_FILES_SECRET_KEY: '',
  MODELPORT_LEASE_MS: '30000',
  MODELPORT_DRAIN_MS: '30000',
  MODELPORT_STALL_MS: '30000',
  MODELPORT_ON_DISCONNECT: 'abort',
  MODELPORT_DISCONNECT_DRAIN_MS: '120000',
  MODELPORT_LOG_LEVEL: 'info',
  MODELPORT_TRUSTED_PROXIES: '',
  MODELPORT_METRICS: 'key',
  MODELPORT_METRICS_TOKEN: '',
  MODELPORT_TRACES_SLOW_MS: '30000',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '',
  OTEL_EXPORTER_OTLP_HEADERS: '',
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: '',
  OTEL_EXPORTER_OTLP_TIMEOUT: '10000',
  OTEL_EXPORTER_OTLP_PROTOCOL: '',
  OTEL_SERVICE_NAME: '',
  OTEL_RESOURCE_ATTRIBUTES: '',
  OTEL_TRACES_EXPORTER: '',
  OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: '',
  OTEL_SDK_DISABLED: '',
  MODELPORT_ADMIN_LISTEN: '',
  MODELPORT_ADMIN_HOSTS: '',
  MODELPORT_CONSOLE: 'on',
  MODELPORT_SESSION_IDLE_HOURS: '12',
  MODELPORT_SESSION_DAYS: '7',
  MODELPORT_OIDC_ISSUER: '',
  MODELPORT_OIDC_CLIENT_ID: '',
  MODELPORT_OIDC_CLIENT_SECRET: '',
  MODELPORT_OIDC_CLIENT_AUTH: 'basic',
  MODELPORT_OIDC_NAME: 'SSO',
  MODELPORT_OIDC_SCOPES: 'openid email profile',
  MODELPORT_OIDC_ROLE_CLAIM: 'groups',
  MODELPORT_OIDC_ROLES: '',
  MODELPORT_OIDC_DEFAULT_ROLE: 'none',
  MODELPORT_OIDC_EMAIL_DOMAINS: '',
  MODELPORT_OIDC_CREATE_PEOPLE: 'on',
  MODELPORT_REGISTRATION: 'off',
  MODELPORT_REGISTRATION_CREDIT: '0',
  MODELPORT_REGISTRATION_DAILY_CREDIT: '100',
  MODELPORT_REGISTRATION_DAILY_PEOPLE: '100',
  MODELPORT_REGISTRATION_EMAIL_DOMAINS: '',
  MODELPORT_KEEP_RESPONSES_DAYS: '30',
  MODELPORT_KEEP_PROOFS_HOURS: '24',
  MODELPORT_CACHE_ACCOUNT_BYTES: '67108864',
} as const;

export type Setting = keyof typeof SETTINGS;

export const SECRETS: ReadonlySet<Setting> = new Set([
  'DATABASE_URL',
  'REDIS_URL',
  'MODELPORT_LEDGER_KEY',
  'MODELPORT_API_KEY',
  'MODELPORT_ADMIN_KEY',
  'MODELPORT_SECRET_KEY',
  'MODELPORT_SECRET_KEY_PREVIOUS',
  'MODELPORT_METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'MODELPORT_FILES_ACCESS_KEY',
  'MODELPORT_FILES_SECRET_KEY',
  'MODELPORT_OIDC_CLIENT_SECRET',
]);

const PREFIX = 'MODELPORT_';

/**
 * Variables with the prefix that are not settings of the service: read by the command line or by tests, set by the launcher, or exported
 * for clients as in the README.
 */
const NOT_SETTINGS = [
  'MODELPORT_KEY',
  'MODELPORT_URL',
  'MODELPORT_FIXTURES',
  'MODELPORT_KILLS',
  'MODELPORT_LAUNCHER',
  'MODELPORT_WORKER',
  'MODELPORT_WORKERS',
];

/** Throws SettingError for an unknown variable with the prefix. */
export function refuseUnknown(env: Environment): void {
  const known = Object.keys(SETTINGS).filter((setting) => setting.startsWith(PREFIX));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith(PREFIX) || known.includes(variable) || NOT_SETTINGS.includes(variable)) continue;
    if ([...SECRETS].some((secret) => variable === `${secret}_FILE`)) continue;
    const far = (setting: string) => distance(sortWords(variable), sortWords(setting));
    const bare = variable.slice(PREFIX.length);
    const nearest = Object.hasOwn(SETTINGS, bare) ? bare : known.toSorted((a, b) => far(a) - far(b))[0];
    throw new SettingError(`${variable} is not a setting: did you mean ${nearest}?`);
  }
}

/** Users mix up the order of words as easily as letters. */
const sortWords = (variable: string) => variable.split('_').sort().join('_');

/** The edit distance of two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (character === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
