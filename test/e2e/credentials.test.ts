/** A provider with several credentials, some of which it refuses: calls continue with the others. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { chatReply } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { PRICE } from '../helpers/scene.ts';

type Refusal = { status: number; headers?: { [name: string]: string }; body?: object };

let gateway: GatewayProcess;
let caller: TestCaller;
/** The provider's answer to a credential; a normal reply for others. */
let refusals: { [credential: string]: Refusal } = {};
let used: string[] = [];

const answer = chatReply('hello', [5, 2]);
const provider = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const credential = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
    used.push(credential);
    const refusal = refusals[credential];
    if (!refusal) return Response.json(answer);
    const { status, headers = {}, body = { error: { message: 'No.', type: 'some_error' } } } = refusal;
    return Response.json(body, { status, headers });
  },
});

const CASES = ['refused', 'forbidden', 'limited', 'empty', 'all', 'all-limited', 'down'];

beforeAll(async () => {
  const baseUrl = `http://127.0.0.1:${provider.port}/v1`;
  gateway = await startGateway({
    providers: CASES.map((name) => ({
      name,
      type: 'openai-compatible',
      baseUrl,
      credentials: [`sk-good-${name}`, `sk-bad-${name}`],
    })),
    models: CASES.map((name) => ({
      name,
      kind: 'chat',
      price: PRICE,
      maxOutputTokens: 100,
      targets: [{ provider: name, model: 'm' }],
    })),
  });
  caller = await gateway.newCaller();
}, 60_000);
beforeEach(() => {
  refusals = {};
  used = [];
});
afterAll(async () => {
  expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
  await gateway.stop();
  await provider.stop(true);
}, 60_000);

function call(model: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
}

test.each([
  ['refused', { status: 401 }],
  ['forbidden', { status: 403 }],
  ['limited', { status: 429, headers: { 'retry-after': '30' } }],
  [
    'empty',
    { status: 429, body: { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } } },
  ],
])(
  'a credential that is %s: another one is used in the same call, and afterwards this one is left out',
  async (name, refusal) => {
    refusals[`sk-bad-${name}`] = refusal;
    const answers: Response[] = [];
    for (let i = 0; i < 8; i++) answers.push(await call(name));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(used.filter((credential) => credential.startsWith('sk-bad'))).toHaveLength(1);
    const attempts = answers.map((one) => one.headers.get('x-modelport-attempts'));
    expect(attempts.toSorted()).toEqual(['1', '1', '1', '1', '1', '1', '1', '2']);
    const calls = (await gateway.calls(caller)).filter(({ model }) => model === name);
    expect(calls.map((one) => one.attempts).toSorted()).toEqual([1, 1, 1, 1, 1, 1, 1, 2]);
    // Each call is charged once.
    expect(new Set(calls.map(({ cost }) => cost)).size).toBe(1);
  },
);

test('if all are refused, the target has failed after each credential was tried once', async () => {
  for (const which of ['good', 'bad']) refusals[`sk-${which}-all`] = { status: 401 };
  const first = await call('all');
  expect(first.status).toBe(502);
  expect(first.headers.get('x-modelport-attempts')).toBe('2');
  expect(new Set(used)).toEqual(new Set(['sk-good-all', 'sk-bad-all']));
  // Later calls try one at a time: somebody may have paid the bill.
  used.length = 0;
  expect((await call('all')).status).toBe(502);
  expect(used).toHaveLength(1);
  for (const which of ['good', 'bad']) delete refusals[`sk-${which}-all`];
  expect((await call('all')).status).toBe(200);
});

test('if all are rate limited, callers get the earliest retry time', async () => {
  refusals['sk-good-all-limited'] = { status: 429, headers: { 'retry-after': '40' } };
  refusals['sk-bad-all-limited'] = { status: 429, headers: { 'retry-after': '20' } };
  const first = await call('all-limited');
  expect(first.status).toBe(429);
  expect(first.headers.get('retry-after')).toBe('20');
  const second = await call('all-limited');
  expect(second.status).toBe(429);
  expect(Number(second.headers.get('retry-after'))).toBeWithin(15, 21);
  expect(used).toHaveLength(2);
});

test('a failure that is not about the credential is tried again as often as that of any only target', async () => {
  for (const which of ['good', 'bad']) refusals[`sk-${which}-down`] = { status: 500 };
  expect((await call('down')).status).toBe(502);
  expect(used).toHaveLength(3);
});
