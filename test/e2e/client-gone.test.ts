/** The client disconnects before the first byte, during a stream, or after the end: the upstream call ends too, and the charge is right. */
import { describe, expect, test } from 'bun:test';
import { chatRequest, streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import { readUntil } from '../helpers/read-until.ts';
import { costOf, nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { TEXTS } from './calls.ts';

/** Much longer than the drained answers take. */
const DRAIN_MS = 4000;
const scene = useScene({ environment: { MODELPORT_DISCONNECT_DRAIN_MS: String(DRAIN_MS) } });

describe('the client disconnects', () => {
  async function leave(stage: Stage, when: 'before' | number): Promise<void> {
    const abort = new AbortController();
    const pending = stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }), abort.signal);
    if (when === 'before') {
      while (stage.journal().length === 0) await Bun.sleep(5);
      abort.abort();
      await pending.catch(() => {});
      return;
    }
    await readUntil(await pending, (seen) => seen.split('\n\n').length > when);
    abort.abort();
  }
  /** The upstream call is aborted, and what it used is charged once. */
  async function assertAborted(stage: Stage, usage: object): Promise<void> {
    await stage.upstreamAborted();
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage });
    expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
    expect(nanoCost(call)).toBeGreaterThan(0n);
  }

  test('before the first byte: the upstream call is cancelled and the estimated input charged', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(TEXTS, { fault: { before: 0, does: 'silence' } }));
    await leave(stage, 'before');
    await assertAborted(stage, { source: 'estimated', output: 0 });
  });

  test('before the headers of a non-streaming response: the upstream call is cancelled and the estimated input charged', async () => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('x', { fault: { before: 'headers', does: 'silence' } }));
    const abort = new AbortController();
    const pending = stage.post('/v1/chat/completions', chatRequest(stage.model), abort.signal).catch(() => {});
    while (stage.journal().length === 0) await Bun.sleep(5);
    abort.abort();
    await pending;
    await assertAborted(stage, { source: 'estimated', output: 0 });
  });

  test('during a stream: the upstream call is cancelled at once, and what was delivered is charged once', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(TEXTS, { fault: { before: 3, does: 'silence' } }));
    await leave(stage, 3);
    await assertAborted(stage, { source: 'counted' });
  });

  test('during a stream with the policy drain: it is read to the end and charged as reported', async () => {
    const stage = await scene.stage({ onDisconnect: 'drain' });
    stage.script(streamAnswer(TEXTS, { paceMs: 300 }));
    await leave(stage, 2);
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'reported' } });
    expect(nanoCost(call)).toBe(costOf(USED));
    expect(stage.journal()[0]?.aborted).toBe(false);
  });

  test('before the headers of a non-streaming response with the policy drain: it is read to the end and charged as reported', async () => {
    const stage = await scene.stage({ onDisconnect: 'drain' });
    stage.script(wholeAnswer('x', { fault: { before: 'headers', does: 1500 } }));
    const abort = new AbortController();
    const pending = stage.post('/v1/chat/completions', chatRequest(stage.model), abort.signal).catch(() => {});
    while (stage.journal().length === 0) await Bun.sleep(5);
    abort.abort();
    await pending;
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'reported' } });
    expect(nanoCost(call)).toBe(costOf(USED));
  });

  test('before the first token with the policy drain: it is read to the end and charged as reported', async () => {
    const stage = await scene.stage({ onDisconnect: 'drain' });
    stage.script(streamAnswer(TEXTS, { fault: { before: 0, does: 1500 } }));
    await leave(stage, 'before');
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'reported' } });
    expect(nanoCost(call)).toBe(costOf(USED));
  });

  test('with the policy drain, above its time limit: the upstream call is cancelled, and the counted output charged', async () => {
    const stage = await scene.stage({ onDisconnect: 'drain' });
    // An event every 300 ms: the silence limit never ends it, the drain limit does.
    stage.script(
      streamAnswer(
        Array.from({ length: 100 }, () => 'word '),
        { paceMs: 300 },
      ),
    );
    const started = performance.now();
    await leave(stage, 2);
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'counted' } });
    expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
    expect(call.usage?.output).toBeGreaterThanOrEqual(4);
    expect(call.usage?.output).toBeLessThan(100);
    expect(stage.journal()[0]?.aborted).toBe(true);
    expect(performance.now() - started).toBeGreaterThan(DRAIN_MS);
  }, 60_000);

  test('with several choices generated one by one: finished ones are charged as reported', async () => {
    const stage = await scene.stage({ type: 'anthropic' });
    const { stream } = PROVIDERS.messages;
    const tokens = { input: 50, cachedInput: 0, output: 900, reasoning: 0 };
    stage.script(stream({ texts: ['done'], tokens }), { ...stream({ texts: TEXTS, tokens }), paceMs: 150 });
    const abort = new AbortController();
    const request = chatRequest(stage.model, { stream: true, n: 2 });
    const response = await stage.post('/v1/chat/completions', request, abort.signal);
    await readUntil(response, (seen) => seen.includes('finish_reason":"stop') && seen.includes(TEXTS[0] ?? ''));
    abort.abort();
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'partial' } });
    // The finished choice in full; of the other, the input reported by its first event and the delivered text.
    expect(call.usage?.input).toBe(100);
    expect(call.usage?.output).toBeGreaterThan(900);
    expect(call.usage?.output).toBeLessThan(950);
    expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
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
