/** Stored responses with the official library: continued, read, deleted, listed, with models of any provider. */
import { describe, expect, test } from 'bun:test';
import { type ResponsesView, type ResponseView, startLoopsClient } from '../clients/loops-client.ts';
import { startGateway } from '../helpers/gateway-process.ts';
import { PROVIDERS, type ProviderAnswers, type ProviderName, SIGNATURE } from '../helpers/provider-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const scene = useScene();
const client = useClient(startLoopsClient);

const NAMES = Object.keys(PROVIDERS) as ProviderName[];
const stageFor = ({ type, upstreamModel }: ProviderAnswers) => scene.stage({ type, upstreamModel });
const ask = (stage: Stage, method: string, ...args: unknown[]): Promise<ResponsesView> =>
  client.responses({ url: scene.gateway.url, apiKey: stage.caller.key, method, args });

async function create(stage: Stage, request: object, stream = false): Promise<ResponseView> {
  const { result, error } = await ask(stage, stream ? 'stream' : 'create', { model: stage.model, ...request });
  if (!result) throw new Error(JSON.stringify(error));
  return result;
}

/** Without what the library's stream helper adds. */
const asSent = (value: object): object =>
  JSON.parse(JSON.stringify(value, (name, member) => (name.startsWith('parsed') ? undefined : member))) as object;
const textOutput = (text: string) => ({ texts: [text] });
/** The request body as the provider received it. */
const bodyText = (stage: Stage) => JSON.stringify(stage.journal().at(-1)?.body);

describe.each(NAMES)('with a model of %s', (name) => {
  const provider = PROVIDERS[name];

  test.each([false, true])('a response is stored, read, continued and deleted; streaming: %p', async (stream) => {
    const stage = await stageFor(provider);
    const answer = stream ? provider.stream : provider.whole;
    stage.script(answer(textOutput('My name is Ada.')), answer(textOutput('Ada, as I said.')));
    const first = await create(
      stage,
      { input: 'Who are you?', metadata: { a: 'b' }, instructions: 'Be brief.' },
      stream,
    );
    expect(first).toMatchObject({ status: 'completed', store: true, previous_response_id: null, model: stage.model });
    expect(first.id).toStartWith('resp_');
    expect(first.id).not.toBe('resp_upstream');
    const { output_text: _, output_parsed: __, ...whole } = first;
    expect((await ask(stage, 'retrieve', first.id)).result).toMatchObject(asSent(whole));

    const second = await create(stage, { input: 'Again?', previous_response_id: first.id }, stream);
    expect(second).toMatchObject({ previous_response_id: first.id, output_text: 'Ada, as I said.' });
    const requestBody = bodyText(stage);
    for (const words of ['Who are you?', 'My name is Ada.', 'Again?']) expect(requestBody).toContain(words);
    // Instructions are not carried over.
    expect(requestBody).not.toContain('Be brief.');
    expect(requestBody).not.toContain('previous_response_id');

    const { listed } = await ask(stage, 'inputItems.list', second.id, { order: 'asc', limit: 2 });
    expect(listed?.map(({ type, role }) => [type, role])).toEqual([
      ['message', 'user'],
      ['message', 'assistant'],
      ['message', 'user'],
    ]);
    expect((await ask(stage, 'delete', first.id)).error).toBeUndefined();
    expect((await ask(stage, 'retrieve', first.id)).error).toMatchObject({ status: 404, code: 'not_found' });
    expect((await ask(stage, 'delete', first.id)).error).toMatchObject({ status: 404 });
    expect((await ask(stage, 'inputItems.list', second.id, {})).listed).toHaveLength(3);
    await stage.settled();
  });

  test('a tool call is answered by its result alone, including its reasoning', async () => {
    const stage = await stageFor(provider);
    const call = { id: 'call_Abc123Def456', name: 'weather', args: { city: 'Oslo' } };
    stage.script(provider.whole({ thought: 'Hm.', calls: [call] }), provider.whole(textOutput('Sunny.')));
    const tools = [
      { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: false },
    ];
    const request = { tools, reasoning: { effort: 'low' } };
    const first = await create(stage, { input: 'Weather?', ...request });
    const result = { type: 'function_call_output', call_id: call.id, output: 'sunny' };
    await create(stage, { input: [result], previous_response_id: first.id, ...request });
    const requestBody = bodyText(stage);
    expect(requestBody).toContain('Oslo');
    expect(requestBody).toContain('sunny');
    // The signature is back in its place; this chat provider has none and gets the reasoning itself.
    expect(requestBody).toContain(name === 'chat' ? '"reasoning_content":"Hm."' : SIGNATURE);
    await stage.settled();
  });
});

