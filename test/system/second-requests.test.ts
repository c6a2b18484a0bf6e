/**
 * Calls of two requests, hedged or continued, with real processes: what both cost, also if the process is killed while the second is under
 * way.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { ENGINES, type TestDatabase } from '../helpers/engines.ts';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { costOf, nanoOf, PRICE } from '../helpers/scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const CREDIT = '1.00';
/** So many streams tell how long a target usually takes. */
const SAMPLES = 20;
const SILENT = { ...streamAnswer(['never']), fault: { before: 'headers', does: 'silence' } } as const;
/** Most of it is waiting for machines that are busy. */
const WITHIN_MS = 60_000;

/** Mistral continues a reply that was begun. */
const PROVIDERS = [
  ['first', 'openai-compatible'],
  ['second', 'openai-compatible'],
  ['third', 'mistral'],
  ['fourth', 'mistral'],
] as const;

function modelOf(name: string, providers: readonly string[], more: object) {
  const targets = providers.map((provider, priority) => ({ provider, model: 'upstream-model', priority }));
  return { name, kind: 'chat' as const, price: PRICE, maxOutputTokens: 100, targets, ...more };
}

describe.each(ENGINES)('$name', (engine) => {
  let upstream: ScriptedUpstream;
  let gateway: GatewayProcess;
  let caller: TestCaller;
  let settings: TestDatabase['settings'];

  const start = () =>
    startGateway({
      providers: PROVIDERS.map(([name, type]) => ({
        name,
        type,
        baseUrl: `${upstream.url}/${name}/v1`,
        credential: 'sk-fake',
      })),
      models: [
        modelOf('hedged', ['first', 'second'], { hedge: 'on' }),
        modelOf('continued', ['third', 'fourth'], { continuation: 'prefill', retries: 0 }),
      ],
      database: settings,
    });

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    ({ settings } = await engine.freshDatabase());
    gateway = await start();
    caller = await gateway.newCaller(CREDIT);
  }, WITHIN_MS);
  afterAll(async () => {
    await gateway.stop('keep');
    await upstream.close();
  }, WITHIN_MS);

  async function call(model = 'hedged'): Promise<string> {
    const body = JSON.stringify(chatRequest(model, { stream: true }));
    const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    return response.text();
  }

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    const end = Date.now() + WITHIN_MS;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`It has not come to that. The log:\n${gateway.log()}`);
      await Bun.sleep(20);
    }
  }

  const requestCount = () => upstream.journal('/').length;

  /** Calls, kills the process when the second request has been sent, and starts it again: then nothing is held. */
  async function killWhileBothAreAsked(model: string): Promise<void> {
    const already = requestCount();
    const calling = call(model).catch(() => '');
    await until(() => requestCount() === already + 2);
    await gateway.kill();
    await calling;
    gateway = await start();
    await until(async () => (await gateway.verify()).holds === 0);
    expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
  }

  const spent = async () => nanoOf(CREDIT) - nanoOf((await gateway.balance(caller)).available);

  test(
    'the faster target answers; its cost and the input of the other are charged',
    async () => {
      for (let i = 0; i < SAMPLES; i++) {
        upstream.script('/first/', streamAnswer(['Hello']));
        expect(await call()).toContain('[DONE]');
      }
      upstream.script('/first/', SILENT);
      upstream.script('/second/', streamAnswer(['Good ', 'day']));
      const text = await call();
      expect(text).toContain('Good ');
      expect(text).toEndWith('data: [DONE]\n\n');
      await until(async () => (await gateway.balance(caller)).held === '0');
      const [last] = (await gateway.calls(caller)).filter(({ attempts }) => attempts === 2);
      expect(last?.provider).toBe('second');
      const loser = nanoOf(last?.usage?.hedge?.cost ?? '0');
      expect(last?.usage?.hedge?.provider).toBe('first');
      expect(loser).toBeGreaterThan(0n);
      expect(nanoOf(last?.cost ?? '0')).toBe(costOf(USED) + loser);
      expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
    },
    WITHIN_MS,
  );

  test(
    'a process that is killed while both are asked leaves both inputs charged and nothing held',
    async () => {
      const before = await spent();
      upstream.script('/first/', SILENT);
      upstream.script('/second/', SILENT);
      await killWhileBothAreAsked('hedged');
      const [interrupted] = (await gateway.calls(caller)).filter(({ outcome }) => outcome === 'interrupted');
      const [hedged] = (await gateway.calls(caller)).filter(({ usage }) => usage?.hedge);
      expect(nanoOf(interrupted?.cost ?? '0')).toBe(2n * nanoOf(hedged?.usage?.hedge?.cost ?? '0'));
      expect((await spent()) - before).toBe(nanoOf(interrupted?.cost ?? '0'));
    },
    WITHIN_MS,
  );

  test(
    'a process that is killed while a reply is continued leaves its part and the input of both requests charged',
    async () => {
      const cutOff = streamAnswer(['Good ', 'day'], { fault: { before: 2, does: 'cut' } });
      upstream.script('/third/', cutOff);
      upstream.script('/fourth/', errorAnswer(503, 'down'));
      expect(await call('continued')).toContain('"error"');
      await until(async () => (await gateway.balance(caller)).held === '0');
      const [alone] = (await gateway.calls(caller)).filter(({ outcome }) => outcome === 'broken');
      const input = alone?.usage?.input ?? 0;
      const before = await spent();
      upstream.script('/third/', cutOff);
      upstream.script('/fourth/', SILENT);
      await killWhileBothAreAsked('continued');
      const [interrupted] = (await gateway.calls(caller)).filter(
        ({ outcome, model }) => outcome === 'interrupted' && model === 'continued',
      );
      expect(input).toBeGreaterThan(0);
      const second = nanoOf(interrupted?.cost ?? '0') - nanoOf(alone?.cost ?? '0');
      // The second request contains the first and what was delivered.
      expect(second).toBeGreaterThan(costOf({ input, output: 0 }));
      expect(second).toBeLessThan(costOf({ input: input + 20, output: 0 }));
      expect((await spent()) - before).toBe(nanoOf(interrupted?.cost ?? '0'));
    },
    WITHIN_MS,
  );
});
