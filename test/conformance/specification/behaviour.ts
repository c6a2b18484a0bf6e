/** Rules of the specification beyond the types of members. */
import { expect } from 'bun:test';
import { at, FUNCTION, USAGE } from './reply-fields.ts';
import type { Any, Rule, Sent, World } from './world.ts';
import { eventsOf, expectKind, refusalOf, replyOf, rule, sample, send } from './world.ts';

const chunksOf = (data: string[]): Any[] => data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one));
const isEventStream = (type: string) => expect(type).toContain('text/event-stream');

export const BEHAVIOUR_RULES: readonly Rule[] = [
  ...(
    [
      ['chat', 'system_fingerprint', 'string'],
      ['generate', 'candidates.[].safetyRatings', 'array'],
      ['images', 'data.[].revised_prompt', 'string'],
      ['images', 'data.[].b64_json', 'string'],
    ] as const
  ).map(([endpoint, path, kind]) =>
    rule(`${endpoint}: \`${path}\` (${kind}) is shown where the provider gives it`, async (world) => {
      const stage = world.noted[endpoint];
      const reply = await replyOf(world, { ...sample(endpoint, {}, stage?.model), key: stage?.caller.key ?? '' });
      expectKind(at(reply, path), kind);
    }),
  ),
  rule('chat: `stream` is false by default: the reply is one JSON object', async (world) => {
    expect((await replyOf(world, sample('chat'))).object).toBe('chat.completion');
  }),
  rule('chat: with `stream` true the reply is a stream of events that ends in [DONE]', async (world) => {
    const { data, type } = await eventsOf(world, sample('chat', { stream: true }));
    isEventStream(type);
    expect(data.at(-1)).toBe('[DONE]');
    expect(chunksOf(data).every(({ object }) => object === 'chat.completion.chunk')).toBe(true);
  }),
  rule('chat: the pieces of a stream add up to a text', async (world) => {
    const { data } = await eventsOf(world, sample('chat', { stream: true }));
    expect(
      chunksOf(data)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).not.toBe('');
  }),
  rule('chat: a stream shows usage where `stream_options.include_usage` asks for it', async (world) => {
    const { data } = await eventsOf(world, sample('chat', { stream: true, stream_options: { include_usage: true } }));
    expectKind(chunksOf(data).at(-1).usage.total_tokens, 'integer');
  }),
  rule('chat: `n` is 1 by default', async (world) => {
    expect((await replyOf(world, sample('chat'))).choices).toHaveLength(1);
  }),
  rule('chat: `n` 3 gives three choices with their own indexes', async (world) => {
    const { choices } = await replyOf(world, sample('chat', { n: 3 }));
    expect(choices.map(({ index }: Any) => index)).toEqual([0, 1, 2]);
  }),
  rule('chat: `max_tokens` bounds what is generated', async (world) => {
    const { usage, choices } = await replyOf(world, sample('chat', { max_tokens: 3, messages: LONG }));
    expect(usage.completion_tokens).toBeLessThanOrEqual(3);
    expect(choices[0].finish_reason).toBe('length');
  }),
  rule('chat: `max_completion_tokens` bounds what is generated', async (world) => {
    const { usage } = await replyOf(world, sample('chat', { max_completion_tokens: 3, messages: LONG }));
    expect(usage.completion_tokens).toBeLessThanOrEqual(3);
  }),
  rule('chat: the total of usage is the sum of its two counts', async (world) => {
    const { usage } = await replyOf(world, sample('chat'));
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  }),
  rule('chat: the texts and the kinds among the tokens of a prompt add up to it', async (world) => {
    const { usage } = await replyOf(world, sample('chat'));
    const { text_tokens, audio_tokens, image_tokens } = usage.prompt_tokens_details;
    expect(text_tokens + audio_tokens + image_tokens).toBe(usage.prompt_tokens);
  }),
  rule('chat: every element of `messages` carries a role', async (world) => {
    await expectStatus(world, sample('chat', { messages: [{ content: 'Hello' }] }), 400);
  }),
  rule('chat: every element of `messages` of the user carries content', async (world) => {
    await expectStatus(world, sample('chat', { messages: [{ role: 'user' }] }), 400);
  }),
  rule('chat: a message may carry a name', async (world) => {
    await expectStatus(world, sample('chat', { messages: [{ role: 'user', name: 'ann', content: 'Hello' }] }), 200);
  }),
  rule('chat: the result of a tool goes back with its `tool_call_id`', async (world) => {
    const { choices } = await replyOf(world, sample('chat', { tools: [FUNCTION], tool_choice: 'required' }));
    const [call] = choices[0].message.tool_calls;
    const messages = [
      { role: 'user', content: 'Look.' },
      choices[0].message,
      { role: 'tool', tool_call_id: call.id, content: 'a house' },
    ];
    await expectStatus(world, sample('chat', { messages, tools: [FUNCTION] }), 200);
  }),
  rule('chat-style images: usage has the three counts and nothing else', async (world) => {
    const { usage } = await replyOf(world, sample('chat', { stream: false }, 'sandbox-image'));
    expect(Object.keys(usage).sort()).toEqual(['completion_tokens', 'prompt_tokens', 'total_tokens']);
  }),
  rule('chat-style images: `message.content` holds the image', async (world) => {
    const { choices } = await replyOf(world, sample('chat', { stream: false }, 'sandbox-image'));
    expect(pngIn(choices[0].message.content).toString('latin1', 1, 4)).toBe('PNG');
  }),
  rule('chat-style images: `stream` true streams the image', async (world) => {
    const { data, type } = await eventsOf(world, sample('chat', { stream: true }, 'sandbox-image'));
    isEventStream(type);
    const content = chunksOf(data).map(({ choices }) => choices[0]?.delta.content ?? '');
    expect(pngIn(content.join('')).toString('latin1', 1, 4)).toBe('PNG');
  }),
  rule(
    'chat-style images: `contents` is taken for the prompt’s media, `extra_body` for the settings',
    async (world) => {
      const extra_body = { google: { image_config: { aspect_ratio: '16:9' } } };
      const { choices } = await replyOf(
        world,
        sample('chat', { stream: false, contents: [], extra_body }, 'sandbox-image'),
      );
      const png = pngIn(choices[0].message.content);
      expect(png.readUInt32BE(16) / png.readUInt32BE(20)).toBeCloseTo(16 / 9, 1);
    },
  ),
  rule('embeddings: usage has the two counts and nothing else', async (world) => {
    expect(Object.keys((await replyOf(world, sample('embeddings'))).usage).sort()).toEqual([
      'prompt_tokens',
      'total_tokens',
    ]);
  }),
  rule('embeddings: `encoding_format` is float by default', async (world) => {
    expect(Array.isArray((await replyOf(world, sample('embeddings'))).data[0].embedding)).toBe(true);
  }),
  rule('embeddings: `encoding_format` base64 gives the same numbers as little-endian float32', async (world) => {
    const plain = (await replyOf(world, sample('embeddings'))).data[0].embedding as number[];
    const packed = (await replyOf(world, sample('embeddings', { encoding_format: 'base64' }))).data[0].embedding;
    const bytes = Buffer.from(packed, 'base64');
    expect(bytes.length).toBe(plain.length * 4);
    expect(bytes.readFloatLE(0)).toBeCloseTo(plain[0] ?? 0, 5);
  }),
  rule('embeddings: `dimensions` is how long a vector is', async (world) => {
    expect((await replyOf(world, sample('embeddings', { dimensions: 8 }))).data[0].embedding).toHaveLength(8);
  }),
  rule('embeddings: each text of a list has a vector, in the order of the list', async (world) => {
    const { data } = await replyOf(world, sample('embeddings', { input: ['a', 'b', 'c'] }));
    expect(data.map(({ index }: Any) => index)).toEqual([0, 1, 2]);
  }),
  rule('embeddings: the path of an engine gives the same vector', async (world) => {
    const path = '/v1/engines/sandbox-embed/embeddings';
    const [own, engine] = [
      await replyOf(world, sample('embeddings')),
      await replyOf(world, { ...sample('embeddings'), path }),
    ];
    expect(own.data[0].embedding.length).toBeGreaterThan(0);
    expect(engine.data).toEqual(own.data);
  }),
  rule('embeddings: `model` is required in the body of an engine’s path as well', async (world) => {
    await expectStatus(world, { path: '/v1/engines/sandbox-embed/embeddings', body: { input: 'Hello' } }, 400);
  }),
  rule('rerank: `top_n` returns the first so many results', async (world) => {
    expect((await replyOf(world, sample('rerank', { top_n: 1 }))).results).toHaveLength(1);
  }),
  rule('rerank: without `top_n` every document has a result', async (world) => {
    expect((await replyOf(world, sample('rerank'))).results).toHaveLength(2);
  }),
  rule('rerank: `return_documents` is false by default', async (world) => {
    expect((await replyOf(world, sample('rerank'))).results[0].document).toBeUndefined();
  }),
  rule('rerank: results stand in the order of their scores', async (world) => {
    const scores = (await replyOf(world, sample('rerank'))).results.map((one: Any) => one.relevance_score);
    expect(scores).toEqual([...scores].sort((a: number, b: number) => b - a));
  }),
  rule('messages: `stream` true gives a stream of events from message_start to message_stop', async (world) => {
    const { data, type } = await eventsOf(world, sample('messages', { stream: true }));
    isEventStream(type);
    const types = chunksOf(data).map((one) => one.type);
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
  }),
  rule('messages: `max_tokens` bounds what is generated', async (world) => {
    const { usage, stop_reason } = await replyOf(world, sample('messages', { max_tokens: 3, messages: LONG }));
    expect(usage.output_tokens).toBeLessThanOrEqual(3);
    expect(stop_reason).toBe('max_tokens');
  }),
  rule('Responses: `stream` true gives a stream of events that ends in response.completed', async (world) => {
    const { data, type } = await eventsOf(world, sample('responses', { stream: true }));
    isEventStream(type);
    const last = chunksOf(data).at(-1);
    expect(last.type).toBe('response.completed');
    for (const [path, kind] of USAGE) expectKind(at(last.response, path), kind);
  }),
  rule('Responses: `previous_response_id` links a turn to an earlier response', async (world) => {
    const first = await replyOf(world, sample('responses', { input: 'My name is Ann.' }));
    const second = await replyOf(world, sample('responses', { input: 'And now?', previous_response_id: first.id }));
    expect(second.previous_response_id).toBe(first.id);
    expect(second.usage.prompt_tokens).toBeGreaterThan(first.usage.prompt_tokens);
  }),
  rule('Responses: a `previous_response_id` that names none is refused', async (world) => {
    await expectStatus(world, sample('responses', { previous_response_id: 'resp_none' }), 404);
  }),
  rule('completions: `stream` true gives a stream of events that ends in [DONE]', async (world) => {
    const { data, type } = await eventsOf(world, sample('completions', { stream: true }));
    isEventStream(type);
    expect(data.at(-1)).toBe('[DONE]');
  }),
  rule('completions: `n` 2 gives two choices', async (world) => {
    expect((await replyOf(world, sample('completions', { n: 2 }))).choices).toHaveLength(2);
  }),
  rule('completions: `echo` gives the prompt back before the text', async (world) => {
    expect(
      (await replyOf(world, sample('completions', { prompt: 'Once upon', echo: true }))).choices[0].text,
    ).toStartWith('Once upon');
  }),
  rule('images: `n` 2 gives two images', async (world) => {
    expect((await replyOf(world, sample('images', { n: 2 }))).data).toHaveLength(2);
  }),
  rule('images: without `n` there is one', async (world) => {
    expect((await replyOf(world, sample('images'))).data).toHaveLength(1);
  }),
  rule('images: `size` <width>x<height> is the size of the image', async (world) => {
    const { data } = await replyOf(world, sample('images', { size: '512x256' }));
    const png = Buffer.from(data[0].b64_json, 'base64');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([512, 256]);
  }),
  rule('images: more images than the cap are refused', async (world) => {
    await expectStatus(world, sample('images', { n: 1000 }), 400);
  }),
  rule('images: more images than the cap are refused in the nested shape as well, and `n` is named', async (world) => {
    const input = { messages: [{ role: 'user', content: [{ text: 'A house' }] }] };
    const nested = sample('images', { prompt: undefined, input, parameters: { n: 1000 } });
    const { status, words } = await refusalOf(world, nested);
    expect(status).toBe(400);
    expect(words).toContain('too_many_images');
  }),
  rule('images: the nested shape needs `input`, the flat one `prompt`', async (world) => {
    await expectStatus(world, sample('images', { prompt: undefined, parameters: {} }), 400);
  }),
  rule('images: several images multiply the charge by their number', async (world) => {
    const cost = async (n: number) =>
      Number((await sentOk(world, sample('images', { n }))).headers.get('x-modelport-cost'));
    const one = await cost(1);
    expect(one).toBeGreaterThan(0);
    expect(await cost(3)).toBeCloseTo(3 * one, 9);
  }),
];

/** The image of a markdown image with a data URL. */
const pngIn = (content: string) => Buffer.from(/\(data:image\/png;base64,([^)]*)\)/.exec(content)?.[1] ?? '', 'base64');

const LONG = [{ role: 'user', content: '[[long 50]]' }];

async function expectStatus(world: World, sent: Sent, status: number): Promise<void> {
  const response = await send(world, sent);
  expect({ status: response.status, ...(response.status !== status && { body: await response.text() }) }).toEqual({
    status,
  });
}

async function sentOk(world: World, sent: Sent): Promise<Response> {
  const response = await send(world, sent);
  expect(response.status).toBe(200);
  return response;
}
