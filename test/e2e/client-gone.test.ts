/** The client leaves, before the first byte, in mid-stream, after the end: upstream ends too, and the charge is right. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest, streamAnswer, USED, wholeAnswer } from '../chat-answers.ts';
import { costOf, nanoCost, type Scene, type Stage, startScene } from '../scene.ts';
import { LIMIT_SETTINGS, TEXTS } from './calls.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({ environment: LIMIT_SETTINGS });
}, 30_000);
afterEach(() => scene.assertClean());
afterAll(() => scene.close(), 30_000);

describe('the client leaves', () => {
  async function leave(stage: Stage, when: 'before' | number): Promise<void> {
    const abort = new AbortController();
    const pending = stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }), abort.signal);
    if (when === 'before') {
      await Bun.sleep(150);
      abort.abort();
      await pending.catch(() => {});
      return;
    }
    const reader = (await pending).body?.getReader();
    let seen = '';
    while (reader && seen.split('\n\n').length <= when)
      seen += Buffer.from((await reader.read()).value ?? []).toString();
    abort.abort();
  }
  async function abortedUpstream(stage: Stage): Promise<number> {
    const left = performance.now();
    while (!stage.journal()[0]?.endedMs && performance.now() - left < 2000) await Bun.sleep(10);
    expect(stage.journal()[0]?.aborted).toBe(true);
    return performance.now() - left;
  }

  test('before the first byte: the upstream is cancelled, nothing is charged', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(TEXTS, { fault: { before: 0, does: 'silence' } }));
    await leave(stage, 'before');
    expect(await abortedUpstream(stage)).toBeLessThan(1000);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'aborted', cost: '0' });
  });

  test('before the headers, whole: the upstream is cancelled, nothing is charged', async () => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('x', { fault: { before: 'headers', does: 'silence' } }));
    const signal = AbortSignal.timeout(150);
    await stage.post('/v1/chat/completions', chatRequest(stage.model), signal).catch(() => {});
    expect(await abortedUpstream(stage)).toBeLessThan(1000);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'aborted', cost: '0' });
  });

  test('in mid-stream: the upstream is cancelled at once, what was delivered is charged once', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(TEXTS, { fault: { before: 3, does: 'silence' } }));
    await leave(stage, 3);
    expect(await abortedUpstream(stage)).toBeLessThan(1000);
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'counted' } });
    expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
    expect(nanoCost(call)).toBeGreaterThan(0n);
  });

  test('in mid-stream of a model that drains: read to the end, charged as reported', async () => {
    const stage = await scene.stage({ onDisconnect: 'drain' });
    stage.script(streamAnswer(TEXTS, { paceMs: 40 }));
    await leave(stage, 2);
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'reported' } });
    expect(nanoCost(call)).toBe(costOf(USED));
    expect(stage.journal()[0]?.aborted).toBe(false);
  });

  test('after the end: charged as reported', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(TEXTS));
    const abort = new AbortController();
    const request = chatRequest(stage.model, { stream: true });
    await (await stage.post('/v1/chat/completions', request, abort.signal)).text();
    abort.abort();
    expect(nanoCost(await stage.settledCall())).toBe(costOf(USED));
  });
});
