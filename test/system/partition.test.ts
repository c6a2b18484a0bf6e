/**
 * A gateway that is disconnected from its database, or stopped, while another watches: its calls continue, it takes no new ones, and in the
 * end each has its true cost.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chatRequest, streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { type DatabaseLink, openDatabaseLink } from '../helpers/database-link.ts';
import { ENGINES } from '../helpers/engines.ts';
import { type CallView, type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { modelsAt } from '../helpers/load-models.ts';
import { hasPostgres, testPostgres } from '../helpers/postgres.ts';
import { costOf, nanoOf } from '../helpers/scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

/** Gateways on one machine see each other's processes, so one of them runs in another PID namespace. */
const ELSEWHERE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync(ELSEWHERE[0]!, [...ELSEWHERE.slice(1), 'true']).status === 0;
if (!canUnshare) console.warn('No PID namespaces may be made here: the test of a partition is skipped.');

const NAMES = ['long', 'short'] as const;
const LEASE_MS = 3000;
const WITHIN_MS = 30_000;
const WORDS = Array.from({ length: 40 }, (_, index) => `word ${index} `);
const PACE_MS = 150;

const ask = (gateway: GatewayProcess, caller: TestCaller, model: string, stream: boolean) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatRequest(model, { stream })),
  });

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await Bun.sleep(50);
  }
}

const callOf = async (watcher: GatewayProcess, caller: TestCaller) =>
  (await watcher.calls(caller))[0] as (CallView & { provisional?: boolean }) | undefined;

const setupOf = (upstream: ScriptedUpstream) => modelsAt(upstream, NAMES, 1000);

async function startUpstream(): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream();
  upstream.script('/long/', streamAnswer(WORDS, { repeat: true, paceMs: PACE_MS }));
  upstream.script('/short/', wholeAnswer('Hello', { repeat: true }));
  return upstream;
}

/** The watcher's settlement of a call whose gateway gives no sign of life. */
async function expectGuess(watcher: GatewayProcess, caller: TestCaller): Promise<void> {
  const guess = await until('the provisional settlement', async () => {
    const call = await callOf(watcher, caller);
    return call?.provisional && call;
  });
  expect(guess).toMatchObject({ outcome: 'interrupted', model: 'long' });
  expect(nanoOf(guess.cost)).not.toBe(costOf(USED));
  expect((await watcher.balance(caller)).held).toBe('0');
}

/** The client has everything, and it is charged once. */
async function expectTruth(watcher: GatewayProcess, caller: TestCaller, reading: Promise<string>): Promise<void> {
  const text = await reading;
  expect(text).toContain('data: [DONE]');
  for (const word of WORDS) expect(text).toContain(word);
  const settled = await until('the true settlement', async () => {
    const call = await callOf(watcher, caller);
    return !call?.provisional && call;
  });
  expect(settled).toMatchObject({ outcome: 'ok', status: 200 });
  expect(nanoOf(settled.cost)).toBe(costOf(USED));
}

describe.skipIf(!hasPostgres || !canUnshare)('Postgres, disconnected', () => {
  let upstream: ScriptedUpstream;
  let link: DatabaseLink;
  let cutOff: GatewayProcess;
  let watcher: GatewayProcess;

  beforeAll(async () => {
    upstream = await startUpstream();
    const databaseUrl = await (await testPostgres()).freshDatabase();
    link = await openDatabaseLink(databaseUrl);
    const environment = { MODELPORT_LEASE_MS: `${LEASE_MS}`, DATABASE_URL: databaseUrl };
    watcher = await startGateway({ ...setupOf(upstream), environment, under: ELSEWHERE });
    cutOff = await startGateway({ ...setupOf(upstream), environment: { ...environment, DATABASE_URL: link.url } });
  }, 60_000);
  afterAll(async () => {
    await cutOff.stop();
    await watcher.kill();
    await link.close();
    await upstream.close();
  }, 60_000);

  test.each(['resumed', 'reset'] as const)(
    'its connections are %s after the cut',
    async (former) => {
      const caller = await watcher.newCaller('10.00');
      await ask(cutOff, caller, 'short', false);
      const spent = async () => nanoOf('10.00') - nanoOf((await watcher.balance(caller)).available);
      const before = await spent();

      const response = await ask(cutOff, caller, 'long', true);
      const reading = response.text();
      await until('the hold', async () => (await watcher.balance(caller)).held !== '0');
      await Bun.sleep(PACE_MS * 2);
      link.cut();
      await until('the fence', async () => (await fetch(`${cutOff.url}/ready`)).status === 503);
      const refused = await ask(cutOff, caller, 'short', false);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await refused.json()).toMatchObject({ error: { code: 'database_unavailable' } });
      await expectGuess(watcher, caller);

      link.normalize(former);
      await expectTruth(watcher, caller, reading);
      expect((await spent()) - before).toBe(costOf(USED));
      await until('ready again', async () => (await fetch(`${cutOff.url}/ready`)).ok);
      await until('a call', async () => (await ask(cutOff, caller, 'short', false)).ok);
      await until('nothing on hold', async () => (await watcher.balance(caller)).held === '0');
      expect(await watcher.verify()).toMatchObject({ ok: true, holds: 0 });
    },
    60_000,
  );
});

describe.skipIf(!canUnshare).each(ENGINES)('$name', (engine) => {
  test('a gateway that is stopped for longer than its lease and then continued', async () => {
    const upstream = await startUpstream();
    const { settings } = await engine.freshDatabase();
    const environment = { MODELPORT_LEASE_MS: `${LEASE_MS}` };
    const setup = { ...setupOf(upstream), environment, database: settings };
    const watcher = await startGateway({ ...setup, under: ELSEWHERE });
    const frozen = await startGateway(setup);
    const caller = await watcher.newCaller('10.00');
    const reading = (await ask(frozen, caller, 'long', true)).text();
    await until('the hold', async () => (await watcher.balance(caller)).held !== '0');
    await Bun.sleep(PACE_MS * 2);
    frozen.signal('SIGSTOP');
    await expectGuess(watcher, caller);
    frozen.signal('SIGCONT');
    await expectTruth(watcher, caller, reading);
    await until('a call', async () => (await ask(frozen, caller, 'short', false)).ok);
    await until('nothing on hold', async () => (await watcher.balance(caller)).held === '0');
    const spent = nanoOf('10.00') - nanoOf((await watcher.balance(caller)).available);
    expect(spent).toBe(2n * costOf(USED));
    expect(await watcher.verify()).toMatchObject({ ok: true, holds: 0 });
    await frozen.stop('keep');
    await watcher.kill();
    await upstream.close();
  }, 60_000);
});
