/** SQLite on a disk that fills up under load: calls are refused before anything is sent, and work again when there is space. */
import { afterAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatRequest, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { startGateway } from '../helpers/gateway-process.ts';
import { costOf, nanoOf, PRICE } from '../helpers/scene.ts';
import { startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-disk-'));
const mount = (...options: string[]) => spawnSync('mount', [...options, folder]).status === 0;
const isMounted = mount('-t', 'tmpfs', '-o', 'size=3m', 'tmpfs');
if (!isMounted) console.warn('No small disk can be mounted here: the test of a full one is skipped.');
afterAll(() => {
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

/** Writes until the disk is full. */
function fillUp(path: string): void {
  const page = new Uint8Array(4096);
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, page);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

const WORKERS = 8;
const WITHIN_MS = 30_000;

describe.skipIf(!isMounted)('a full disk', () => {
  test('refuses calls, loses nothing, and recovers', async () => {
    const upstream = await startScriptedUpstream();
    upstream.script('/', wholeAnswer('Hello', { repeat: true }));
    const gateway = await startGateway({
      dataFolder: folder,
      environment: { MODELPORT_LOG_LEVEL: 'error' },
      providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${upstream.url}/v1`, credential: 'sk-fake' }],
      models: [
        { name: 'm', kind: 'chat', price: PRICE, maxOutputTokens: 100, targets: [{ provider: 'p', model: 'm' }] },
      ],
    });
    const caller = await gateway.newCaller('10.00');
    let complete = 0;
    const ask = async () => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(chatRequest('m')),
      });
      const text = await response.text();
      if (response.ok && text.includes('"chat.completion"')) complete++;
      return { status: response.status, text };
    };
    const askUntil = async (status: number) => {
      const end = Date.now() + WITHIN_MS;
      const worker = async () => {
        for (;;) {
          const answer = await ask();
          if (answer.status === status) return answer;
          if (Date.now() > end) throw new Error(`no answer was ${status}`);
        }
      };
      return (await Promise.all(Array.from({ length: WORKERS }, worker)))[0];
    };
    const refused = await askUntil(503);
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ error: { code: 'database_unavailable' } });
    expect(complete).toBeGreaterThan(10);
    const readiness = async () => {
      const response = await fetch(`${gateway.url}/ready`);
      return { status: response.status, body: await response.json() };
    };
    const readyIs = async (status: number) => {
      const end = Date.now() + WITHIN_MS;
      let answer = await readiness();
      while (answer.status !== status && Date.now() < end) {
        await Bun.sleep(50);
        answer = await readiness();
      }
      return answer;
    };
    // The log's reserved space for smaller writes is used up.
    fillUp(join(folder, 'ballast'));
    const notReady = await readyIs(503);
    expect(notReady).toEqual({ status: 503, body: { status: 'not ready', reasons: ["The database's disk is full."] } });
    expect(await ask()).toMatchObject({ status: 503 });
    expect(mount('-o', 'remount,size=64m')).toBe(true);
    await askUntil(200);
    expect(await readyIs(200)).toEqual({ status: 200, body: { status: 'ready' } });
    const end = Date.now() + WITHIN_MS;
    while ((await gateway.balance(caller)).held !== '0' && Date.now() < end) await Bun.sleep(100);
    expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
    const spent = nanoOf('10.00') - nanoOf((await gateway.balance(caller)).available);
    expect(spent).toBeGreaterThanOrEqual(BigInt(complete) * costOf(USED));
    expect(await gateway.stop('keep')).toBe(0);
    await upstream.close();
  }, 120_000);
});
