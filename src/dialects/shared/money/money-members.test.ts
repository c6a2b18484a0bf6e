/** One spelling and one value of each member that decides the cost, in every client format. */
import { describe, expect, test } from 'bun:test';
import type { ChatCall } from '../../../canonical/call.ts';
import { anthropicMessages } from '../../chat/anthropic-messages/anthropic-messages.ts';
import { gemini } from '../../chat/gemini/gemini.ts';
import { openaiChat } from '../../chat/openai-chat/openai-chat.ts';
import { openaiCompletions } from '../../chat/openai-completions/openai-completions.ts';
import { openaiResponses } from '../../chat/openai-responses/openai-responses.ts';
import type { Dialect } from '../../dialect.ts';
import { openaiImages } from '../../images/openai-images/openai-images.ts';

const FORMATS: { readonly [name: string]: { dialect: Dialect<ChatCall>; body: object } } = {
  chat: { dialect: openaiChat, body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] } },
  completions: { dialect: openaiCompletions, body: { model: 'm', prompt: 'Hi' } },
  responses: { dialect: openaiResponses, body: { model: 'm', input: 'Hi' } },
  messages: {
    dialect: anthropicMessages,
    body: { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }] },
  },
  gemini: { dialect: gemini, body: { contents: [{ parts: [{ text: 'Hi' }] }] } },
};

/** What is read of these members, what the body then has, and what is reported as dropped. */
function read(format: string, members: object) {
  const { dialect, body } = FORMATS[format]!;
  const call = dialect.readCall({
    body: new TextEncoder().encode(JSON.stringify({ ...body, ...members })),
    headers: new Headers({ 'anthropic-version': '2023-06-01' }),
    path: { model: 'm', action: 'generateContent' },
    query: new URLSearchParams(),
  });
  const sent = JSON.parse(new TextDecoder().decode(call.origin.body)) as { [member: string]: unknown };
  for (const member of Object.keys(body)) if (!(member in members)) delete sent[member];
  return { ceiling: call.maxOutputTokens, n: call.sampling.n, sent, dropped: call.origin.dropped ?? [], call };
}

describe('of several names for the token limit, the smallest counts', () => {
  test.each<[string, object, object, string[]]>([
    ['chat', { max_completion_tokens: 1, max_tokens: 100_000 }, { max_completion_tokens: 1 }, ['max_tokens']],
    ['chat', { max_completion_tokens: 100_000, max_tokens: 1 }, { max_tokens: 1 }, ['max_completion_tokens']],
    ['chat', { max_tokens: 1, MAX_TOKENS: 9 }, { max_tokens: 1 }, ['MAX_TOKENS']],
    ['chat', { max_tokens: 1, 'max_to\u212Aens': 9 }, { max_tokens: 1 }, ['max_to\u212Aens']],
    [
      'chat',
      { max_tokens: 1, max_new_tokens: 9, num_predict: -1 },
      { max_tokens: 1 },
      ['max_new_tokens', 'num_predict'],
    ],
    ['chat', { max_tokens: 1, options: { num_predict: 9 } }, { max_tokens: 1, options: {} }, ['options.num_predict']],
    ['chat', { max_tokens: 1, n_predict: '9' }, { max_tokens: 1 }, ['n_predict']],
    [
      'chat',
      { max_tokens: 1, extra_body: { generationConfig: { maxOutputTokens: 9, topK: 2 } } },
      { max_tokens: 1, extra_body: { generationConfig: { topK: 2 } } },
      ['extra_body.generationConfig.maxOutputTokens'],
    ],
    ['completions', { max_tokens: 1, n_predict: 9 }, { max_tokens: 1 }, ['n_predict']],
    ['responses', { max_output_tokens: 1, max_tokens: 9 }, { max_output_tokens: 1 }, ['max_tokens']],
    ['messages', { max_tokens: 1, max_tokens_to_sample: 9 }, { max_tokens: 1 }, ['max_tokens_to_sample']],
    [
      'gemini',
      { generationConfig: { maxOutputTokens: 1, max_output_tokens: 9 } },
      { generationConfig: { maxOutputTokens: 1 } },
      ['generationConfig.max_output_tokens'],
    ],
    [
      'gemini',
      { generationConfig: { maxOutputTokens: 1 }, generation_config: { max_output_tokens: 9 } },
      { generationConfig: { maxOutputTokens: 1 } },
      ['generation_config.max_output_tokens'],
    ],
  ])('%s %j', (format, members, sent, dropped) => {
    const result = read(format, members);
    expect(result.ceiling).toBe(1);
    const { generation_config: _, ...rest } = result.sent;
    expect(rest).toEqual({ ...sent });
    expect(result.dropped.map((sentence) => sentence.split('`')[1])).toEqual(dropped);
  });

  test.each<[string, object, object]>([
    ['chat', { max_new_tokens: 7 }, { max_tokens: 7 }],
    ['chat', { options: { num_predict: 7 } }, { options: {}, max_tokens: 7 }],
    ['responses', { max_tokens: 7 }, { max_output_tokens: 7 }],
    ['gemini', { max_tokens: 7 }, { generationConfig: { maxOutputTokens: 7 } }],
    [
      'gemini',
      { max_tokens: 7, generation_config: { topK: 1 } },
      { generation_config: { topK: 1, maxOutputTokens: 7 } },
    ],
  ])("%s %j alone is the format's own", (format, members, sent) => {
    const result = read(format, members);
    expect<unknown[]>([result.ceiling, result.sent, result.dropped]).toEqual([7, sent, []]);
  });
});

