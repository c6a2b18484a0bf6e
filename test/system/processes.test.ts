/** Several processes on one port: one bootstrap, one log, metrics of all; a killed process is replaced and its holds resolved. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chatRequest, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { ENGINES } from '../helpers/engines.ts';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';
import { costOf, nanoOf, PRICE } from '../helpers/scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const COUNT = 3;
const WITHIN_MS = 40_000;

/** The workers of the gateway on this port, by their number. */
function workersOf(url: string): Map<string, number> {
  const port = new URL(url).port;
  const workers = new Map<string, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const number = variables.find((one) => one.startsWith('MODELPORT_WORKER='))?.split('=')[1];
      if (number !== undefined && variables.includes(`PORT=${port}`)) workers.set(number, Number(pid));
    } catch {
      // it has ended or is not accessible
    }
  }
  return workers;
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + WITHIN_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not come to pass');
    await Bun.sleep(50);
  }
}

describe.skipIf(!existsSync('/proc/self/environ')).each(ENGINES)('$name', (engine) => {
  let upstream: ScriptedUpstream;
  let gateway: GatewayProcess;
  let caller: TestCaller;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    upstream.script('/slow/', streamAnswer(['one ', 'two ', 'three'], { repeat: true, paceMs: 40 }));
    const { settings } = await engine.emptyDatabase();
    gateway = await startGateway({
      database: settings,
      environment: {
        MODELPORT_PROCESSES: String(COUNT),
        MODELPORT_STALL_MS: '3000',
      },
      providers: [
        { name: 'slow', type: 'openai-compatible', baseUrl: `${upstream.url}/slow/v1`, credential: 'sk-fake' },
      ],
      models: [
        { name: 'slow', kind: 'chat', price: PRICE, maxOutputTokens: 100, targets: [{ provider: 'slow', model: 'm' }] },
      ],
    });
    await gateway.printed('Try it:');
    caller = await gateway.newCaller('10.00');
  }, 60_000);
  afterAll(async () => {
    expect(await gateway.stop('keep')).toBe(0);
    await upstream.close();
  }, 60_000);

  const call = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(chatRequest('slow', { stream: true })),
    })
      .then((response) => response.text())
      .catch(() => '');

  /** A process that does not answer within a second is left out. */
  async function metricsOfAll(): Promise<string> {
    let metrics = '';
    await until(async () => {
      metrics = await gateway.metrics();
      return new Set([...metrics.matchAll(/\{process="(\d)"/g)].map(([, process]) => process)).size === COUNT;
    });
    return metrics;
  }

  test('limits are divided among the processes, with a warning', async () => {
    const limited = { account: caller.account, name: 'limited', requestsPerMinute: COUNT * 2 };
    const { key } = (await gateway.admin('POST', '/keys', limited)) as { key: string };
    const statuses: number[] = [];
    for (let requestCount = 0; requestCount < COUNT * 12; requestCount++) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(chatRequest('slow', { stream: true })),
      });
      await response.text();
      statuses.push(response.status);
    }
    const letIn = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status !== 429)).toHaveLength(letIn);
    expect(letIn).toBeGreaterThanOrEqual(2);
    expect(letIn).toBeLessThanOrEqual(COUNT * 2);
    await gateway.printed('divided among the processes');
  }, 60_000);

  test('they bootstrap once and share the calls, and metrics and log lines name the process', async () => {
    expect(gateway.log().match(/This is the first start/g)).toHaveLength(1);
    expect(workersOf(gateway.url).size).toBe(COUNT);
    const callsIn = (metrics: string) =>
      [...metrics.matchAll(/^modelport_calls_total\{process="\d",.*outcome="ok"\} (\d+)$/gm)]
        .map(([, calls]) => Number(calls))
        .reduce((sum, calls) => sum + calls, 0);
    const linesOf = () => gateway.log().match(/"msg":"call"/g)?.length ?? 0;
    const before = callsIn(await metricsOfAll());
    await until(() => linesOf() >= before);
    const linesBefore = linesOf();
    const answers = await Promise.all(Array.from({ length: 30 }, call));
    expect(answers.every((text) => text.includes('[DONE]'))).toBe(true);
    const metrics = await metricsOfAll();
    expect(callsIn(metrics) - before).toBe(30);
    expect(metrics.match(/^# TYPE modelport_calls_total counter$/gm)).toHaveLength(1);
    await until(() => linesOf() - linesBefore === 30);
    for (const line of gateway
      .log()
      .split('\n')
      .filter((one) => one.includes('"msg":"call"'))) {
      expect(JSON.parse(line).process).toBeGreaterThan(0);
    }
  }, 60_000);

  test.each([
    ['is killed', 'SIGKILL', 'a process died and is replaced'],
    ['does not go on', 'SIGSTOP', 'a process with a blocked event loop is ended'],
  ] as const)(
    'one that %s under load is replaced, its holds are resolved, and nothing is delivered for free',
    async (_, signal, line) => {
      // The process that the previous test ended has been replaced.
      await until(async () => (await gateway.metrics()).includes('{process="2"'));
      const before = workersOf(gateway.url);
      const spentBefore = nanoOf('10.00') - nanoOf((await gateway.balance(caller)).available);
      const calls = Array.from({ length: 24 }, call);
      await Bun.sleep(60);
      const second = before.get('2');
      if (second === undefined) throw new Error('there is no second process');
      process.kill(second, signal);
      const complete = (await Promise.all(calls)).filter((text) => text.includes('[DONE]')).length;
      await until(() => {
        const now = workersOf(gateway.url);
        return now.size === COUNT && now.get('2') !== before.get('2');
      });
      await gateway.printed(line);
      await until(async () => (await gateway.balance(caller)).held === '0');
      expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
      const spent = nanoOf('10.00') - nanoOf((await gateway.balance(caller)).available);
      expect(spent - spentBefore).toBeGreaterThanOrEqual(BigInt(complete) * costOf(USED));
    },
    60_000,
  );
});
