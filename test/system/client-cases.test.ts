/** Known problems of clients, case by case: the order of stream events, ids, signatures, efforts, errors within a stream. */
import { describe, expect, test } from 'bun:test';
import { type Conversation, FORMATS, startFormatsClient } from '../clients/formats-client.ts';
import { hasFixtures, recordedCases } from '../helpers/fixtures.ts';
import type { ModelOutput } from '../helpers/model-output.ts';
import { PROVIDERS, type ProviderName, SIGNATURE } from '../helpers/provider-answers.ts';
import { readSent } from '../helpers/provider-requests.ts';
import type { Stage, StageSetup } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { inEachFormat, sideBySide } from '../helpers/side-by-side.ts';
import { CHUNKINGS } from '../upstream/answer.ts';

const scene = useScene();
const libraries = useClient(startFormatsClient);

const stageFor = (provider: ProviderName, more: StageSetup = {}) => {
  const { type, upstreamModel } = PROVIDERS[provider];
  return scene.stage({ type, upstreamModel, ...more });
};
const talk = (stage: Stage, request: Partial<Conversation> & Pick<Conversation, 'client'>) =>
  libraries.run({ url: scene.gateway.url, apiKey: stage.caller.key, model: stage.model, stream: false, ...request });

// biome-ignore lint/suspicious/noExplicitAny: events of four formats, looked into freely.
type Payload = any;

/** The payloads of a stream requested by plain HTTP. */
async function payloads(stage: Stage, path: string, body: object): Promise<Payload[]> {
  const headers = { authorization: `Bearer ${stage.caller.key}`, 'anthropic-version': '2023-06-01' };
  const response = await fetch(scene.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

const USER = [{ role: 'user', content: 'Hi' }];
const WEATHER = {
  name: 'get_weather',
  description: 'The weather at a place.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CALL = { id: 'toolu_01A', name: 'get_weather', args: { city: 'Oslo' } };
const SPOKEN: ModelOutput = { thought: 'Hm.', texts: ['Grüße ', '日本'], calls: [CALL] };

describe('the order of events', () => {
  for (const provider of FORMATS) {
    test(`case 4: messages before ${provider}: blocks one after another, usage from the first event on`, async () => {
      for (const chunking of CHUNKINGS) {
        const stage = await stageFor(provider);
        stage.script({ ...PROVIDERS[provider].stream(SPOKEN), chunking });
        const events = await payloads(stage, '/v1/messages', {
          model: stage.model,
          max_tokens: 3000,
          stream: true,
          thinking: { type: 'enabled', budget_tokens: 1024 },
          messages: USER,
        });
        const [start] = events;
        expect(start).toMatchObject({ type: 'message_start', message: { content: [], stop_reason: null } });
        expect(start.message.usage.input_tokens).toBeGreaterThan(0);
        const starts = events.filter(({ type }) => type === 'content_block_start');
        expect(starts.map(({ index }) => index)).toEqual(starts.map((_, index) => index));
        // A signature without a place of its own is in a block that clients ignore.
        const blocks = starts
          .map(({ content_block: block }) => block.type)
          .filter((type) => type !== 'redacted_thinking');
        expect(blocks).toEqual(['thinking', 'text', 'tool_use']);
        for (const { content_block: block } of starts) {
          if (block.type === 'tool_use') expect(block.id).toMatch(/^[a-zA-Z0-9_-]+$/);
        }
        expect(events.at(-2)).toMatchObject({ type: 'message_delta', delta: { stop_reason: 'tool_use' } });
        expect(events.at(-2).usage.output_tokens).toBe(7);
        expect(events.at(-1)).toMatchObject({ type: 'message_stop' });
        await stage.settled();
      }
    });

    test(`case 8: responses before ${provider}: one id, numbers from 0 without a gap, the text its deltas add up to`, async () => {
      for (const chunking of CHUNKINGS) {
        const stage = await stageFor(provider);
        stage.script({ ...PROVIDERS[provider].stream(SPOKEN), chunking });
        const request = { model: stage.model, stream: true, input: 'Hi', store: false };
        const events = await payloads(stage, '/v1/responses', request);
        expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
        const whole = events.filter(({ response }) => response);
        expect(new Set(whole.map(({ response }) => response.id)).size).toBe(1);
        expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
        const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
        expect(deltas.join('')).toBe('Grüße 日本');
        const added = events.filter(({ type }) => type === 'response.output_item.added').map(({ item }) => item.id);
        const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item.id);
        expect(done.toSorted()).toEqual(added.toSorted());
        await stage.settled();
      }
    });

    test(`case 1: chat before ${provider}: one role, one finish, usage in a chunk of its own`, async () => {
      for (const chunking of CHUNKINGS) {
        const stage = await stageFor(provider);
        stage.script({ ...PROVIDERS[provider].stream(SPOKEN), chunking });
        const request = { model: stage.model, stream: true, stream_options: { include_usage: true }, messages: USER };
        const chunks = await payloads(stage, '/v1/chat/completions', request);
        const choices = chunks.flatMap((chunk) => chunk.choices);
        expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
        expect(choices.filter(({ delta }) => delta.role)).toHaveLength(1);
        expect(choices.filter(({ finish_reason: finish }) => finish).map(({ finish_reason }) => finish_reason)).toEqual(
          ['tool_calls'],
        );
        expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } });
        expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe('Grüße 日本');
        await stage.settled();
      }
    });
  }
});

