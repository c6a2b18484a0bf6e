/** A compaction that gives no text has used input and reasoning, and its caller pays for that. */
import { expect, test } from 'bun:test';
import { costOf } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene();

const emptyReply = (finish: string) => ({
  json: {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: finish }],
    usage: { prompt_tokens: 900, completion_tokens: 16, total_tokens: 916 },
  },
});

test.each([
  ['length', 'invalid_request', 'max_output_tokens'],
  ['stop', 'upstream_refused', ''],
])('a reply without text that ends with %s is charged', async (finish, code, param) => {
  const stage = await scene.stage();
  stage.script(emptyReply(finish));
  const body = { model: stage.model, input: 'long text '.repeat(450), max_output_tokens: 16 };
  const response = await stage.post('/v1/responses/compact', body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code, param } });
  const call = await stage.settledCall();
  expect([call.outcome, call.errorCode, call.usage]).toMatchObject([
    'refused',
    code,
    { input: 900, output: 16, source: 'reported' },
  ]);
  expect(call.cost).toBe(
    `0.${String(costOf({ input: 900, output: 16 }))
      .padStart(9, '0')
      .replace(/0+$/, '')}`,
  );
});
