import { expect, test } from 'bun:test';
import { readTraces } from './otel-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test('without an endpoint nothing is exported', () => {
  expect(readTraces({})).toBeUndefined();
  expect(readTraces({ OTEL_SERVICE_NAME: 'gateway' })).toBeUndefined();
});

test.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }])(
  '%p switches it off',
  (env) => {
    expect(readTraces({ ...ENDPOINT, ...env })).toBeUndefined();
  },
);

test('an endpoint alone is enough', () => {
  expect(readTraces(ENDPOINT)).toEqual({
    url: 'http://127.0.0.1:4318/v1/traces',
    headers: {},
    timeoutMs: 10_000,
    resource: { 'service.name': 'modelport' },
    sampler: 'parentbased_always_on',
    ratio: 1,
    slowMs: 30_000,
  });
});

test.each([
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.test/api/public/otel/' },
    'https://otel.test/api/public/otel/v1/traces',
  ],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/own' }, 'http://127.0.0.1:9/own'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/own' }, 'http://127.0.0.1:9/own'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://127.0.0.1:4318/v1/traces'],
] as const)('%p: %s', (env, url) => {
  expect(readTraces(env)?.url).toBe(url);
});

test('headers, timeout, service and sampler', () => {
  const settings = readTraces({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20cGs6c2s=,x-langfuse-ingestion-version=4',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-langfuse-ingestion-version=3',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=ignored,deployment.environment.name=prod%2Ceu',
    OTEL_SERVICE_NAME: 'gateway',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
    MODELPORT_TRACES_SLOW_MS: '0',
  });
  expect(settings).toMatchObject({
    headers: { authorization: 'Basic cGs6c2s=', 'x-langfuse-ingestion-version': '3' },
    timeoutMs: 500,
    resource: { 'service.name': 'gateway', 'deployment.environment.name': 'prod,eu' },
    sampler: 'parentbased_traceidratio',
    ratio: 0.01,
    slowMs: 0,
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@host' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be one of http/json, http/protobuf, not "grpc"'],
  [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'xray' }, 'OTEL_TRACES_SAMPLER must be one of always_on,'],
  [
    { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.5' },
    'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "1.5".',
  ],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'secret-token' }, 'OTEL_EXPORTER_OTLP_HEADERS must be a list'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, 'OTEL_EXPORTER_OTLP_HEADERS must be a list'],
] as const)('%p is refused', (env, sentence) => {
  expect(() => readTraces(env)).toThrow(sentence);
});

test('errors do not repeat secrets', () => {
  for (const env of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@host' },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'secret-token' },
  ])
    expect(() => readTraces(env)).not.toThrow('secret');
});
