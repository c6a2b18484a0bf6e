/** Providers' credentials on disk: never readable, a wrong key is an error, and a running gateway continues during a rotation. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatRequest, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { freePort } from '../helpers/free-port.ts';
import { type GatewayProcess, spawnModelport, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { PRICE } from '../helpers/scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const CANARY = 'zq7Kw2ordinaryLookingWord99';

let upstream: ScriptedUpstream;
let gateway: GatewayProcess;
let caller: TestCaller;
const folder = mkdtempSync(join(tmpdir(), 'modelport-secrets-'));

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.script('/v/', wholeAnswer('Hello', { repeat: true }));
  gateway = await startGateway({ dataFolder: folder });
  caller = await gateway.newCaller();
  const provider = { name: 'v', type: 'openai-compatible', baseUrl: `${upstream.url}/v/v1`, credential: CANARY };
  await gateway.admin('POST', '/providers', provider);
  await gateway.admin('POST', '/models', { name: 'm', kind: 'chat', price: PRICE, targets: [{ provider: 'v' }] });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function credentialSent(): Promise<string | null | undefined> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatRequest('m')),
  });
  expect(await response.text()).toContain('Hello');
  return upstream.journal('/v/').at(-1)?.headers.authorization;
}

test('a credential does not go to another address', async () => {
  const moved = { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };
  const refused = Promise.all([
    gateway.admin('PUT', '/providers/v', moved).catch(String),
    gateway.admin('POST', '/apply', { providers: [{ name: 'v', ...moved }] }).catch(String),
  ]);
  for (const error of await refused) expect(error).toContain('credential must be given again');
});

const onDisk = () => readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());

test('a credential is used, and is in no file, response or log', async () => {
  expect(await credentialSent()).toBe(`Bearer ${CANARY}`);
  for (const name of onDisk()) expect(readFileSync(join(folder, name)).includes(CANARY) ? name : '').toBe('');
  for (const path of ['/providers', '/audit'])
    expect(JSON.stringify(await gateway.admin('GET', path))).not.toContain(CANARY);
  expect(gateway.log()).not.toContain(CANARY);
  const key = readFileSync(join(folder, 'secret.key'), 'utf8').trim();
  expect(statSync(join(folder, 'secret.key')).mode & 0o777).toBe(0o600);
  expect(gateway.log()).not.toContain(key);
});

const onDiskWithFiles = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());

test('payloads are captured by the settings of key and model, encrypted, and read by admins alone, who are audited', async () => {
  upstream.script('/s/', streamAnswer(['a private ', 'answer'], { repeat: true }));
  const provider = { name: 's', type: 'openai-compatible', baseUrl: `${upstream.url}/s/v1`, credential: CANARY };
  await gateway.admin('POST', '/providers', provider);
  const model = { name: 'captured', kind: 'chat', price: PRICE, targets: [{ provider: 's' }], capture: 'full' };
  expect(await gateway.admin('POST', '/models', model)).toMatchObject({ capture: 'full' });
  const ask = async (stream: boolean, key = caller.key, name = 'captured') => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chatRequest(name, { stream, messages: [{ role: 'user', content: 'a private question' }] })),
    });
    return { id: response.headers.get('x-request-id') ?? '', text: await response.text() };
  };
  const read = async (id: string, key = gateway.adminKey) => {
    const response = await fetch(`${gateway.url}/admin/v1/calls/${id}/payload`, {
      headers: { authorization: `Bearer ${key}` },
    });
    // biome-ignore lint/suspicious/noExplicitAny: the shapes are compared below.
    return { status: response.status, body: (await response.json()) as any };
  };
  /** It is stored after the answer. */
  const stored = async (id: string) => {
    for (const end = Date.now() + 30_000; ; await Bun.sleep(20)) {
      const found = await read(id);
      if (found.status !== 404 || Date.now() > end) return found;
    }
  };
  const streamed = await ask(true);
  const captured = await stored(streamed.id);
  expect(captured.body).toMatchObject({ call: streamed.id, capture: 'full', reply: { status: 200, end: 'complete' } });
  expect(captured.body.request.text).toContain('a private question');
  expect(captured.body.reply.text).toBe(streamed.text);
  expect(streamed.text).toContain('a private ');

  // The setting of the key has precedence over the model's.
  const issue = async (capture: string) =>
    (await gateway.admin<{ key: string }>('POST', '/keys', { account: caller.account, name: capture, capture })).key;
  const whole = await ask(false, await issue('redacted'), 'm');
  const { body: redacted } = await stored(whole.id);
  expect(redacted).toMatchObject({
    capture: 'redacted',
    request: { content: { messages: [{ role: 'user', content: '[text 18]' }] } },
    reply: { bytes: whole.text.length, content: { choices: [{ message: { content: '[text 5]' } }] } },
  });
  const hashed = await ask(false, await issue('hash'), 'm');
  const sha256 = new Bun.CryptoHasher('sha256').update(hashed.text).digest('hex');
  expect((await stored(hashed.id)).body.reply).toMatchObject({ sha256, bytes: hashed.text.length });
  const none = await ask(true, await issue('none'));
  const other = await ask(false, caller.key, 'm');
  for (const { id } of [none, other]) expect((await read(id)).body.error.message).toContain('was captured');

  expect((await read(streamed.id, caller.key)).status).toBe(403);
  const path = `${gateway.url}/v1/calls/${streamed.id}/payload`;
  expect((await fetch(path, { headers: { authorization: `Bearer ${caller.key}` } })).status).toBe(404);
  const { data } = await gateway.admin<{ data: { action: string; actor: string; after: object }[] }>(
    'GET',
    `/audit?subject=${hashed.id}`,
  );
  expect(data[0]).toMatchObject({ action: 'payload.read', actor: expect.any(String), after: { model: 'm' } });
  for (const { parentPath, name } of onDiskWithFiles()) {
    expect(readFileSync(join(parentPath, name)).includes('a private') ? name : '').toBe('');
  }
  expect(gateway.log()).not.toContain('a private');
  await gateway.admin('DELETE', '/models/captured');
  await gateway.admin('DELETE', '/providers/s');
});

