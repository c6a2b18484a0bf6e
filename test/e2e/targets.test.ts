/** Time limits of a target, and which failures lead to the next one. */
import { describe, expect, test } from 'bun:test';
import { errorAnswer, streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { costOf, nanoCost } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';
import { startDeafListener } from '../upstream/deaf-listener.ts';
import { assertBroken, LIMIT_SETTINGS, LIMITS, streamed, TEXTS, whole } from './calls.ts';

const scene = useScene({ environment: LIMIT_SETTINGS });

describe('time limits and targets', () => {
  test('a connection that is never accepted fails by the connect limit', async () => {
    const deaf = await startDeafListener();
    try {
      if (!deaf.deaf) return console.warn('this system accepts every connection: the connect limit is not tried');
      const stage = await scene.stage({ baseUrls: [deaf.url] });
      const seen = await whole(stage);
      expect(seen.status).toBe(504);
      expect(seen.body.error?.code).toBe('upstream_timeout');
      expect(seen.ms).toBeWithin(LIMITS.connectMs - 50, LIMITS.connectMs + 10_000);
      expect(await stage.settledCall()).toMatchObject({ cost: '0' });
    } finally {
      deaf.close();
    }
  });

  for (const [limit, fault] of [
    ['headersMs', { before: 'headers', does: 'silence' }],
    ['firstTokenMs', { before: 0, does: 'silence' }],
  ] as const) {
    test(`${limit} ends the wait for a stream`, async () => {
      const stage = await scene.stage();
      stage.script(streamAnswer(TEXTS, { fault }));
      const seen = await streamed(stage);
      expect(seen.status).toBe(504);
      expect(seen.ms).toBeWithin(LIMITS[limit] - 50, LIMITS[limit] + 10_000);
    });
  }

  test('the next target answers if the first fails before the first byte, with one call and one charge', async () => {
    const faults: Answer[] = [
      wholeAnswer('x', { fault: { before: 'headers', does: 'reset' } }),
      errorAnswer(503, 'overloaded'),
      errorAnswer(401, 'bad key'),
      { text: '<<<garbage>>>', headers: { 'content-type': 'application/json' } },
    ];
    for (const fault of faults) {
      const stage = await scene.stage({ targets: 2 });
      stage.scriptTarget(0, fault);
      stage.scriptTarget(1, wholeAnswer('from the second'));
      const seen = await whole(stage);
      expect(seen.status).toBe(200);
      expect(seen.headers.get('x-modelport-attempts')).toBe('2');
      expect(stage.journal()).toHaveLength(2);
      const call = await stage.settledCall();
      expect(call).toMatchObject({ attempts: 2, outcome: 'ok' });
      expect(nanoCost(call)).toBe(costOf(USED));
    }
  });

  test('after the first byte no other target is tried', async () => {
    const stage = await scene.stage({ targets: 2 });
    stage.scriptTarget(0, streamAnswer(TEXTS, { paceMs: 20, fault: { before: 2, does: 'cut' } }));
    stage.scriptTarget(1, streamAnswer(['never']));
    assertBroken((await streamed(stage)).text, 'upstream_failed');
    expect(stage.journal()).toHaveLength(1);
  });

  test('a refusal of the request itself is not tried elsewhere', async () => {
    const stage = await scene.stage({ targets: 2 });
    stage.scriptTarget(0, errorAnswer(400, 'No.'));
    stage.scriptTarget(1, wholeAnswer('never'));
    expect((await whole(stage)).status).toBe(400);
    expect(stage.journal()).toHaveLength(1);
  });
});

describe('receipts', () => {
  const asCaller = (key: string, id: string) =>
    fetch(`${scene.gateway.url}/v1/calls/${id}`, { headers: { authorization: `Bearer ${key}` } });

  test('an admin sees every attempt, the charge and its entries; the caller sees the call without providers', async () => {
    const stage = await scene.stage({ targets: 2 });
    stage.scriptTarget(0, errorAnswer(503, 'Overloaded.'));
    stage.scriptTarget(1, wholeAnswer('from the second'));
    const { headers } = await whole(stage);
    const id = headers.get('x-request-id') ?? '';
    const call = await scene.gateway.admin<{ [member: string]: unknown }>('GET', `/calls/${id}`);
    const [first, second] = call.attempts as { [member: string]: unknown }[];
    expect(first).toMatchObject({ status: 503, outcome: 'failed', error: { code: 'upstream_failed' } });
    expect(second).toMatchObject({ status: 200, outcome: 'ok' });
    expect(first?.provider).not.toBe(second?.provider);
    expect(call.charge).toEqual([
      { component: 'input', quantity: 11, rate: '0.000001', amount: '0.000011' },
      { component: 'output', quantity: 7, rate: '0.000004', amount: '0.000028' },
    ]);
    expect(call.cost).toBe('0.000039');
    expect(call.entries).toMatchObject([{ kind: 'charge', amount: '-0.000039' }]);
    expect(Number(call.hold)).toBeGreaterThan(0.000039);
    const own = await (await asCaller(stage.caller.key, id)).text();
    expect(JSON.parse(own)).toMatchObject({ id, cost: '0.000039', attempts: [{ status: 503 }, { status: 200 }] });
    expect(own).not.toContain(String(first?.provider));
    expect(own).not.toContain('Overloaded');
    const stranger = await scene.stage();
    expect((await asCaller(stranger.caller.key, id)).status).toBe(404);
  });

  test('a refused call has a receipt and is in lists that ask for it', async () => {
    const stage = await scene.stage();
    const refused = await stage.post('/v1/chat/completions', {
      model: 'no-such-model',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(refused.status).toBe(404);
    const id = refused.headers.get('x-request-id') ?? '';
    const call = await scene.gateway.admin('GET', `/calls/${id}`);
    expect(call).toMatchObject({
      status: 404,
      outcome: 'refused',
      errorCode: 'model_not_found',
      attempts: [],
      cost: '0',
    });
    expect((await asCaller(stage.caller.key, id)).status).toBe(200);
    const { data } = await scene.gateway.admin<{ data: { id: string }[] }>(
      'GET',
      '/calls?status=404&error=model_not_found',
    );
    expect(data.map((one) => one.id)).toContain(id);
    const { account } = stage.caller;
    const all = await scene.gateway.admin<{ data: object[] }>('GET', `/calls?account=${account}`);
    expect(all.data).toEqual([]);
  });
});
