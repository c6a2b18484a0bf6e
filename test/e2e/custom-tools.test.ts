/** A custom tool with free text, for a provider of the client's own format that only supports functions. */
import { expect, test } from 'bun:test';
import { chatRequest, USAGE } from '../helpers/chat-answers.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene({}, { checksEachTest: false });

const TOOL = { type: 'custom', custom: { name: 'sql', description: 'Runs SQL.' } };
const CALL = { id: 'call_1', type: 'function', function: { name: 'sql', arguments: '{"input":"select 1"}' } };
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [
    { index: 0, message: { role: 'assistant', content: null, tool_calls: [CALL] }, finish_reason: 'tool_calls' },
  ],
  usage: USAGE,
};

test('is sent as a function with a warning, and its call is returned as a custom call', async () => {
  const stage = await scene.stage();
  stage.script({ json: ANSWER });
  const response = await stage.post('/v1/chat/completions', chatRequest(stage.model, { tools: [TOOL], peculiar: 1 }));
  const reply = (await response.json()) as typeof ANSWER;
  expect(response.headers.get('x-modelport-warnings')).toContain('`sql` takes free text');
  expect(reply.choices[0]?.message.tool_calls as unknown[]).toEqual([
    { id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select 1' } },
  ]);
  const [arrived] = stage.journal();
  const sent = arrived?.body;
  expect(sent?.tools as unknown[]).toMatchObject([
    { type: 'function', function: { name: 'sql', description: 'Runs SQL.' } },
  ]);
  expect(sent?.peculiar).toBe(1);
});

test('is refused in strict mode before anything is sent', async () => {
  const stage = await scene.stage();
  const response = await fetch(`${scene.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stage.caller.key}`,
      'content-type': 'application/json',
      'x-modelport-strict': 'true',
    },
    body: JSON.stringify(chatRequest(stage.model, { tools: [TOOL] })),
  });
  expect([response.status, stage.journal().length]).toEqual([400, 0]);
});
