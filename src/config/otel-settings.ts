/** Where traces are exported to: the environment variables of OpenTelemetry, and one of ours. */
import { SAMPLERS, type SamplerName } from '../telemetry/traces/sampler.ts';
import type { TraceSettings } from '../telemetry/traces/tracing.ts';
import { LONGEST_MS, readInteger, readMs, readSetting, readWord } from './read-settings.ts';
import { type Environment, SettingError } from './setting-error.ts';
import type { Setting } from './settings.ts';

const DEFAULT_ENDPOINT = 'http://127.0.0.1:4318';

/** `undefined`: no endpoint is set, or the exporter is switched off. */
export function readTraces(env: Environment): TraceSettings | undefined {
  const exporter =
    readSetting(env, 'OTEL_TRACES_EXPORTER') && readWord(env, 'OTEL_TRACES_EXPORTER', ['otlp', 'none'] as const);
  const isDisabled = readSetting(env, 'OTEL_SDK_DISABLED').toLowerCase() === 'true';
  const url = readEndpoint(env, exporter === 'otlp');
  if (isDisabled || exporter === 'none' || url === undefined) return undefined;
  if (readSetting(env, 'OTEL_EXPORTER_OTLP_PROTOCOL') !== '')
    readWord(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', ['http/json', 'http/protobuf'] as const);
  const headers = {
    ...readPairs(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    ...readPairs(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
  };
  const service = readSetting(env, 'OTEL_SERVICE_NAME');
  const resource = { 'service.name': 'modelport', ...readPairs(env, 'OTEL_RESOURCE_ATTRIBUTES') };
  const sampler = readWord(env, 'OTEL_TRACES_SAMPLER', SAMPLERS);
  return {
    url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    timeoutMs: readMs(env, 'OTEL_EXPORTER_OTLP_TIMEOUT'),
    resource: service === '' ? resource : { ...resource, 'service.name': service },
    sampler,
    ratio: readRatio(env, sampler),
    slowMs: readInteger(env, 'MODELPORT_TRACES_SLOW_MS', 0, LONGEST_MS),
  };
}

/** The general endpoint is a base URL, that of traces a whole one. */
function readEndpoint(env: Environment, isAsked: boolean): string | undefined {
  const own = readUrl(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (own !== '') return own;
  const base = readUrl(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') || (isAsked ? DEFAULT_ENDPOINT : '');
  return base === '' ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`;
}

/** A URL may contain a password, so the error does not repeat it. */
function readUrl(env: Environment, setting: Setting): string {
  const text = readSetting(env, setting);
  const url = text === '' ? undefined : URL.parse(text);
  if (text === '' || (url && (url.protocol === 'http:' || url.protocol === 'https:'))) return text;
  throw new SettingError(`${setting} must be a URL such as ${DEFAULT_ENDPOINT}.`);
}

/** `name=value,name=value`, values percent-encoded where they have to be. Values may be secrets: errors do not repeat them. */
function readPairs(env: Environment, setting: Setting): { [name: string]: string } {
  const pairs: { [name: string]: string } = {};
  for (const pair of readSetting(env, setting).split(',')) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    const value = decoded(pair.slice(at + 1).trim());
    if (name === '' || value === undefined)
      throw new SettingError(`${setting} must be a list such as name=value,other=value, with values percent-encoded.`);
    pairs[decoded(name) ?? name] = value;
  }
  return pairs;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readRatio(env: Environment, sampler: SamplerName): number {
  const text = readSetting(env, 'OTEL_TRACES_SAMPLER_ARG');
  if (!sampler.endsWith('ratio') || text === '') return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new SettingError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${text}".`);
}
