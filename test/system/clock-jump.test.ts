/**
 * The wall clock of one process jumps an hour ahead for a moment, next to another process on the same database. libfaketime changes the
 * clock (Debian: apt-get install faketime); monotonic time is not changed.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS, HOUR_MS } from '../../src/canonical/time.ts';
import { chatRequest, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { whenGone } from '../helpers/postgres.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const LIBRARY = [
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`,
].find((path) => process.platform === 'linux' && existsSync(path));
if (!LIBRARY) console.log('skipped: faketime is not installed');

const clockFolder = mkdtempSync(join(tmpdir(), 'modelport-clock-'));
whenGone(`rm -rf ${clockFolder}`);
const CLOCK = join(clockFolder, 'clock');
const turn = (aheadMs: number) => writeFileSync(CLOCK, `+${Math.round(aheadMs / 1000)}`);

let upstream: ScriptedUpstream;
let steady: GatewayProcess;
let jumpy: GatewayProcess;

beforeAll(async () => {
  if (!LIBRARY) return;
  upstream = await startScriptedUpstream();
  turn(0);
  steady = await startGateway({
    providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${upstream.url}/v1`, credential: 'sk' }],
    models: [{ name: 'm', kind: 'chat', price: { input: 1, output: 4 }, targets: [{ provider: 'p', model: 'up' }] }],
  });
  jumpy = await startGateway({
    dataFolder: steady.dataFolder,
    environment: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: CLOCK,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  });
}, 60_000);
afterAll(async () => {
  await jumpy?.stop('keep');
  await steady?.stop();
  await upstream?.close();
}, 60_000);

async function post(gateway: GatewayProcess, key: string, stream = false) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatRequest('m', { stream, max_tokens: 50 })),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Its own clock, as used for its calls. */
async function seenBy(gateway: GatewayProcess, is: (now: number) => boolean): Promise<void> {
  for (const end = performance.now() + 15_000; performance.now() < end; await Bun.sleep(50)) {
    const { headers } = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: 'Bearer none' } });
    if (is(Date.parse(headers.get('date') ?? ''))) return;
  }
  throw new Error('the clock was not turned');
}

test.skipIf(!LIBRARY)(
  'a clock that jumps ahead blocks no key, resets no limit, ends no other process’s call and takes no lease',
  async () => {
    const limited = await steady.newCaller();
    const { key } = await jumpy.admin<{ key: string }>('POST', '/keys', {
      account: limited.account,
      name: 'limited',
      requestsPerMinute: 5,
    });
    const patient = await steady.newCaller();
    const words = Array.from({ length: 30 }, (_, place) => ` word-${place}`);
    upstream.script('/v1/chat/completions', { ...streamAnswer(words), paceMs: 150 });
    const streaming = post(steady, patient.key, true);
    while (upstream.journal('/v1/').length < 1) await Bun.sleep(20);

    upstream.script('/v1/chat/completions', ...Array.from({ length: 8 }, () => wholeAnswer('Hi')));
    const statuses: number[] = [];
    for (let call = 0; call < 2; call++) statuses.push((await post(jumpy, key)).status);
    turn(HOUR_MS);
    await seenBy(jumpy, (now) => now > Date.now() + HOUR_MS / 2);
    for (let call = 0; call < 3; call++) statuses.push((await post(jumpy, key)).status);
    // A window that followed the clock would admit five more.
    const during = await post(jumpy, key);
    expect([...statuses, during.status]).toEqual([200, 200, 200, 200, 200, 429]);
    expect((await fetch(`${jumpy.url}/ready`)).status).toBe(200);
    // Both have checked the leases of dead processes meanwhile.
    await Bun.sleep(2500);
    turn(0);
    await seenBy(jumpy, (now) => now < Date.now() + 60_000);
    const after = await post(jumpy, key);
    expect(after.status).toBe(429);
    expect(Number(after.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await post(jumpy, limited.key)).status).toBe(200);
    expect((await fetch(`${jumpy.url}/ready`)).status).toBe(200);

    const { text } = await streaming;
    expect(text).toContain('[DONE]');
    const [call] = await steady.calls(patient);
    expect(call).toMatchObject({ outcome: 'ok' });
    expect(await steady.verify()).toMatchObject({ ok: true, holds: 0 });
  },
  60_000,
);

test.skipIf(!LIBRARY)(
  'spending on the true day is kept although a clock was a day ahead',
  async () => {
    const caller = await steady.newCaller();
    const { key, id } = await jumpy.admin<{ key: string; id: string }>('POST', '/keys', {
      account: caller.account,
      name: 'daily',
      budget: { day: '0.001' },
    });
    const spent = async () =>
      (await jumpy.admin<{ spent: { total: string; day: string } }>('GET', `/keys/${id}`)).spent;
    const spend = () => {
      upstream.script('/v1/chat/completions', wholeAnswer('Hi'));
      return post(jumpy, key);
    };
    expect((await spend()).status).toBe(200);
    const before = await spent();
    turn(DAY_MS);
    await seenBy(jumpy, (now) => now > Date.now() + DAY_MS / 2);
    expect((await spend()).status).toBe(200);
    turn(0);
    await seenBy(jumpy, (now) => now < Date.now() + 60_000);
    expect((await spend()).status).toBe(200);
    const now = await spent();
    expect(Number(now.total)).toBeCloseTo(3 * Number(before.total), 12);
    // At most what was spent on the wrong day counts in addition.
    expect(Number(now.day)).toBeGreaterThanOrEqual(2 * Number(before.day) - 1e-12);
    expect(Number(now.day)).toBeLessThanOrEqual(3 * Number(before.day) + 1e-12);
    expect(await jumpy.verify()).toMatchObject({ ok: true, holds: 0 });
  },
  60_000,
);
