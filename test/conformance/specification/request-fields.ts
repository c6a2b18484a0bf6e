/** Rules for the members of each format's request: accepted values reach a provider of that format, others are refused. */
import { expect } from 'bun:test';
import { type Any, type Endpoint, REQUESTS, type Rule, refusalOf, rule, sample, send, type World } from './world.ts';

interface Field {
  name: string;
  /** Accepted values. */
  takes: readonly unknown[];
  /** Refused values, each with the reason. */
  refuses?: readonly (readonly [value: unknown, why: string])[];
  required?: true;
  /** Other members that the request then needs. */
  beside?: { [member: string]: unknown };
  /** The provider gets it under another name or not at all, so only its acceptance is checked. */
  isOurs?: true;
}

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const text = (name: string, more: Partial<Field> = {}): Field => ({
  name,
  takes: ['a word'],
  refuses: [[5, 'a number is no text']],
  ...more,
});
const range = (name: string, least: number, most: number): Field => ({
  name,
  takes: [least, (least + most) / 2, most],
  refuses: [
    [least - 0.1, `below ${least}`],
    [most + 0.1, `above ${most}`],
    ['much', 'a text is no number'],
  ],
});
const count = (name: string, more: Partial<Field> = {}): Field => ({
  name,
  takes: [32],
  refuses: [
    [1.5, 'no whole number'],
    ['32', 'a text is no number'],
  ],
  ...more,
});
const object = (name: string, value: object, more: Partial<Field> = {}): Field => ({
  name,
  takes: [value],
  refuses: [['a word', 'a text is no object']],
  ...more,
});
const list = (name: string, value: unknown[], more: Partial<Field> = {}): Field => ({
  name,
  takes: [value],
  refuses: [['a word', 'a text is no list']],
  ...more,
});
const flag = (name: string, more: Partial<Field> = {}): Field => ({
  name,
  takes: [false],
  refuses: [['yes', 'a text is no boolean']],
  ...more,
});

const MESSAGES = [{ role: 'user', content: 'Hello' }];

export const REQUEST_FIELDS: { readonly [endpoint in Endpoint]?: readonly Field[] } = {
  chat: [
    text('model', { required: true, isOurs: true, takes: [] }),
    list('messages', MESSAGES, { required: true }),
    range('temperature', 0, 2),
    range('top_p', 0, 1),
    {
      name: 'n',
      takes: [1, 2],
      refuses: [
        [0, 'below 1'],
        [-1, 'below 1'],
        [1.5, 'no whole number'],
        ['2', 'a text is no number'],
      ],
    },
    flag('stream'),
    object('stream_options', { include_usage: true }, { beside: { stream: true }, isOurs: true }),
    { name: 'stop', takes: ['END', ['END', 'FIN']], refuses: [[5, 'neither a text nor a list']] },
    count('max_tokens'),
    count('max_completion_tokens', { isOurs: true }),
    range('presence_penalty', -2, 2),
    range('frequency_penalty', -2, 2),
    object('logit_bias', { '50256': -100 }),
    text('user'),
    list('tools', [TOOL]),
    {
      name: 'tool_choice',
      takes: ['auto', 'none', 'required', { type: 'function', function: { name: 'look' } }],
      refuses: [[5, 'neither a text nor an object']],
      beside: { tools: [TOOL] },
    },
    object('response_format', { type: 'json_object' }),
    count('seed'),
    { name: 'reasoning_effort', takes: ['low', 'medium', 'high'], refuses: [[5, 'a number is no effort']] },
    list('modalities', ['text']),
    object('audio', { voice: 'alloy', format: 'wav' }, { beside: { modalities: ['text', 'audio'] } }),
  ],
  messages: [
    text('model', { required: true, isOurs: true, takes: [] }),
    list('messages', MESSAGES, { required: true }),
    {
      name: 'system',
      takes: ['Be brief.', [{ type: 'text', text: 'Be brief.' }]],
      refuses: [[5, 'neither a text nor a list']],
    },
    {
      name: 'max_tokens',
      required: true,
      takes: [1, 100],
      refuses: [
        [0, 'below 1'],
        [1.5, 'no whole number'],
        ['9', 'a text is no number'],
      ],
    },
    range('temperature', 0, 1),
    { name: 'top_p', takes: [0.5], refuses: [['much', 'a text is no number']] },
    count('top_k', { takes: [5] }),
    flag('stream'),
    list('stop_sequences', ['END']),
    list('tools', [{ name: 'look', input_schema: { type: 'object', properties: {} } }]),
    object(
      'tool_choice',
      { type: 'auto' },
      { beside: { tools: [{ name: 'look', input_schema: { type: 'object' } }] } },
    ),
    object('thinking', { type: 'enabled', budget_tokens: 1024 }, { beside: { max_tokens: 2048 } }),
    object('metadata', { user_id: 'someone' }),
  ],
  responses: [
    text('model', { required: true, isOurs: true, takes: [] }),
    {
      name: 'input',
      required: true,
      takes: ['Hello', [{ role: 'user', content: 'Hello' }]],
      refuses: [[5, 'neither a text nor a list']],
    },
    text('instructions'),
    count('max_output_tokens'),
    { name: 'temperature', takes: [0, 1], refuses: [['much', 'a text is no number']] },
    { name: 'top_p', takes: [0.5], refuses: [['much', 'a text is no number']] },
    flag('stream'),
    list('tools', [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }]),
    {
      name: 'tool_choice',
      takes: ['auto', 'none', 'required'],
      refuses: [[5, 'neither a text nor an object']],
      beside: {
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }],
      },
    },
    object('reasoning', { effort: 'low' }),
    text('previous_response_id', { takes: [] }),
    {
      name: 'truncation',
      takes: ['auto', 'disabled'],
      refuses: [
        ['never', 'none of the two words'],
        [5, 'a number is no text'],
      ],
      isOurs: true,
    },
  ],
  completions: [
    text('model', { required: true, isOurs: true, takes: [] }),
    { name: 'prompt', required: true, takes: ['Once', ['Once']], refuses: [[5, 'neither a text nor a list']] },
    count('max_tokens'),
    { name: 'temperature', takes: [0.5], refuses: [['much', 'a text is no number']] },
    { name: 'top_p', takes: [0.5], refuses: [['much', 'a text is no number']] },
    count('n', { takes: [1] }),
    flag('stream'),
    { name: 'stop', takes: ['END', ['END']], refuses: [[5, 'neither a text nor a list']] },
    text('suffix'),
    flag('echo', { takes: [true, false] }),
  ],
  generate: [
    list('contents', [{ role: 'user', parts: [{ text: 'Hello' }] }], { refuses: [[5, 'a number is no list']] }),
    object('generationConfig', { temperature: 0.5 }),
    list('safetySettings', [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]),
    list('tools', [{ functionDeclarations: [{ name: 'look' }] }]),
    object('systemInstruction', { parts: [{ text: 'Be brief.' }] }, { refuses: [] }),
  ],
  embeddings: [
    text('model', { required: true, isOurs: true, takes: [] }),
    { name: 'input', required: true, takes: ['Hello', ['Hello']], refuses: [[5, 'neither a text nor a list']] },
    { name: 'encoding_format', takes: ['float', 'base64'], refuses: [['text', 'none of the two words']], isOurs: true },
    count('dimensions', { takes: [8] }),
  ],
  rerank: [
    text('model', { required: true, isOurs: true, takes: [] }),
    text('query', { required: true }),
    list('documents', ['one', 'two'], { required: true }),
    count('top_n', { takes: [1] }),
    flag('return_documents', { takes: [true, false], isOurs: true }),
  ],
  images: [
    text('model', { required: true, isOurs: true, takes: [] }),
    text('prompt', { required: true }),
    { name: 'size', takes: ['1024x1024'], refuses: [[5, 'a number is no text']] },
    count('n', {
      takes: [1, 2],
      refuses: [
        [0, 'below 1'],
        [1.5, 'no whole number'],
        ['many', 'a text is no number'],
      ],
    }),
  ],
};

