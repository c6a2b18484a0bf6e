/** A key is disabled during a call: the call continues and is charged, and the next one is refused. */
import { expect, test } from 'bun:test';
import { chatRequest, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { costOf, nanoCost } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { TEXTS } from './calls.ts';

const scene = useScene({}, { checksEachTest: false });

test.each([
  ['a key', (key: string) => `/keys/${key}/disable`],
  ['an account', (_: string, account: string) => `/accounts/${account}/disable`],
])('a key disabled by %s during a stream', async (_, path) => {
  const stage = await scene.stage();
  const { account } = stage.caller;
  const { id, key } = await scene.gateway.admin<{ id: string; key: string }>('POST', '/keys', { account, name: 'k' });
  const ask = () =>
    fetch(`${scene.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chatRequest(stage.model, { stream: true })),
    });
  stage.script(streamAnswer(TEXTS, { paceMs: 60 }));
  const underWay = await ask();
  await scene.gateway.admin('POST', path(id, account));
  const refused = await ask();
  expect(refused.status).toBe(401);
  expect(await refused.json()).toMatchObject({ error: { code: 'key_disabled' } });
  const body = await underWay.text();
  for (const text of TEXTS) expect(body).toContain(JSON.stringify(text).slice(1, -1));
  expect(body).toContain('[DONE]');
  const call = await stage.settledCall();
  expect(call).toMatchObject({ outcome: 'ok', usage: { source: 'reported' } });
  expect(nanoCost(call)).toBe(costOf(USED));
  await scene.assertClean();
});
