/** What the sandbox is asked to be recorded: each feature in each format that it speaks. */
import { waveHeader } from '../../src/dialects/wire/wave.ts';
import { generateImage } from '../../src/sandbox/image.ts';

export interface Scenario {
  /** The format's name in the manifest. */
  wire: string;
  name: string;
  path: string;
  body: object;
  features: readonly string[];
}

const SYSTEM = 'You answer in one sentence.';
const HELLO = 'Grüße, 你好 👋';
const WEATHER = 'What is the weather in Paris? Use get_weather.';
const TOOL = { name: 'get_weather', description: 'The current weather of a city.' };
const CITY = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const PIXELS = Buffer.from(generateImage('A cat', { width: 16, height: 16 })).toString('base64');
const FAIL = '[[fail 429]]';

/** The conversations, in the words of one format. */
interface Words {
  wire: string;
  path: (stream: boolean, model: string) => string;
  /** A request of `model` with these members and, where it streams, what asks for that. */
  request: (model: string, stream: boolean, members: object) => object;
  hello: object;
  tools: object;
  results: object;
  thinking: object;
  schema: object;
  image: object;
  short: object;
  refusal: object;
  failure: object;
}

function conversations(words: Words): Scenario[] {
  const one = (name: string, model: string, members: object, stream: boolean, ...features: string[]): Scenario => ({
    wire: words.wire,
    name: stream ? `${name}-stream` : name,
    path: words.path(stream, model),
    body: words.request(model, stream, members),
    features,
  });
  const both = (name: string, model: string, members: object, ...features: string[]) =>
    [false, true].map((stream) => one(name, model, members, stream, ...features));
  return [
    ...both('text', 'sandbox-chat', words.hello, 'text'),
    ...both('tools', 'sandbox-chat', words.tools, 'tools'),
    one('tool-results', 'sandbox-chat', words.results, false, 'text', 'tools', 'tool-results-in-request'),
    ...both(
      'reasoning',
      'sandbox-reasoner',
      { ...words.schema, ...words.thinking },
      'reasoning',
      'reasoning-signature',
    ),
    ...both('schema', 'sandbox-chat', words.schema, 'structured-output'),
    one('image', 'sandbox-chat', words.image, false, 'text', 'images-in-request'),
    one('length', 'sandbox-chat', { ...words.hello, ...words.short }, false, 'text', 'length'),
    one('refusal', 'sandbox-chat', words.refusal, false, 'refusal'),
    one('failure', 'sandbox-chat', words.failure, false, 'error'),
    one('unknown-model', 'no-such-model', words.hello, false, 'error'),
  ];
}

const user = (content: unknown) => ({ role: 'user', content });

const CHAT: Words = {
  wire: 'openai-chat',
  path: () => '/v1/chat/completions',
  request: (model, stream, members) => ({
    model,
    ...members,
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  hello: { messages: [{ role: 'system', content: SYSTEM }, user(HELLO)] },
  tools: { messages: [user(WEATHER)], tools: [{ type: 'function', function: { ...TOOL, parameters: CITY } }] },
  results: {
    messages: [
      user(WEATHER),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris","days":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny, 21 degrees.' },
    ],
    tools: [{ type: 'function', function: { ...TOOL, parameters: CITY } }],
  },
  thinking: { messages: [user('What is 2 + 2?')], reasoning_effort: 'minimal' },
  schema: {
    messages: [user('Who wrote Faust?')],
    response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: PERSON } },
  },
  image: {
    messages: [
      user([
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXELS}` } },
      ]),
    ],
  },
  short: { max_completion_tokens: 8 },
  refusal: { messages: [user('[[refuse]]')] },
  failure: { messages: [user(FAIL)] },
};

const RESPONSES: Words = {
  wire: 'openai-responses',
  path: () => '/v1/responses',
  request: (model, stream, members) => ({ model, store: false, ...members, ...(stream && { stream }) }),
  hello: { instructions: SYSTEM, input: HELLO },
  tools: { input: WEATHER, tools: [{ type: 'function', ...TOOL, parameters: CITY, strict: true }] },
  results: {
    input: [
      user(WEATHER),
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris","days":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Sunny, 21 degrees.' },
    ],
    tools: [{ type: 'function', ...TOOL, parameters: CITY, strict: true }],
  },
  thinking: {
    input: 'What is 2 + 2?',
    reasoning: { effort: 'minimal', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
  },
  schema: {
    input: 'Who wrote Faust?',
    text: { format: { type: 'json_schema', name: 'person', strict: true, schema: PERSON } },
  },
  image: {
    input: [
      user([
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PIXELS}` },
      ]),
    ],
  },
  short: { max_output_tokens: 16 },
  refusal: { input: '[[refuse]]' },
  failure: { input: FAIL },
};

