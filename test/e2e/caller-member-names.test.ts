/** What a translation drops or refuses is reported with the caller's own member names, whatever the provider's format. */
import { expect, test } from 'bun:test';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene({}, { checksEachTest: false });

test('a warning names the member that the caller sent', async () => {
  const { type, upstreamModel, whole } = PROVIDERS.responses;
  const stage = await scene.stage({ type, upstreamModel });
  stage.script(whole({ texts: ['Yes.'] }));
  const response = await stage.post(`/v1beta/models/${stage.model}:generateContent`, {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { topK: 5, seed: 7 },
    tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: {} } }] }],
  });
  expect(response.status).toBe(200);
  const warnings = response.headers.get('x-modelport-warnings');
  expect(warnings).toContain('`generationConfig.topK`');
  expect(warnings).not.toContain('`top_k`');
});

test("a provider's refusal does too, and `param` is a string even without a member", async () => {
  const stage = await scene.stage();
  const refused = { message: 'Too many tokens.', type: 'invalid_request_error', param: 'max_tokens', code: 'too_many' };
  stage.script({ status: 400, json: { error: refused } }, { status: 400, json: { error: { message: 'No.' } } });
  const request = { model: stage.model, input: 'Hi', max_output_tokens: 50 };
  const named = await stage.post('/v1/responses', request);
  expect(await named.json()).toMatchObject({ error: { param: 'max_output_tokens', code: 'too_many' } });
  const unnamed = await stage.post('/v1/responses', request);
  expect(await unnamed.json()).toMatchObject({ error: { param: '' } });
});
