/** What only the Responses format has: its settings, stored responses, and its errors in streams. */
import { expect, test } from 'bun:test';
import { PROVIDERS, type ProviderAnswers } from '../helpers/provider-answers.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const { responses: PROVIDER, chat, messages, gemini } = PROVIDERS;
const OUTPUT = { texts: ['Hello ', 'there'] };

const scene = useScene();

const stageFor = ({ type, upstreamModel }: ProviderAnswers) => scene.stage({ type, upstreamModel });

interface Reply {
  error?: { message: string; param: string | null; code: string };
  usage?: object;
  output?: object[];
}

test.each([PROVIDER, chat, messages, gemini])(
  'a response that is not stored here cannot be continued: $type',
  async (provider) => {
    const stage = await stageFor(provider);
    const request = { model: stage.model, input: 'Go on', previous_response_id: 'resp_1' };
    const response = await stage.post('/v1/responses', request);
    expect(response.status).toBe(404);
    const { error } = (await response.json()) as Reply;
    expect(error).toMatchObject({ code: 'not_found', param: 'previous_response_id' });
    expect(stage.journal()).toEqual([]);
    expect(await stage.settled()).toEqual([]);
  },
);

test.each([{ background: true }, { conversation: 'conv_1' }])(
  'unsupported members are refused by name: %j',
  async (more) => {
    const stage = await stageFor(PROVIDER);
    const response = await stage.post('/v1/responses', { model: stage.model, input: 'Go on', ...more });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as Reply;
    expect(error).toMatchObject({ code: 'invalid_request', param: Object.keys(more)[0] });
    expect(stage.journal()).toEqual([]);
  },
);

test('a plain text is an input, and usage has the member names of both specifications', async () => {
  const stage = await stageFor(chat);
  stage.script(chat.whole(OUTPUT));
  const response = await stage.post('/v1/responses', { model: stage.model, input: 'Hi', store: true });
  const { usage, ...reply } = (await response.json()) as Reply;
  expect(reply).toMatchObject({ object: 'response', status: 'completed', model: stage.model });
  expect(usage).toMatchObject({
    input_tokens: 11,
    output_tokens: 7,
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
  });
  await stage.settled();
});

test('a stream that fails ends with an error and never completes', async () => {
  for (const provider of [PROVIDER, chat]) {
    const stage = await stageFor(provider);
    const answer = provider.stream({ texts: ['one ', 'two ', 'three'] });
    stage.script({ ...answer, paceMs: 5, fault: { before: (answer.events?.length ?? 0) - 2, does: 'cut' } });
    const response = await stage.post('/v1/responses', { model: stage.model, input: 'Hi', stream: true });
    const text = await response.text();
    expect(text).toContain('one ');
    expect(text).toContain('event: response.failed');
    expect(text).not.toContain('response.completed');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
  }
});