test('a rotation changes the key, and a running gateway continues', async () => {
  const before = readFileSync(join(folder, 'secret.key'), 'utf8');
  const rotating = spawnModelport(['secrets', 'rotate', '--json'], {
    MODELPORT_URL: gateway.url,
    MODELPORT_ADMIN_KEY: gateway.adminKey,
  });
  expect(await rotating.exited).toBe(0);
  expect(JSON.parse(rotating.log())).toEqual({ 'providers re-encrypted': 1, 'key of': 'the key file' });
  expect(readFileSync(join(folder, 'secret.key'), 'utf8')).not.toBe(before);
  expect(onDisk()).not.toContain('secret.key.previous');
  // A change makes it read its providers again.
  const settings = {
    name: 'other',
    type: 'openai-compatible',
    baseUrl: `${upstream.url}/v/v1`,
    credential: 'other-one',
  };
  await gateway.admin('POST', '/providers', settings);
  expect(await credentialSent()).toBe(`Bearer ${CANARY}`);
  expect(gateway.log()).not.toContain('could not be looked after');
}, 60_000);

test('a start without the key is an error', async () => {
  await gateway.stop('keep');
  renameSync(join(folder, 'secret.key'), join(folder, 'elsewhere'));
  const environment = { PORT: String(await freePort()), MODELPORT_DATA_DIR: folder };
  const lost = spawnModelport(['serve'], environment);
  expect(await lost.exited).toBe(1);
  expect(lost.log().trim()).toBe(
    "The providers' credentials in the database are encrypted with another key: set MODELPORT_SECRET_KEY to the one they were encrypted with, or put its file secret.key into the data directory.",
  );
  expect(onDisk()).not.toContain('secret.key');
  const key = readFileSync(join(folder, 'elsewhere'), 'utf8').trim();
  gateway = await startGateway({ dataFolder: folder, environment: { MODELPORT_SECRET_KEY: key } });
  expect(await credentialSent()).toBe(`Bearer ${CANARY}`);
}, 60_000);