const shown = (value: unknown) => JSON.stringify(value).slice(0, 60);

export function requestRules(endpoint: Endpoint): Rule[] {
  return (REQUEST_FIELDS[endpoint] ?? []).flatMap((field) => [
    ...(field.required ? [missing(endpoint, field)] : []),
    ...(field.required || field.isOurs ? [] : [leftOut(endpoint, field)]),
    ...field.takes.map((value) => taken(endpoint, field, value)),
    ...(field.refuses ?? []).map(([value, why]) => refused(endpoint, field, value, why)),
  ]);
}

/** Errors of the messages format name the member only in the text. */
function expectNamed({ error, words }: { error: Any; words: string }, name: string): void {
  if (typeof error.param === 'string') expect(error.param).toBe(name);
  else expect(words).toContain(name);
}

const missing = (endpoint: Endpoint, { name }: Field) =>
  rule(`${endpoint}: \`${name}\` is required, and named where it is missing`, async (world) => {
    const refusal = await refusalOf(world, sample(endpoint, { [name]: undefined }));
    expect(refusal.status).toBe(400);
    expectNamed(refusal, name);
  });

const refused = (endpoint: Endpoint, { name, beside }: Field, value: unknown, why: string) =>
  rule(`${endpoint}: \`${name}\` ${shown(value)} is refused and named: ${why}`, async (world) => {
    const refusal = await refusalOf(world, sample(endpoint, { ...beside, [name]: value }));
    expect(refusal.status).toBe(400);
    expectNamed(refusal, name);
  });

/** What the provider received for a request with these members. */
async function arrived(world: World, endpoint: Endpoint, more: { [member: string]: unknown }): Promise<Any> {
  const stage = world.noted[endpoint];
  if (!stage) throw new Error(`no provider notes what ${endpoint} sends`);
  const before = stage.journal().length;
  const request = REQUESTS[endpoint](stage.model);
  const response = await send(world, { ...request, key: stage.caller.key, body: { ...request.body, ...more } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return { status: response.status, body: stage.journal()[before]?.body };
}

const taken = (endpoint: Endpoint, { name, beside, isOurs }: Field, value: unknown) =>
  rule(
    `${endpoint}: \`${name}\` ${shown(value)} is taken${isOurs ? '' : ', and reaches the provider as it is'}`,
    async (world) => {
      const { status, body } = await arrived(world, endpoint, { ...beside, [name]: value });
      expect(status).toBe(200);
      if (!isOurs) expect(body[name]).toEqual(value);
    },
  );

const leftOut = (endpoint: Endpoint, { name }: Field) =>
  rule(`${endpoint}: \`${name}\` is optional: left out, the provider's own default stands`, async (world) => {
    const { body } = await arrived(world, endpoint, { [name]: undefined });
    expect(Object.keys(body)).not.toContain(name);
  });