const MESSAGES: Words = {
  wire: 'anthropic-messages',
  path: () => '/v1/messages',
  request: (model, stream, members) => ({ model, max_tokens: 4096, ...members, ...(stream && { stream }) }),
  hello: { system: SYSTEM, messages: [user(HELLO)] },
  tools: { messages: [user(WEATHER)], tools: [{ ...TOOL, input_schema: CITY }] },
  results: {
    messages: [
      user(WEATHER),
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris', days: 1 } }],
      },
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sunny, 21 degrees.' }]),
    ],
    tools: [{ ...TOOL, input_schema: CITY }],
  },
  thinking: { messages: [user('What is 2 + 2?')], thinking: { type: 'enabled', budget_tokens: 1024 } },
  schema: {
    messages: [user('Who wrote Faust?')],
    output_config: { format: { type: 'json_schema', schema: PERSON } },
  },
  image: {
    messages: [
      user([
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXELS } },
      ]),
    ],
  },
  short: { max_tokens: 8 },
  refusal: { messages: [user('[[refuse]]')] },
  failure: { messages: [user(FAIL)] },
};

const userTurn = (...parts: object[]) => ({ role: 'user', parts });

const GEMINI: Words = {
  wire: 'gemini-generatecontent',
  path: (stream, model) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  request: (_, __, members) => members,
  hello: { systemInstruction: { parts: [{ text: SYSTEM }] }, contents: [userTurn({ text: HELLO })] },
  tools: {
    contents: [userTurn({ text: WEATHER })],
    tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: CITY }] }],
  },
  results: {
    contents: [
      userTurn({ text: WEATHER }),
      { role: 'model', parts: [{ functionCall: { name: 'get_weather', args: { city: 'Paris', days: 1 } } }] },
      userTurn({ functionResponse: { name: 'get_weather', response: { output: 'Sunny, 21 degrees.' } } }),
    ],
    tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: CITY }] }],
  },
  thinking: {
    contents: [userTurn({ text: 'What is 2 + 2?' })],
    generationConfig: {
      responseMimeType: 'application/json',
      responseJsonSchema: PERSON,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    },
  },
  schema: {
    contents: [userTurn({ text: 'Who wrote Faust?' })],
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: PERSON },
  },
  image: {
    contents: [userTurn({ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PIXELS } })],
  },
  short: { generationConfig: { maxOutputTokens: 8 } },
  refusal: { contents: [userTurn({ text: '[[refuse]]' })] },
  failure: { contents: [userTurn({ text: FAIL })] },
};

const completion = (name: string, members: object, ...features: string[]): Scenario => ({
  wire: 'openai-completions',
  name,
  path: '/v1/completions',
  body: { model: 'sandbox-chat', ...members },
  features,
});

const COMPLETIONS: readonly Scenario[] = [
  completion('text', { prompt: 'Once upon a time', max_tokens: 12 }, 'text', 'length'),
  completion('two-prompts', { prompt: ['One', 'Two'], max_tokens: 8, logprobs: 0 }, 'text', 'batch-prompt', 'logprobs'),
  completion(
    'text-stream',
    { prompt: 'Once upon a time', max_tokens: 12, stream: true, stream_options: { include_usage: true } },
    'text',
  ),
  completion('unknown-model', { model: 'no-such-model', prompt: 'One' }, 'error'),
];

