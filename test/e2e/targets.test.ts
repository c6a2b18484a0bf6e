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