test(
  'case 6: the Google library keeps its chat: the first answer goes upstream once, merged, nothing empty',
  inEachFormat(async (provider) => {
    const stage = await stageFor(provider);
    for (const texts of [['One ', 'two'], ['Three']]) stage.script(PROVIDERS[provider].stream({ texts }));
    const view = await talk(stage, { client: 'gemini', way: 'chat', prompts: ['First', 'Second'] });
    expect(view.error).toBeUndefined();
    const { texts, history } = view.result as { texts: string[]; history: { role: string }[] };
    expect(texts).toEqual(['One two', 'Three']);
    expect(history.filter(({ role }) => role === 'user')).toHaveLength(2);
    const { turns } = readSent(provider, stage.journal()[1]?.body);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const parts = turns[1]?.parts.map((part) => (part.type === 'text' ? part.text : '?'));
    expect(parts?.join('')).toBe('One two');
    expect(parts).not.toContain('');
    expect(await stage.settled()).toHaveLength(2);
  }),
);

test('case 15: every library lists the same models', async () => {
  const stage = await scene.stage({ model: 'team/Model-1.5:free' });
  const names = (await talk(stage, { client: 'chat', way: 'models' })).result as string[];
  expect(names).toContain('team/Model-1.5:free');
  expect((await talk(stage, { client: 'messages', way: 'models' })).result).toEqual(names);
  for (const version of [undefined, 'v1beta'] as const) {
    const { result: listed } = await talk(stage, { client: 'gemini', way: 'models', ...(version && { version }) });
    expect(listed).toEqual(names.map((name) => `models/${name}`));
  }
});

describe.skipIf(!hasFixtures)('case 12: recorded refusals and failures', () => {
  const types = { 'openai-chat': 'openai-compatible', 'anthropic-messages': 'anthropic', 'openai-responses': 'openai' };
  const wires = { ...types, 'gemini-generatecontent': 'google' };
  for (const [wire, type] of Object.entries(wires)) {
    const recorded = recordedCases(wire).filter(({ status }) => status >= 400);
    test(
      `${wire}: ${recorded.length}, in each format: the request's fault stays one, ours is none of the client's, nothing leaks`,
      () =>
        sideBySide(
          recorded,
          ({ file }) => file,
          async ({ file, status, stream }) => {
            const stage = await scene.stage({ type, upstreamModel: 'gpt-5', targets: 1 });
            stage.script({ fixture: file, repeat: true });
            const isRequests = [400, 404, 413, 422].includes(status);
            for (const client of FORMATS) {
              const { error, turns } = await talk(stage, { client, stream });
              expect(turns).toEqual([]);
              const status = error?.status ?? 0;
              if (isRequests) expect([400, 402, 404, 413, 422, 429, 502, 503, 529]).toContain(status);
              else expect([429, 502, 503, 504, 529]).toContain(status);
              expect(error?.message).toMatch(/\w{3}/);
              expect(error?.message).not.toMatch(/<html|sk-[a-zA-Z0-9]{8}|org-[a-zA-Z0-9]{8}|127\.0\.0\.1/i);
            }
            for (const call of await stage.settled()) expect(call.cost).toBe('0');
          },
        ),
      60_000,
    );
  }
});

