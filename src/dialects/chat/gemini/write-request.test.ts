import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ChatCall, Message, Part, Reasoning } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { gemini } from './gemini.ts';

interface Body extends JsonObject {
  contents: { role: string; parts: JsonObject[] }[];
  generationConfig: JsonObject;
}

function write(members: Partial<ChatCall>, model = 'gemini-3.1-flash', quirks: Quirks = {}) {
  const { body, warnings } = gemini.writeCall(chatCall(members), model, quirks);
  return { body: JSON.parse(new TextDecoder().decode(body)) as Body, warnings };
}
const message = (role: Message['role'], ...parts: (Part | string)[]): Message => ({
  role,
  parts: parts.map((part): Part => (typeof part === 'string' ? { type: 'text', text: part } : part)),
});
const call = (id: string, more: Partial<Part> = {}): Part =>
  ({ type: 'tool-call', id, name: 'f', input: '{"a":1}', ...more }) as Part;
const result = (callId: string, text: string, failed = false): Part => ({
  type: 'tool-result',
  callId,
  failed,
  parts: [{ type: 'text', text }],
});

describe('the conversation', () => {
  test('has its system prompt apart; roles alternate; tool results come first and have names', () => {
    const { body, warnings } = write({
      messages: [
        message('system', 'Be brief.'),
        message('system', 'And kind.'),
        message('user', 'Hi'),
        message('assistant', call('a'), call('b')),
        message('tool', result('a', '7')),
        message('tool', result('b', 'No.', true)),
        message('user', 'And now?'),
      ],
    });
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'And kind.' }] });
    expect(body.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
    expect(body.contents[2]?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'f', response: { output: '7' } } },
      { functionResponse: { id: 'b', name: 'f', response: { error: 'No.' } } },
      { text: 'And now?' },
    ]);
    expect(warnings).toEqual([]);
  });

  test('begins with the user; later instructions are marked', () => {
    const { body, warnings } = write({ messages: [message('assistant', 'Hello'), message('system', 'Stop.')] });
    expect(body.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
    expect(body.contents[2]?.parts).toEqual([{ text: '<system>\nStop.\n</system>' }]);
    expect(warnings).toHaveLength(2);
  });

  test("with instructions only, they are the user's turn", () => {
    expect(write({ messages: [message('system', 'Hi')] }).body.contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
    ]);
  });

  test('results that are objects stay objects', () => {
    const messages = [
      message('user', 'Hi'),
      message('assistant', call('a')),
      message('tool', result('a', '{"b":[1]}')),
    ];
    expect(write({ messages }).body.contents[2]?.parts[0]?.functionResponse).toMatchObject({ response: { b: [1] } });
  });

  test('images in tool results are inside them, or after them for older models', () => {
    const image: Part = { type: 'media', media: { kind: 'image', source: { type: 'inline', base64: 'iVBORw0' } } };
    const shown: Part = { type: 'tool-result', callId: 'a', failed: false, parts: [image] };
    const messages = [message('user', 'Hi'), message('assistant', call('a')), message('tool', shown)];
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0' };
    expect(write({ messages }).body.contents[2]?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'f', response: {}, parts: [{ inlineData }] } },
    ]);
    const old = write({ messages }, 'gemini-2.5-flash');
    expect(old.body.contents[2]?.parts[1]).toEqual({ inlineData });
    expect(old.warnings).toHaveLength(1);
  });

  test('a URL cannot be sent, and is named', () => {
    const image: Part = { type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://x/y.png' } } };
    expect(() => write({ messages: [message('user', 'See', image)] })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'messages[0].content[1]' }),
    );
  });
});

describe('signatures', () => {
  const own = { dialect: 'gemini', value: 'c2ln' };
  const foreign = { dialect: 'anthropic-messages', value: 'x' };
  const signatures = (calls: Part[], model?: string) =>
    (
      write({ messages: [message('user', 'Hi'), message('assistant', ...calls)] }, model).body.contents[1]?.parts ?? []
    ).map((part) => part.thoughtSignature);

  test('return on the tool call they came with', () => {
    expect(signatures([call('a', { signature: own }), call('b')])).toEqual(['c2ln', undefined]);
  });

  test("that are missing or another provider's are replaced on the first call of a step, for models that require one", () => {
    const skip = 'skip_thought_signature_validator';
    expect(signatures([call('a'), call('b')])).toEqual([skip, undefined]);
    expect(signatures([call('a', { signature: foreign })])).toEqual([skip]);
    expect(signatures([call('a', { signature: foreign })], 'gemini-2.5-pro')).toEqual([undefined]);
  });

  test("of another provider's reasoning are dropped, with a warning", () => {
    const thought: Part = { type: 'reasoning', text: 'Hm.', signature: foreign };
    const { body, warnings } = write({ messages: [message('user', 'Hi'), message('assistant', thought, 'Yes')] });
    expect(body.contents[1]?.parts).toEqual([{ text: 'Hm.', thought: true }, { text: 'Yes' }]);
    expect(warnings).toHaveLength(1);
  });
});