describe('images', () => {
  function readImages(members: object) {
    const body = new TextEncoder().encode(JSON.stringify({ model: 'm', prompt: 'A cat', ...members }));
    const call = openaiImages.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
    const { model: _, prompt: __, ...sent } = JSON.parse(new TextDecoder().decode(call.origin.body));
    const dropped = (call.origin.dropped ?? []).map((sentence) => sentence.split('`')[1]);
    return { n: call.n, size: call.size, sent, dropped, extras: call.extras };
  }

  test('are counted once, and have one size', () => {
    expect(readImages({ n: 1, num_images: 4, batch_size: 8 })).toMatchObject({
      n: 1,
      sent: { n: 1 },
      dropped: ['num_images', 'batch_size'],
      extras: {},
    });
    expect(readImages({ num_images: 4 })).toMatchObject({ n: 4, sent: { n: 4 }, dropped: [] });
    const square = { width: 512, height: 512 };
    expect(readImages({ ...square, steps: 4 })).toMatchObject({
      size: { pixels: square },
      sent: { size: '512x512', steps: 4 },
      dropped: [],
    });
    expect(readImages({ size: '512x512', image_size: '4096x4096', width: 4096 })).toMatchObject({
      size: { pixels: square },
      sent: { size: '512x512' },
      dropped: ['image_size', 'width'],
    });
    const several = { sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 15 } };
    expect(readImages(several).dropped).toContain('sequential_image_generation');
    expect(JSON.stringify(readImages({ n: 1, ...several }).sent)).not.toMatch(/15|auto/);
  });
});

test.each<[string, object]>([
  ['chat', { max_tokens: 5, n: 2, reasoning: { max_tokens: 9 }, metadata: { n: '3' }, service_tier: 'flex' }],
  ['chat', { max_completion_tokens: 5, thinking: { type: 'enabled', budget_tokens: 3 }, audio: { voice: 'a' } }],
  ['chat', { response_format: { type: 'json_schema', json_schema: { schema: { default: { n: 4 } } } } }],
  ['completions', { max_tokens: 5, n: 2, best_of: 3 }],
  ['responses', { max_output_tokens: 50, metadata: { max_tokens: '9' }, service_tier: 'auto' }],
  ['messages', { max_tokens: 5, speed: 'standard', service_tier: 'standard_only' }],
  ['gemini', { generation_config: { max_output_tokens: 5, candidate_count: 2 }, labels: { n: '5' } }],
])('%s %j is passed on unchanged', (format, members) => {
  const { sent, dropped } = read(format, members);
  expect<unknown[]>([sent, dropped]).toEqual([members, []]);
});