describe('requests', () => {
  test('case 23: tools on chat, of a model that takes them on Responses alone, go there and are not strict', async () => {
    const stage = await stageFor('responses');
    stage.script(PROVIDERS.responses.whole({ calls: [CALL] }), PROVIDERS.responses.whole({ texts: ['Sunny.'] }));
    const view = await talk(stage, { client: 'chat', tools: [WEATHER] });
    expect(view.turns).toMatchObject([{ finish: 'tool_calls' }, { text: 'Sunny.', finish: 'stop' }]);
    const [sent] = stage.journal();
    expect(sent?.path).toEndWith('/responses');
    expect(sent?.body).toMatchObject({ tools: [{ type: 'function', name: 'get_weather', strict: false }] });
    await stage.settled();
  });

  const efforts: [ProviderName, string, string, (body: Payload) => unknown, unknown][] = [
    ['messages', 'claude-sonnet-4-5', 'high', ({ thinking }) => thinking, { type: 'enabled', budget_tokens: 16_384 }],
    ['messages', 'claude-opus-4-8', 'high', (body) => body.output_config, { effort: 'high' }],
    ['messages', 'claude-sonnet-4-5', 'none', ({ thinking }) => thinking?.type ?? 'disabled', 'disabled'],
    ['gemini', 'gemini-2.5-flash', 'low', thinkingConfig, { thinkingBudget: 1024, includeThoughts: true }],
    ['gemini', 'gemini-2.5-flash', 'none', thinkingConfig, { thinkingBudget: 0 }],
    ['gemini', 'gemini-3.1-pro', 'high', thinkingConfig, { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['responses', 'gpt-6-astra', 'medium', ({ reasoning }) => reasoning?.effort, 'medium'],
    ['chat', 'any-model', 'high', (body) => body.reasoning_effort, 'high'],
  ];
  test.each(efforts)(
    'case 24: before %s (%s) the effort %s in its own words',
    async (provider, model, effort, pick, wanted) => {
      const stage = await stageFor(provider, { upstreamModel: model });
      stage.script(PROVIDERS[provider].whole({ texts: ['Hi'] }));
      const extra = { reasoning_effort: effort, max_completion_tokens: 40_000, messages: USER };
      const { error } = await talk(stage, { client: 'chat', extra });
      expect(error).toBeUndefined();
      expect(pick(stage.journal()[0]?.body)).toEqual(wanted);
      await stage.settled();
    },
  );

  test('case 26: a client that returns no signatures: Gemini gets its own again', async () => {
    const stage = await stageFor('gemini', { upstreamModel: 'gemini-3.1-pro' });
    stage.script(
      PROVIDERS.gemini.stream({ thought: 'Hm.', calls: [CALL] }),
      PROVIDERS.gemini.stream({ texts: ['Sunny.'] }),
    );
    const view = await talk(stage, { client: 'ai-chat', stream: true, tools: [WEATHER] });
    expect(view.turns.at(-1)?.text).toBe('Sunny.');
    const calls = readSent('gemini', stage.journal()[1]?.body)
      .turns.flatMap(({ parts }) => parts)
      .filter((part) => part.type === 'call');
    expect(calls[0]?.signature).toBe(SIGNATURE);
    await stage.settled();
  });

  test('case 27: one conversation over three providers: ids are valid, results match their calls, no signature goes to another provider', async () => {
    const stage = await stageFor('gemini');
    const others = await Promise.all([stageFor('messages'), stageFor('responses'), stageFor('chat')]);
    stage.script(PROVIDERS.gemini.whole({ thought: 'Hm.', calls: [{ ...CALL, id: '' }] }));
    const first = await chatOnce(stage, stage.model, USER);
    const [call] = first.tool_calls;
    const history = [...USER, first, { role: 'tool', tool_call_id: call.id, content: 'sunny' }];
    for (const [index, provider] of (['messages', 'responses', 'chat'] as const).entries()) {
      const other = others[index];
      if (!other) throw new Error('no stage');
      other.script(PROVIDERS[provider].whole({ texts: ['Sunny.'] }));
      const { content } = await chatOnce(other, other.model, history);
      expect(content).toBe('Sunny.');
      const body = other.journal()[0]?.body;
      expect(JSON.stringify(body)).not.toContain(SIGNATURE);
      const parts = readSent(provider, body).turns.flatMap((turn) => turn.parts);
      const made = parts.find((part) => part.type === 'call');
      const result = parts.find((part) => part.type === 'result');
      expect(made?.id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(result).toMatchObject({ id: made?.id ?? '', text: 'sunny' });
      await other.settled();
    }
    await stage.settled();
  });

  test(
    'case 50: a tool that takes free text is wrapped and unwrapped where the provider has functions alone',
    inEachFormat(async (provider) => {
      const stage = await stageFor(provider);
      const patch = '*** Begin Patch\n"quoted" }\n*** End Patch';
      const call = { id: 'call_1', name: 'apply_patch', args: { input: patch } };
      if (provider !== 'responses') stage.script(PROVIDERS[provider].whole({ calls: [call] }));
      else {
        const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'apply_patch', input: patch };
        const whole = PROVIDERS.responses.whole({ texts: [] }).json as object;
        stage.script({ json: { ...whole, output: [item] } });
      }
      const tools = [{ type: 'custom', name: 'apply_patch', description: 'Patches.' }];
      const request = { model: stage.model, input: 'Patch it', store: false, tools };
      const response = await stage.post('/v1/responses', request);
      const { output } = (await response.json()) as { output: object[] };
      expect(output).toMatchObject([{ type: 'custom_tool_call', name: 'apply_patch', input: patch }]);
      await stage.settled();
    }),
  );
});

function thinkingConfig({ generationConfig }: Payload): unknown {
  return generationConfig?.thinkingConfig;
}

async function chatOnce(stage: Stage, model: string, messages: readonly object[]): Promise<Payload> {
  const tool = { type: 'function', function: { name: WEATHER.name, parameters: WEATHER.schema } };
  const response = await stage.post('/v1/chat/completions', { model, messages, tools: [tool] });
  const body = (await response.json()) as { choices?: { message: Payload }[] };
  expect(response.status).toBe(200);
  return body.choices?.[0]?.message;
}

test(
  'case 37: a prompt that Google refuses has no answer: an error in each format, without a crash',
  inEachFormat(async (client) => {
    const words = { chat: 'content_filter', messages: 'refusal', gemini: 'SAFETY', responses: 'content_filter' };
    for (const stream of [false, true]) {
      const stage = await stageFor('gemini');
      const blocked = {
        promptFeedback: { blockReason: 'SAFETY' },
        usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 },
        modelVersion: 'gemini-2.5-flash',
      };
      const events = [`data: ${JSON.stringify(blocked)}\r\n\r\n`];
      stage.script(stream ? { events, withoutTerminator: true } : { json: blocked });
      const { error, turns } = await talk(stage, { client, stream });
      expect(error).toBeUndefined();
      expect(turns).toMatchObject([{ text: '', finish: words[client] }]);
      await stage.settled();
    }
  }),
);

describe('case 49: an error within a stream', () => {
  const error = { message: 'The engine is overloaded.', type: 'server_error', code: 'overloaded' };
  const errors: { readonly [provider in ProviderName]: string } = {
    chat: `data: ${JSON.stringify({ error })}\n\n`,
    messages: `event: error\ndata: ${JSON.stringify({ type: 'error', error: { ...error, type: 'overloaded_error' } })}\n\n`,
    gemini: `data: ${JSON.stringify({ error: { code: 503, message: error.message, status: 'UNAVAILABLE' } })}\r\n\r\n`,
    responses: `event: error\ndata: ${JSON.stringify({ ...error, type: 'error', sequence_number: 4 })}\n\n`,
  };
  for (const client of FORMATS) {
    test(
      `reaches ${client} as its exception, whatever its source; what came before is charged`,
      inEachFormat(async (provider) => {
        const stage = await stageFor(provider);
        const { events = [] } = PROVIDERS[provider].stream({ texts: ['one ', 'two ', 'three'] });
        const before = events.slice(0, -(provider === 'gemini' ? 1 : 3));
        stage.script({ events: [...before, errors[provider]], withoutTerminator: true });
        const { error: thrown, turns, received } = await talk(stage, { client, stream: true });
        expect(received.join('')).toStartWith('one ');
        expect(turns).toEqual([]);
        expect(thrown?.class).toMatch(/Error$/);
        expect(thrown?.message).not.toMatch(/undefined|\[object/);
        expect(await stage.settledCall()).toMatchObject({ outcome: 'broken' });
      }),
    );
  }
});