describe('tools', () => {
  const tools: ChatCall['tools'] = [
    {
      type: 'function',
      name: 'f',
      description: 'Does.',
      parameters: { type: 'object', properties: { a: { const: 1 } } },
    },
    { type: 'function', name: 'g' },
  ];

  test('are all in one tool, with JSON Schema', () => {
    expect(write({ tools }).body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'Does.',
            parametersJsonSchema: { type: 'object', properties: { a: { const: 1 } } },
          },
          { name: 'g' },
        ],
      },
    ]);
  });

  test('use the OpenAPI subset if the model supports no more, and losses are named', () => {
    const known = { supportsJsonSchema: false } as const;
    const parameters = {
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, b: { oneOf: [{ type: 'integer' }, { $ref: '#/$defs/B' }] } },
      $defs: { B: { type: 'boolean', if: {} } },
      additionalProperties: false,
    };
    const { body, warnings } = write({ tools: [{ type: 'function', name: 'f', parameters }] }, 'gemini-1.5-pro', known);
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            parameters: {
              type: 'OBJECT',
              properties: {
                a: { type: 'STRING', nullable: true },
                b: { anyOf: [{ type: 'INTEGER' }, { type: 'BOOLEAN' }] },
              },
            },
          },
        ],
      },
    ]);
    expect(warnings).toEqual(['`if` in a schema was dropped: the model does not know it.']);
  });

  test('of the provider are sent beside functions for newer models only', () => {
    const search = { type: 'web-search', dialect: 'openai-chat', options: {} } as const;
    const modern = write({ tools: [...tools, search] }).body;
    expect(modern.tools).toEqual([
      expect.objectContaining({ functionDeclarations: expect.anything() }),
      { googleSearch: {} },
    ]);
    expect(modern.toolConfig).toEqual({ includeServerSideToolInvocations: true });
    const old = write({ tools: [...tools, search] }, 'gemini-2.5-flash');
    expect(JSON.stringify(old.body)).not.toContain('googleSearch');
    expect(old.warnings).toHaveLength(1);
    expect(write({ tools: [search] }, 'gemini-2.5-flash').body.tools).toEqual([{ googleSearch: {} }]);
  });

  test.each([
    [{ type: 'required' }, { mode: 'ANY' }],
    [
      { type: 'tool', name: 'f' },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
    [
      { type: 'allowed', mode: 'auto', names: ['f'] },
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    ],
    [
      { type: 'allowed', mode: 'required', names: ['f', 'g'] },
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
    ],
    [{ type: 'none' }, { mode: 'NONE' }],
  ] as [NonNullable<ChatCall['toolChoice']>, JsonObject][])('the choice %j', (toolChoice, functionCallingConfig) => {
    expect(write({ tools, toolChoice }).body.toolConfig).toEqual({ functionCallingConfig });
  });
});