function formOf(fields: { [name: string]: string }, file: string, bytes: Uint8Array, type: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(
    type.startsWith('image/') ? 'image' : 'file',
    new Blob([bytes as Uint8Array<ArrayBuffer>], { type }),
    file,
  );
  return form;
}

/** A tenth of a second. */
function silence(): Uint8Array {
  const samples = new Uint8Array(1600);
  return Buffer.concat([waveHeader('audio/L16;rate=8000', samples.length), samples]);
}

const heard = (name: string, fields: { [name: string]: string }): Scenario => ({
  wire: 'openai-transcriptions',
  name,
  path: '/v1/audio/transcriptions',
  body: formOf({ model: 'sandbox-transcription', ...fields }, 'silence.wav', silence(), 'audio/wav'),
  features: ['audio'],
});

const image = (name: string, members: object): Scenario => ({
  wire: 'openai-images',
  name,
  path: '/v1/images/generations',
  body: { model: 'sandbox-image', prompt: 'A cat', size: '64x64', ...members },
  features: ['images'],
});

const OTHERS: readonly Scenario[] = [
  image('two', { n: 2 }),
  image('one-stream', { stream: true, partial_images: 1 }),
  image('failure', { prompt: FAIL }),
  {
    wire: 'openai-images-edits',
    name: 'edit',
    path: '/v1/images/edits',
    body: formOf(
      { model: 'sandbox-image', prompt: 'A hat', size: '64x64' },
      'cat.png',
      generateImage('A cat', { width: 16, height: 16 }),
      'image/png',
    ),
    features: ['images', 'images-in-request'],
  },
  {
    wire: 'openai-speech',
    name: 'wave',
    path: '/v1/audio/speech',
    body: { model: 'sandbox-speech', input: 'Hi', voice: 'alloy', response_format: 'wav' },
    features: ['speech'],
  },
  {
    wire: 'openai-speech',
    name: 'events-stream',
    path: '/v1/audio/speech',
    body: { model: 'sandbox-speech', input: 'Hi', voice: 'alloy', response_format: 'pcm', stream_format: 'sse' },
    features: ['speech'],
  },
  heard('json', {}),
  heard('verbose', { response_format: 'verbose_json' }),
  heard('srt', { response_format: 'srt' }),
  heard('failure', { prompt: FAIL }),
  {
    wire: 'openai-embeddings',
    name: 'floats',
    path: '/v1/embeddings',
    body: { model: 'sandbox-embed', input: ['Hello', 'Good bye'], dimensions: 16, encoding_format: 'float' },
    features: ['embeddings'],
  },
  {
    wire: 'openai-embeddings',
    name: 'base64',
    path: '/v1/embeddings',
    body: { model: 'sandbox-embed', input: 'Hello', dimensions: 16, encoding_format: 'base64' },
    features: ['embeddings'],
  },
  {
    wire: 'openai-embeddings',
    name: 'failure',
    path: '/v1/embeddings',
    body: { model: 'sandbox-embed', input: '[[fail 400]]' },
    features: ['embeddings', 'error'],
  },
  {
    wire: 'cohere-rerank',
    name: 'ranking',
    path: '/v1/rerank',
    body: { model: 'sandbox-rerank', query: 'a cat', documents: ['a dog', 'the cat sleeps', 'rain'], top_n: 2 },
    features: ['rerank'],
  },
  {
    wire: 'openai-moderations',
    name: 'two-texts',
    path: '/v1/moderations',
    body: { model: 'sandbox-moderation', input: ['I love you.', 'I will kill you.'] },
    features: ['moderation'],
  },
  {
    wire: 'openai-videos',
    name: 'created',
    path: '/v1/videos',
    body: { model: 'sandbox-video', prompt: 'A cat', seconds: '4', size: '1280x720' },
    features: ['videos'],
  },
];

export const SCENARIOS: readonly Scenario[] = [
  ...[CHAT, RESPONSES, MESSAGES, GEMINI].flatMap(conversations),
  ...COMPLETIONS,
  ...OTHERS,
];
