/** The cache of replies over two gateways of one database: what one has stored the other gives, and the books are right. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest, wholeAnswer } from '../helpers/chat-answers.ts';
import { ENGINES } from '../helpers/engines.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const HELLO = 'Hello from upstream';
const STARTING_MS = 60_000;

describe.each(ENGINES)('$name', (engine) => {
  let upstream: ScriptedUpstream;
  let first: GatewayProcess;
  let second: GatewayProcess;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const { settings } = await engine.emptyDatabase();
    const price = { input: 1, output: 4, perCacheHit: 0.000001 };
    const setup = {
      database: settings,
      providers: [
        { name: 'main', type: 'openai-compatible', baseUrl: `${upstream.url}/main/v1`, credential: 'sk-fake' },
      ],
      models: [{ name: 'cached', kind: 'chat' as const, price, targets: [{ provider: 'main', model: 'm' }] }],
    };
    first = await startGateway(setup);
    second = await startGateway(setup);
  }, STARTING_MS);
  afterAll(async () => {
    expect([await second.stop('keep'), await first.stop('keep')]).toEqual([0, 0]);
    await upstream.close();
  }, STARTING_MS);

  const ask = (gateway: GatewayProcess, key: string, more: { [member: string]: unknown } = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chatRequest('cached', more)),
    });

  test('a reply that one has stored the other gives, whole and as a stream, at its price', async () => {
    const { account } = await first.newCaller('1');
    const row = { account, name: 'cached', cacheSeconds: 3600 };
    const { key } = await first.admin<{ key: string }>('POST', '/keys', row);
    upstream.script('/main/', wholeAnswer(HELLO));
    const miss = await ask(first, key);
    expect([miss.status, miss.headers.get('x-modelport-cache')]).toEqual([200, 'miss']);
    await miss.arrayBuffer();

    const hit = await ask(second, key);
    expect([hit.headers.get('x-modelport-cache'), hit.headers.get('x-modelport-cost')]).toEqual(['hit', '0.000001']);
    expect(await hit.json()).toMatchObject({ choices: [{ message: { content: HELLO } }] });
    const stream = await (await ask(second, key, { stream: true })).text();
    expect(stream).toContain(HELLO);
    expect(stream).toEndWith('data: [DONE]\n\n');
    expect(upstream.journal('/main/')).toHaveLength(1);

    const caller = { account, key };
    const calls = await first.calls(caller);
    expect(calls.map(({ cost, usage }) => [cost, usage?.source])).toEqual([
      ['0.000001', 'cached'],
      ['0.000001', 'cached'],
      ['0.000039', 'reported'],
    ]);
    expect(await first.balance(caller)).toMatchObject({ available: '0.999959', held: '0' });
    const headers = { authorization: `Bearer ${key}` };
    const usage = (await (await fetch(`${second.url}/v1/usage`, { headers })).json()) as { total: object };
    expect(usage.total).toMatchObject({ calls: 3, cost: '0.000041', saved: '0.000076' });
    expect(await second.metrics()).toMatch(/^modelport_cache_hits_total\{model="cached",provider="\w+"\} 2$/m);
    expect(await first.verify()).toMatchObject({ ok: true, holds: 0 });
  });

  test('an account that is disabled gets nothing from it, in either gateway', async () => {
    const { account } = await first.newCaller('1');
    const { key } = await first.admin<{ key: string }>('POST', '/keys', { account, name: 'c', cacheSeconds: 60 });
    upstream.script('/main/', wholeAnswer(HELLO));
    for (const gateway of [first, second]) expect((await ask(gateway, key, { seed: 1 })).status).toBe(200);
    await first.admin('POST', `/accounts/${account}/disable`);
    expect((await ask(first, key, { seed: 1 })).status).toBe(401);
    // The other one learns of it within two seconds.
    const end = Date.now() + STARTING_MS / 2;
    let status = 0;
    while (status !== 401 && Date.now() < end) ({ status } = await ask(second, key, { seed: 1 }));
    expect(status).toBe(401);
  });
});