test('a chain continues across providers, and signatures of one are not sent to another', async () => {
  const stages = await Promise.all(
    (['responses', 'messages', 'gemini', 'chat', 'responses'] as const).map((name) => stageFor(PROVIDERS[name])),
  );
  // One account owns the whole chain.
  const [owner] = stages as [Stage, ...Stage[]];
  let previous: string | undefined;
  for (const [turn, stage] of stages.entries()) {
    const provider = PROVIDERS[(['responses', 'messages', 'gemini', 'chat', 'responses'] as const)[turn] ?? 'chat'];
    stage.script(provider.whole({ thought: `thought ${turn}`, texts: [`answer ${turn}`] }));
    const { result, error } = await ask(owner, 'create', {
      model: stage.model,
      input: `question ${turn}`,
      reasoning: { effort: 'low' },
      ...(previous !== undefined && { previous_response_id: previous }),
    });
    expect(error).toBeUndefined();
    previous = result?.id;
    const requestBody = bodyText(stage);
    for (let at = 0; at <= turn; at++) expect(requestBody).toContain(`question ${at}`);
    for (let at = 0; at < turn; at++) expect(requestBody).toContain(`answer ${at}`);
    expect(requestBody.includes('Z3cxOl')).toBe(false);
  }
  // The first provider got only its own signatures before; this is another row of it, so it gets none.
  expect(bodyText(stages[4] as Stage)).not.toContain(SIGNATURE);
  const { listed } = await ask(owner, 'inputItems.list', previous ?? '', { order: 'asc' });
  expect(listed?.filter(({ type }) => type === 'message')).toHaveLength(9);
});

test('items given by id are the stored ones', async () => {
  const stage = await stageFor(PROVIDERS.messages);
  const call = { id: 'toolu_Abc123Def456', name: 'weather', args: { city: 'Oslo' } };
  stage.script(PROVIDERS.messages.whole({ calls: [call] }), PROVIDERS.messages.whole(textOutput('Sunny.')));
  const first = await create(stage, { input: 'Weather?' });
  const input = [
    { role: 'user', content: 'Weather?' },
    ...first.output.map(({ id }) => ({ type: 'item_reference', id })),
    { type: 'function_call_output', call_id: call.id, output: 'sunny' },
  ];
  const second = await create(stage, { input });
  expect(bodyText(stage)).toContain('"tool_use"');
  const { error } = await ask(stage, 'create', {
    model: stage.model,
    input: [{ type: 'item_reference', id: 'fc_no' }],
  });
  expect(error).toMatchObject({ status: 404, param: 'input[0].id' });
  const other = await stageFor(PROVIDERS.messages);
  const foreign = { model: other.model, input: [{ type: 'item_reference', id: second.output[0]?.id }] };
  expect((await ask(other, 'create', foreign)).error).toMatchObject({ status: 404 });
  await stage.settled();
});

test('stored responses of one account are not found by another', async () => {
  const stage = await stageFor(PROVIDERS.chat);
  const other = await stageFor(PROVIDERS.chat);
  stage.script(PROVIDERS.chat.whole(textOutput('Mine.')));
  const { id } = await create(stage, { input: 'Hi' });
  for (const [method, ...args] of [['retrieve'], ['delete'], ['cancel'], ['inputItems.list', {}]] as [string][]) {
    expect((await ask(other, method, id, ...args)).error).toMatchObject({ status: 404, code: 'not_found' });
  }
  const request = { model: other.model, input: 'Hi', previous_response_id: id };
  expect((await ask(other, 'create', request)).error).toMatchObject({ status: 404, param: 'previous_response_id' });
  expect((await ask(stage, 'cancel', id)).error).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(other.journal()).toEqual([]);
  await stage.settled();
});

test('a response with store: false is not stored, and can continue a stored one', async () => {
  const stage = await stageFor(PROVIDERS.gemini);
  const answer = PROVIDERS.gemini.whole(textOutput('Yes.'));
  stage.script(answer, answer);
  const kept = await create(stage, { input: 'One?' });
  const passing = await create(stage, { input: 'Two?', store: false, previous_response_id: kept.id });
  expect(passing).toMatchObject({ store: false, previous_response_id: kept.id });
  expect(bodyText(stage)).toContain('One?');
  expect((await ask(stage, 'retrieve', passing.id)).error).toMatchObject({ status: 404 });
  await stage.settled();
});

