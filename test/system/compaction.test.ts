/** `client.responses.compact` of the official library: with a provider that compacts, and with models that are asked for a summary. */
import { describe, expect, test } from 'bun:test';
import { type ResponsesView, startLoopsClient } from '../clients/loops-client.ts';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';

const scene = useScene({ environment: { MODELPORT_SANDBOX: 'on' } });
const client = useClient(startLoopsClient);

const NAMES = Object.keys(PROVIDERS) as ProviderName[];
/** Formats without an endpoint for it. */
const SUMMARIZING = ['chat', 'messages', 'gemini'] as const;
const SUMMARY = 'Ada lives in Oslo, where it is sunny.';
const stageOf = (name: ProviderName) =>
  scene.stage({ type: PROVIDERS[name].type, upstreamModel: PROVIDERS[name].upstreamModel });
const ask = (stage: Stage, method: string, ...args: unknown[]): Promise<ResponsesView> =>
  client.responses({ url: scene.gateway.url, apiKey: stage.caller.key, method, args });
const lastRequest = (stage: Stage) => JSON.stringify(stage.journal().at(-1)?.body);

const CONVERSATION = [
  { role: 'developer', content: 'Speak plainly.' },
  { role: 'user', content: 'I am Ada. How is the weather in Oslo?' },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
  { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
  { role: 'assistant', content: 'It is sunny.' },
  { role: 'user', content: 'Remember that.' },
];

async function compacted(stage: Stage, request: object): Promise<NonNullable<ResponsesView['result']>> {
  const { result, error } = await ask(stage, 'compact', request);
  expect(error).toBeUndefined();
  return result!;
}

/** The answer of OpenAI's own endpoint. */
const ITEM = { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA-of-the-provider' };
const TURN = {
  id: 'msg_1',
  type: 'message',
  role: 'user',
  status: 'completed',
  content: [{ type: 'input_text', text: 'Hi' }],
};
const USAGE = {
  input_tokens: 156,
  input_tokens_details: { cached_tokens: 56 },
  output_tokens: 190,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 346,
};
const NATIVE: Answer = {
  json: { id: 'resp_up', object: 'response.compaction', created_at: 1_790_000_000, output: [TURN, ITEM], usage: USAGE },
};

describe.each([...SUMMARIZING])('the model of %s is asked for a summary', (name) => {
  const provider = PROVIDERS[name];

  test("the user's turns stay, and everything else is in an item that any provider can continue", async () => {
    const stage = await stageOf(name);
    stage.script(provider.whole({ texts: [SUMMARY] }));
    const reply = await compacted(stage, { model: stage.model, input: CONVERSATION, instructions: 'Be brief.' });
    expect(reply).toMatchObject({
      object: 'response.compaction',
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    });
    expect(reply.id).toStartWith('resp_');
    expect(reply.output.map(({ type, role }) => [type, role])).toEqual([
      ['message', 'developer'],
      ['message', 'user'],
      ['message', 'user'],
      ['compaction', undefined],
    ]);
    const item = reply.output.at(-1)!;
    expect(item.id).toStartWith('cmp_');
    expect(JSON.stringify(item)).not.toContain('Oslo');
    // The model gets the whole conversation as text.
    for (const words of [
      'Be brief.',
      'Speak plainly.',
      'I am Ada.',
      'get_weather',
      'sunny',
      'Remember that.',
      'Summarize',
    ]) {
      expect(lastRequest(stage)).toContain(words);
    }
    expect(lastRequest(stage)).not.toMatch(/tool_use|tool_calls|functionCall|sealed/);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'ok', dialect: 'openai-responses-compact' });

    for (const next of NAMES) {
      const other = await stageOf(next);
      other.script(PROVIDERS[next].whole({ texts: ['Sunny.'] }));
      const input = [...reply.output, { role: 'user', content: 'And now?' }];
      const { result, error } = await ask(other, 'create', { model: other.model, input, store: false });
      expect([next, error, result?.output_text]).toEqual([next, undefined, 'Sunny.']);
      for (const words of [SUMMARY, 'I am Ada.', 'And now?']) expect(lastRequest(other)).toContain(words);
      expect(lastRequest(other)).not.toContain(String(item.encrypted_content));
      await other.settled();
    }
  });

  test('a compacted conversation can be compacted again, with the items of a stored response', async () => {
    const stage = await stageOf(name);
    stage.script(
      provider.whole({ texts: [SUMMARY] }),
      provider.whole({ texts: ['Still sunny.'] }),
      provider.whole({ texts: ['It stays sunny.'] }),
    );
    const first = await compacted(stage, { model: stage.model, input: 'How is the weather?' });
    const { result } = await ask(stage, 'create', {
      model: stage.model,
      input: [...first.output, { role: 'user', content: 'And tomorrow?' }],
    });
    const second = await compacted(stage, { model: stage.model, previous_response_id: result?.id });
    for (const words of [SUMMARY, 'And tomorrow?', 'Still sunny.']) expect(lastRequest(stage)).toContain(words);
    expect(second.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
    expect(JSON.stringify(second.output)).not.toContain(SUMMARY);
    expect(second.output.at(-1)?.encrypted_content).not.toBe(first.output.at(-1)?.encrypted_content);
    await stage.settled();
  });

  test('a reply without a summary is an error that is charged, and a refusal is not charged', async () => {
    const stage = await stageOf(name);
    stage.script(provider.whole({ texts: [''] }), provider.error(400, 'The conversation is too long.'));
    const request = { model: stage.model, input: 'How is the weather?' };
    expect((await ask(stage, 'compact', request)).error).toMatchObject({ status: 400, code: 'upstream_refused' });
    expect((await ask(stage, 'compact', request)).error).toMatchObject({
      class: 'BadRequestError',
      status: 400,
      message: expect.stringContaining('The conversation is too long.'),
    });
    expect((await stage.settled()).map(({ cost }) => cost === '0')).toEqual([false, true]);
  });
});

describe('a provider that compacts', () => {
  test('is called itself: its items pass unchanged and return to it unchanged', async () => {
    const stage = await stageOf('responses');
    stage.script(NATIVE, PROVIDERS.responses.whole({ texts: ['Hello.'] }));
    const request = { model: stage.model, input: CONVERSATION, instructions: 'Be brief.', prompt_cache_key: 'k' };
    const reply = await compacted(stage, request);
    expect(stage.journal()[0]?.path).toEndWith('/responses/compact');
    expect(stage.journal()[0]?.body).toEqual({ ...request, model: PROVIDERS.responses.upstreamModel });
    expect(reply).toMatchObject({ id: 'resp_up', object: 'response.compaction', output: [TURN, ITEM], usage: USAGE });
    expect(reply.usage).toMatchObject({ prompt_tokens: 156, completion_tokens: 190 });
    const [call] = await stage.settled();
    // 100 input tokens, 56 of them cached, 190 output tokens.
    expect(call).toMatchObject({ cost: '0.000888', upstreamDialect: 'openai-responses-compact' });

    const input = [...reply.output, { role: 'user', content: 'Go on.' }];
    await ask(stage, 'create', { model: stage.model, input, store: false });
    expect(stage.journal().at(-1)?.body).toMatchObject({ input });
    await stage.settled();
  });

  test("gets the gateway's own summary as text", async () => {
    const [chat, stage] = [await stageOf('chat'), await stageOf('responses')];
    chat.script(PROVIDERS.chat.whole({ texts: [SUMMARY] }));
    const { output } = await compacted(chat, { model: chat.model, input: 'How is the weather?' });
    stage.script(NATIVE);
    await compacted(stage, { model: stage.model, input: [...output, { role: 'user', content: 'Go on.' }] });
    expect(lastRequest(stage)).toContain(SUMMARY);
    expect(lastRequest(stage)).not.toContain('"compaction"');
    await Promise.all([chat.settled(), stage.settled()]);
  });

  test.each([...SUMMARIZING])(
    'an item that %s cannot read is refused, because the answer would ignore it',
    async (name) => {
      const stage = await stageOf(name);
      const input = [{ role: 'user', content: 'Hi' }, ITEM, { role: 'user', content: 'Go on.' }];
      for (const method of ['create', 'compact']) {
        const { error } = await ask(stage, method, { model: stage.model, input });
        expect(error).toMatchObject({
          status: 400,
          param: 'input[1]',
          message: expect.stringContaining('only that provider can read it'),
        });
      }
      expect(stage.journal()).toEqual([]);
    },
  );
});

test('the sandbox compacts', async () => {
  const stage = await scene.stage();
  const reply = await compacted(stage, { model: 'sandbox-chat', input: CONVERSATION });
  expect(reply.output.map(({ type }) => type)).toEqual(['message', 'message', 'message', 'compaction']);
  const input = [...reply.output, { role: 'user', content: 'And now?' }];
  const { result } = await ask(stage, 'create', { model: 'sandbox-chat', input, store: false });
  expect(result?.output_text).toMatch(/./);
});

test.each([
  [
    { model: 'no-such-model', input: 'Hi' },
    { status: 404, param: 'model', class: 'NotFoundError' },
  ],
  [{ input: [] }, { status: 400, param: 'input', class: 'BadRequestError' }],
  [
    { input: 'Hi', stream: true },
    { status: 400, param: 'stream' },
  ],
  [
    { input: 'Hi', previous_response_id: 'resp_none' },
    { status: 404, param: 'previous_response_id' },
  ],
  [{ input: 7 }, { status: 400, param: 'input' }],
])('invalid compactions get errors of the format: %j', async (request, error) => {
  const stage = await stageOf('chat');
  expect((await ask(stage, 'compact', { model: stage.model, ...request })).error).toMatchObject(error);
  expect(stage.journal()).toEqual([]);
});