test.each([
  ['gemini-2.5-flash', { effort: 'none' }, { thinkingBudget: 0 }],
  ['gemini-2.5-pro', { effort: 'none' }, { thinkingBudget: 128 }],
  ['gemini-2.5-flash', { effort: 'low' }, { thinkingBudget: 1024, includeThoughts: true }],
  ['gemini-2.5-flash', { effort: 'max' }, { thinkingBudget: 24_576, includeThoughts: true }],
  ['gemini-2.5-pro', { effort: 'max' }, { thinkingBudget: 32_768, includeThoughts: true }],
  ['gemini-2.5-flash', { budgetTokens: 5000, summary: 'none' }, { thinkingBudget: 5000 }],
  ['gemini-2.5-flash', { adaptive: true }, { thinkingBudget: -1, includeThoughts: true }],
  ['gemini-3.8-flash', { effort: 'none' }, { thinkingLevel: 'MINIMAL' }],
  ['gemini-3.1-pro-preview', { effort: 'none' }, { thinkingLevel: 'LOW' }],
  ['gemini-3.1-pro-preview', { effort: 'medium' }, { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemini-3.8-flash', { effort: 'xhigh' }, { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemini-3.8-flash', { budgetTokens: 5000 }, { thinkingLevel: 'MEDIUM', includeThoughts: true }],
  ['gemini-3.8-flash', { adaptive: true }, { includeThoughts: true }],
  ['gemini-2.0-flash', { effort: 'high' }, undefined],
] as [string, Reasoning, JsonObject | undefined][])('%s thinks: %j', (model, reasoning, thinkingConfig) => {
  expect(write({ reasoning }, model).body.generationConfig?.thinkingConfig).toEqual(thinkingConfig as never);
});

test('other settings', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#/x' } } };
  const { body, warnings } = write({
    sampling: {
      temperature: 1.5,
      topP: 0.5,
      topK: 4,
      seed: 3,
      n: 2,
      presencePenalty: 1,
      frequencyPenalty: -1,
      logprobs: true,
      topLogprobs: 2,
      stop: ['1', '2', '3', '4', '5', '6'],
    },
    maxOutputTokens: 77,
    output: { type: 'json-schema', name: 'x', schema, strict: true },
    modalities: ['text', 'image'],
    image: { aspectRatio: '16:9', size: '4K' },
    audio: { voice: 'Kore', format: 'pcm16' },
    serviceTier: 'flex',
  });
  expect(body.generationConfig).toEqual({
    temperature: 1.5,
    topP: 0.5,
    topK: 4,
    candidateCount: 2,
    maxOutputTokens: 77,
    stopSequences: ['1', '2', '3', '4', '5'],
    presencePenalty: 1,
    frequencyPenalty: -1,
    seed: 3,
    responseLogprobs: true,
    logprobs: 2,
    responseModalities: ['TEXT', 'IMAGE'],
    speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    imageConfig: { aspectRatio: '16:9', imageSize: '4K' },
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  });
  expect(body.serviceTier).toBe('flex');
  expect(warnings).toHaveLength(1);
});

test('what cannot be expressed is reported', () => {
  const { warnings } = write({
    sampling: { logitBias: { '1': 2 } },
    parallelToolCalls: false,
    verbosity: 'low',
    metadata: { a: 'b' },
    user: 'u',
    cacheKey: 'k',
    serviceTier: 'scale',
    extras: { 'openai-chat': { store: true, prediction: {} } },
    messages: [{ ...message('user', { type: 'text', text: 'Hi', cache: {} }), name: 'Ann' }],
  });
  for (const word of [
    'logit_bias',
    'parallel',
    'verbosity',
    'metadata',
    '`user`',
    'prompt_cache_key',
    'service_tier',
    '`store`, `prediction`',
    'Cache',
    '`name`',
  ]) {
    expect(warnings.some((warning) => warning.includes(word))).toBe(true);
  }
});

test('what only this format has is restored in its place', () => {
  const extras = {
    gemini: {
      safetySettings: [],
      generationConfig: { speechConfig: { languageCode: 'de' } },
      'contents[0].parts[0].videoMetadata': {},
    },
  };
  const { body, warnings } = write({ extras, audio: { voice: 'Kore', format: 'pcm16' } });
  expect(body.safetySettings).toEqual([]);
  expect(body.generationConfig.speechConfig).toMatchObject({ languageCode: 'de', voiceConfig: expect.anything() });
  expect(Object.keys(body).some((member) => member.startsWith('contents['))).toBe(false);
  expect(warnings).toHaveLength(1);
});

test('speech excludes text output', () => {
  const { body, warnings } = write({ modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'wav' } });
  expect(body.generationConfig.responseModalities).toEqual(['AUDIO']);
  expect(warnings).toHaveLength(1);
  const other = write({ modalities: ['audio'], audio: { voice: 'alloy', format: 'mp3' } });
  expect(other.body.generationConfig.speechConfig).toEqual({
    voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } },
  });
  expect(other.warnings).toEqual([
    'The model only generates raw samples: they are returned as WAV, not as `mp3`.',
    'The voice `alloy` belongs to another provider: `Kore` was used instead.',
  ]);
});

test("a text completion is the user's turn", () => {
  const { body } = write({ messages: [], completion: { prompts: ['Once'], echo: false } });
  expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'Once' }] }]);
});

test("a client's own body is sent unchanged", () => {
  const origin = { dialect: 'gemini', body: new TextEncoder().encode('{ "contents" : [] }') };
  expect(gemini.passCall(chatCall({ origin }), 'other', {})).toEqual({ body: origin.body, warnings: [] });
  expect(isObject(write({}).body)).toBe(true);
});