test.each<[string, object, string[]]>([
  ['chat', { n: 1, num_return_sequences: 50, best_of: 20 }, ['num_return_sequences', 'best_of']],
  ['chat', { extra_body: { candidateCount: 8 }, n: 1 }, ['extra_body.candidateCount']],
  ['chat', { service_tier: 'priority' }, ['service_tier']],
  ['chat', { models: ['dear/model'], extra_body: { model: 'dear/model' } }, ['models', 'extra_body.model']],
  ['chat', { Model: 'dear' }, ['Model']],
  ['completions', { n: 1, best_of: 2, BEST_OF: 20 }, ['BEST_OF']],
  ['responses', { n: 4, service_tier: 'priority' }, ['n', 'service_tier']],
  ['messages', { speed: 'fast', n: 3 }, ['n', 'speed']],
  [
    'gemini',
    { serviceTier: 'PRIORITY', generationConfig: { candidateCount: 1, n: 8 } },
    ['generationConfig.n', 'serviceTier'],
  ],
])('%s %j is not sent', (format, members, dropped) => {
  const { call, sent } = read(format, members);
  expect(call.origin.dropped?.map((sentence) => sentence.split('`')[1])).toEqual(dropped);
  for (const path of dropped)
    expect(
      path.split('.').reduce<unknown>((at, name) => (at as { [member: string]: unknown } | undefined)?.[name], sent),
    ).toBeUndefined();
  expect(JSON.stringify(call.extras)).not.toMatch(/50|20|dear|priority|fast/i);
});

describe('a member that occurs twice inside a setting is sent once, with the value that was read', () => {
  test.each([
    [
      'gemini',
      '"generationConfig":{"maxOutputTokens":90000,"maxOutputTokens":5}',
      { generationConfig: { maxOutputTokens: 5 } },
    ],
    [
      'gemini',
      '"generationConfig":{"maxOutputTokens":90000,"\\u006daxOutputTokens":5}',
      { generationConfig: { maxOutputTokens: 5 } },
    ],
    ['chat', '"options":{"a":{"num_predict":90000},"a":{}}', { options: { a: {} } }],
    [
      'chat',
      '"extra_body":{"list":[{"n":4,"n":null}],"text":"\\"a\\": {"}',
      { extra_body: { list: [{ n: null }], text: '"a": {' } },
    ],
    ['completions', '"options":{"n":4,"n":null}', { options: { n: null } }],
    ['responses', '"extra_body":{"best_of":9,"best_of":"x"}', { extra_body: { best_of: 'x' } }],
  ])('%s: %p', (format, members, sent) => {
    const { dialect, body } = FORMATS[format]!;
    const text = `${JSON.stringify(body).slice(0, -1)},${members}}`;
    const call = dialect.readCall({
      body: new TextEncoder().encode(text),
      headers: new Headers(),
      path: { model: 'm', action: 'generateContent' },
      query: new URLSearchParams(),
    });
    const out = new TextDecoder().decode(call.origin.body);
    expect(JSON.parse(out)).toEqual({ ...body, ...sent });
    expect(out).not.toContain('90000');
    expect(out.match(/"n"/g) ?? []).toHaveLength(JSON.stringify(sent).match(/"n"/g)?.length ?? 0);
  });

  test('one that occurs once stays byte for byte', () => {
    const text =
      '{"contents":[{"parts":[{"text":"Hi"}]}],"generationConfig":{ "topK" : 1.0, "stopSequences":["a\\": b"]}}';
    const call = gemini.readCall({
      body: new TextEncoder().encode(text),
      headers: new Headers(),
      path: { model: 'm', action: 'generateContent' },
      query: new URLSearchParams(),
    });
    expect(new TextDecoder().decode(call.origin.body)).toBe(text);
  });
});