test('a stored response can be streamed again, from any event on', async () => {
  const stage = await stageFor(PROVIDERS.messages);
  const call = { id: 'toolu_1', name: 'weather', args: { city: 'Oslo' } };
  stage.script(PROVIDERS.messages.stream({ thought: 'Hm.', texts: ['Let me ', 'see.'], calls: [call] }));
  const { id, output } = await create(stage, { input: 'Weather?', reasoning: { effort: 'low' } }, true);
  const { listed = [] } = await ask(stage, 'retrieve', id, { stream: true });
  expect(listed.at(0)?.type).toBe('response.created');
  expect(listed.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { id, output: asSent(output) },
  });
  const { listed: rest = [] } = await ask(stage, 'retrieve', id, { stream: true, starting_after: 3 });
  expect(rest).toEqual(listed.slice(4));
  await stage.settled();
});

test('a stream that failed is stored as failed', async () => {
  for (const name of ['responses', 'chat'] as const) {
    const provider = PROVIDERS[name];
    const stage = await stageFor(provider);
    const answer = provider.stream({ texts: ['one ', 'two ', 'three'] });
    stage.script({ ...answer, paceMs: 5, fault: { before: (answer.events?.length ?? 0) - 2, does: 'cut' } });
    const response = await stage.post('/v1/responses', { model: stage.model, input: 'Hi', stream: true });
    const responseText = await response.text();
    const id = /"id":"(resp_[^"]+)"/.exec(responseText)?.[1] ?? '';
    expect((await ask(stage, 'retrieve', id)).result).toMatchObject({
      id,
      status: 'failed',
      error: { code: 'upstream_failed' },
    });
    await stage.settled();
  }
});

test('a token count includes the conversation that is continued', async () => {
  const stage = await stageFor(PROVIDERS.chat);
  stage.script(PROVIDERS.chat.whole(textOutput('Yes.')));
  const { id } = await create(stage, { input: 'word '.repeat(1000) });
  const count = async (more: object) => {
    const response = await stage.post('/v1/responses/input_tokens', { model: stage.model, input: 'Hi', ...more });
    return ((await response.json()) as { input_tokens: number }).input_tokens;
  };
  expect(await count({})).toBeLessThan(20);
  expect(await count({ previous_response_id: id })).toBeGreaterThan(1000);
  await stage.settled();
});

test.each(['responses', 'messages'] as const)(
  'a conversation above the context window of a model of %s',
  async (name) => {
    const { type, upstreamModel, whole } = PROVIDERS[name];
    const stage = await scene.stage({ type, upstreamModel, contextTokens: 2000 });
    stage.script(...Array.from({ length: 4 }, (_, turn) => whole(textOutput(`answer ${turn}`))));
    let previous: string | undefined;
    for (let turn = 0; turn < 4; turn++) {
      const more = previous === undefined ? {} : { previous_response_id: previous };
      const input = `question ${turn} ${'word '.repeat(400)}`;
      ({ id: previous } = await create(stage, { input, instructions: 'Be brief.', truncation: 'auto', ...more }));
    }
    const requestBody = bodyText(stage);
    expect(requestBody).toContain('question 3');
    expect(requestBody).toContain('question 2');
    expect(requestBody).toContain('answer 2');
    expect(requestBody).toContain('Be brief.');
    expect(requestBody).not.toContain('question 0');
    expect(requestBody).not.toContain('answer 0');
    const { error } = await ask(stage, 'create', {
      model: stage.model,
      input: 'more '.repeat(400),
      previous_response_id: previous,
    });
    expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'input' });
    expect(stage.journal()).toHaveLength(4);
    await stage.settled();
  },
);

test('a response is stored before its last byte is sent, so it survives a crash', async () => {
  const upstream = await startScriptedUpstream();
  const { type, upstreamModel, stream } = PROVIDERS.messages;
  const provider = { name: 'p', type, baseUrl: `${upstream.url}/kill/v1`, credential: 'sk-secret' };
  const model = {
    name: 'm',
    kind: 'chat' as const,
    price: { input: 1, output: 4 },
    targets: [{ provider: 'p', model: upstreamModel }],
  };
  let gateway = await startGateway({ providers: [provider], models: [model] });
  try {
    upstream.script('/kill/', stream(textOutput('Kept.')));
    const headers = { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'm', input: 'Hi', stream: true });
    const response = await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body });
    const text = await response.text();
    await gateway.kill();
    expect(text).toContain('response.completed');
    const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1] ?? '';
    gateway = await startGateway({ providers: [provider], models: [model], dataFolder: gateway.dataFolder });
    const found = await fetch(`${gateway.url}/v1/responses/${id}`, { headers });
    expect(await found.json()).toMatchObject({ id, status: 'completed' });
  } finally {
    await gateway.stop();
    await upstream.close();
  }
}, 60_000);
