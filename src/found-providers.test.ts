import { afterAll, expect, test } from 'bun:test';
import { loadConfig } from './config.ts';
import { probe, providerVariables } from './found-providers.ts';
import { createTransport } from './transport/transport.ts';

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('{}', { status: 400 }) });
afterAll(() => server.stop(true));

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
const probed = (
  row: { type: string; baseUrl?: string; credential?: string; settings?: { [name: string]: string } },
  env = {},
) => {
  const { credential, settings = {}, ...rest } = row;
  const config = loadConfig(env, providerVariables(), '/nowhere');
  const provider = { name: 'cloud', ...rest, credentials: credential ? [credential] : [], settings };
  return probe(provider, config, createTransport());
};
const baseUrl = `http://127.0.0.1:${server.port}`;

test('a cloud that answers is reported as reachable, with its own key, its settings or the environment', async () => {
  const well = { credential: 'there', answers: true } as const;
  expect(await probed({ type: 'bedrock', baseUrl, credential: 'api-key' })).toEqual(well);
  const settings = { region: 'us-east-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 's' };
  expect(await probed({ type: 'bedrock', baseUrl, settings })).toEqual(well);
  expect(await probed({ type: 'bedrock', baseUrl }, { ...KEYS, AWS_REGION: 'us-east-1' })).toEqual(well);
  expect(await probed({ type: 'vertex', baseUrl, credential: 'ya29.token' })).toEqual(well);
});

test('a missing setting and a refused credential are reported', async () => {
  expect(await probed({ type: 'bedrock' }, KEYS)).toMatchObject({
    answers: false,
    reportError: expect.stringContaining('region'),
  });
  expect(await probed({ type: 'bedrock', baseUrl })).toMatchObject({ credential: 'missing' });
  expect(await probed({ type: 'bedrock', baseUrl }, KEYS)).toMatchObject({
    reportError: expect.stringContaining('`region` is missing'),
  });
  const unsupported = JSON.stringify({ type: 'external_account', secret: 'hidden' });
  const { reportError } = await probed({ type: 'vertex', baseUrl, credential: unsupported });
  expect(reportError).toContain('external_account are not supported');
  expect(reportError).not.toContain('hidden');
});
