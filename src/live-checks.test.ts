import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBucket } from '../test/helpers/bucket.ts';
import { hasRedis, startRedis } from '../test/helpers/redis-server.ts';
import { loadConfig } from './config.ts';
import { providerVariables } from './found-providers.ts';
import { liveChecks } from './live-checks.ts';
import type { ProviderRow } from './store/catalog-rows.ts';
import { createTransport } from './transport/transport.ts';

const GOOD = 'sk-good-0123456789abcd';
const BAD = 'sk-refused-0123456789wxyz';
const seen: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch({ headers, url, method }) {
    seen.push(`${method} ${new URL(url).pathname}`);
    if (url.includes('/busy/')) return new Response('', { status: 529 });
    if (url.includes('/listless/')) return new Response('', { status: 404 });
    const isGood = [headers.get('authorization'), headers.get('x-api-key')].some((key) => key?.endsWith(GOOD));
    return isGood ? Response.json({ data: [] }) : Response.json({ error: `no such key ${BAD}` }, { status: 401 });
  },
});
afterAll(() => server.stop(true));
const url = `http://127.0.0.1:${server.port}`;
const folder = mkdtempSync(join(tmpdir(), 'modelport-live-'));

function check(env: { [variable: string]: string }, providers: readonly Partial<ProviderRow>[], now = Date.now) {
  const config = loadConfig({ MODELPORT_DATA_DIR: folder, ...env }, providerVariables(), '/nowhere');
  const rows = providers.map(
    (row) => ({ name: 'p', type: 'openai', credentials: [], settings: {}, ...row }) as ProviderRow,
  );
  return liveChecks({ config, providers: rows, transport: createTransport(), now });
}

test('every credential is tried by a real request, and no key is shown', async () => {
  const found = await check({ ANTHROPIC_API_KEY: GOOD }, [
    { name: 'main', baseUrl: `${url}/v1`, credentials: [GOOD, BAD] },
    { name: 'claude', type: 'anthropic', baseUrl: `${url}/v1` },
    { name: 'router', type: 'openrouter', baseUrl: `${url}/api/v1`, credentials: [GOOD] },
    { name: 'busy', baseUrl: `${url}/busy`, credentials: [GOOD] },
    { name: 'other', baseUrl: `${url}/listless`, credentials: [GOOD] },
    { name: 'gone', baseUrl: 'http://127.0.0.1:1/v1', credentials: [GOOD] },
  ]);
  const of = (name: string) => found.filter(({ check: of }) => of.startsWith(`credential ${name}`));
  expect(of('main')).toEqual([
    { check: 'credential main …abcd', ok: true, state: 'accepted' },
    { check: 'credential main …wxyz', ok: false, state: 'refused (status 401)' },
  ]);
  expect(of('claude')).toEqual([{ check: 'credential claude …abcd', ok: true, state: 'accepted' }]);
  expect(of('router')).toMatchObject([{ ok: true, state: 'accepted' }]);
  expect(of('busy')).toMatchObject([{ ok: false, state: 'the provider fails (status 529)' }]);
  expect(of('other')).toMatchObject([{ ok: true, state: expect.stringContaining('not checked') }]);
  expect(of('gone')).toMatchObject([{ ok: false }]);
  expect(seen).toContain('GET /api/v1/key');
  expect(seen.every((request) => request.startsWith('GET '))).toBe(true);
  expect(JSON.stringify(found)).not.toMatch(/sk-|0123456789/);
  expect(found.find(({ check: of }) => of === 'files')).toMatchObject({ ok: true });
  expect(found.find(({ check: of }) => of === 'disk')?.state).toMatch(/GiB free/);
  const left = readdirSync(join(folder, 'files'), { recursive: true }).filter((name) =>
    String(name).includes('doctor'),
  );
  expect(left).toEqual([]);
});

test('a clock that is wrong is found by the times of providers', async () => {
  const clock = async (ms: number) => {
    const found = await check({}, [{ baseUrl: url, credentials: [GOOD] }], () => Date.now() + ms);
    return found.find(({ check: of }) => of === 'clock');
  };
  expect(await clock(0)).toMatchObject({ ok: true });
  expect(await clock(-600_000)).toMatchObject({
    ok: false,
    state: expect.stringMatching(/^(59\d|6\d\d)\.\d s behind/),
  });
  const alone = (await check({}, [])).find(({ check: of }) => of === 'clock');
  expect(alone).toMatchObject({ ok: true, state: expect.stringContaining('not checked') });
});

test('a bucket is written, read and deleted; one that refuses is a problem', async () => {
  const bucket = await startBucket();
  const { bucket: name, region, accessKeyId, secretAccessKey } = bucket.settings;
  const files = async (secret: string) => {
    const found = await check(
      {
        MODELPORT_FILES_BUCKET: name,
        MODELPORT_FILES_ENDPOINT: bucket.endpoint,
        MODELPORT_FILES_REGION: region,
        MODELPORT_FILES_ACCESS_KEY: accessKeyId,
        MODELPORT_FILES_SECRET_KEY: secret,
      },
      [],
    );
    expect(JSON.stringify(found)).not.toContain(secret);
    return found.find(({ check: of }) => of === 'files');
  };
  expect(await files(secretAccessKey)).toMatchObject({ ok: true, state: expect.stringContaining(`bucket ${name}`) });
  expect(bucket.objects.size).toBe(0);
  expect(await files('wrong-secret')).toMatchObject({ ok: false });
  await bucket.close();
});

describe.skipIf(!hasRedis)('Redis', () => {
  test('answers, or is named as the problem', async () => {
    const redis = await startRedis();
    const found = async () => {
      const checks = await check({ REDIS_URL: redis.url.replace('//', '//user:hidden-word@') }, []);
      expect(JSON.stringify(checks)).not.toContain('hidden-word');
      const plain = await check({ REDIS_URL: redis.url }, []);
      return plain.find(({ check: of }) => of === 'Redis');
    };
    expect(await found()).toMatchObject({ ok: true, state: expect.stringMatching(/^Redis \d+\.\d+/) });
    await redis.stop();
    expect(await found()).toMatchObject({ ok: false, state: expect.stringContaining('not reachable') });
  }, 60_000);
});
