import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../canonical/json.ts';
import { carrySignature } from '../carried-signature.ts';
import { gemini } from './gemini.ts';

function read(body: unknown, path: { [name: string]: string } = {}, query = '') {
  return gemini.readCall({
    body: new TextEncoder().encode(JSON.stringify(body)),
    headers: new Headers(),
    path: { model: 'gemini-x', action: 'generateContent', ...path },
    query: new URLSearchParams(query),
  });
}
const user = (...parts: JsonObject[]) => ({ role: 'user', parts });
const model = (...parts: JsonObject[]) => ({ role: 'model', parts });
const messagesOf = (...contents: unknown[]) => read({ contents }).messages;

describe('the URL', () => {
  test.each([
    ['gemini-x', 'gemini-x'],
    ['models/gemini-x', 'gemini-x'],
    ['models/models/gemini-x', 'gemini-x'],
    ['provider/gemini-x', 'provider/gemini-x'],
  ])('names the model: %s', (path, name) => {
    expect(read({ contents: 'Hi' }, { model: path }).model).toBe(name);
  });

  test('names the action and the framing', () => {
    expect(read({}).stream).toBe(false);
    expect(read({}, { action: 'generateContent/' }).stream).toBe(false);
    expect(read({}, { action: 'streamGenerateContent' }, 'alt=sse')).toMatchObject({
      stream: true,
      origin: { framing: 'sse' },
    });
    expect(read({}, { action: 'streamGenerateContent' })).toMatchObject({
      stream: true,
      origin: { framing: 'json-array' },
    });
    expect(() => read({}, { action: 'predict' })).toThrow(expect.objectContaining({ code: 'not_found', status: 404 }));
  });
});

describe('contents', () => {
  const hello = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
  test.each([
    ['a string', 'Hi'],
    ['one content', user({ text: 'Hi' })],
    ['one part', { text: 'Hi' }],
    ['bare parts', [{ text: 'Hi' }]],
    ['strings', ['Hi']],
    ['no role', [{ parts: [{ text: 'Hi' }] }]],
    ['a part for parts', [{ parts: { text: 'Hi' } }]],
  ])('may be %s', (_, contents) => {
    expect(read({ contents }).messages).toEqual(hello as never);
  });

  test('as the library stores a stream: one content per piece, and empty texts', () => {
    const pieces = [
      model({ text: 'Hel' }),
      model({ text: 'lo' }),
      model({ text: '' }),
      model({ text: '', thoughtSignature: 'c2ln' }),
    ];
    expect(messagesOf(user({ text: 'Hi' }), ...pieces, model({ text: '' }), user({ text: 'And?' }))).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Hello', signature: { dialect: 'gemini', value: 'c2ln' } }] },
      { role: 'user', parts: [{ type: 'text', text: 'And?' }] },
    ]);
  });

  test('calls and results without ids are matched by name and order', () => {
    const call = (city: string) => ({ functionCall: { name: 'f', args: { city } } });
    const result = (output: string, name = 'f') => ({ functionResponse: { name, response: { output } } });
    const [, calls, results] = messagesOf(
      user({ text: 'Hi' }),
      model(call('a'), { functionCall: { name: 'g' } }, call('b')),
      user(result('A'), result('B'), result('G', 'g')),
    );
    const ids = (calls?.parts ?? []).map((part) => (part.type === 'tool-call' ? part.id : ''));
    expect(new Set(ids).size).toBe(3);
    expect(results?.role).toBe('tool');
    expect((results?.parts ?? []).map((part) => part.type === 'tool-result' && [part.callId, part.parts])).toEqual([
      [String(ids[0]), [{ type: 'text', text: 'A' }]],
      [String(ids[2]), [{ type: 'text', text: 'B' }]],
      [String(ids[1]), [{ type: 'text', text: 'G' }]],
    ]);
  });

  test("results are failed, objects, or contain images; parts beside them are the user's", () => {
    const result = (response: JsonObject, more = {}) => ({ functionResponse: { name: 'f', response, ...more } });
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const [results, rest] = messagesOf(
      user({ text: 'See:' }, result({ error: 'No.' }), result({ a: 1 }), result({}, { parts: [image] })),
    );
    expect(results?.parts).toMatchObject([
      { failed: true, parts: [{ text: 'No.' }] },
      { failed: false, parts: [{ text: '{"a":1}' }] },
      { failed: false, parts: [{ type: 'media', media: { kind: 'image', source: { base64: 'AAAA' } } }] },
    ]);
    expect(rest).toEqual({ role: 'user', parts: [{ type: 'text', text: 'See:' }] });
  });

  test('media of every kind', () => {
    const media = (mimeType: string) => ({ inlineData: { mimeType, data: 'AAAA' } });
    const [message] = messagesOf(
      user(media('image/png'), media('audio/wav'), media('video/mp4'), media('application/pdf')),
    );
    expect(message?.parts.map((part) => part.type === 'media' && part.media.kind)).toEqual([
      'image',
      'audio',
      'video',
      'document',
    ]);
  });

  test("another provider's signature is restored; the skip value is none", () => {
    const signature = { dialect: 'anthropic-messages', value: 'abc' };
    const [thought, call] =
      messagesOf(
        model(
          { text: 'Hm.', thought: true },
          { text: '', thought: true, thoughtSignature: carrySignature(signature) },
          { functionCall: { name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' },
        ),
      )[0]?.parts ?? [];
    expect(thought).toEqual({ type: 'reasoning', text: 'Hm.', signature });
    expect(call).not.toHaveProperty('signature');
  });

  test('what only this provider has is kept', () => {
    const code = { executableCode: { language: 'PYTHON', code: '1+1' } };
    expect(messagesOf(model(code))[0]?.parts).toEqual([{ type: 'native', dialect: 'gemini', item: code }]);
    const call = read({
      contents: [user({ inlineData: { mimeType: 'video/mp4', data: 'AAAA' }, videoMetadata: { fps: 1 } })],
    });
    expect(call.extras.gemini).toEqual({ 'contents[0].parts[0].videoMetadata': { fps: 1 } });
  });
});

test("snake_case and null are accepted; the client's own names stay", () => {
  const call = read({
    system_instruction: { parts: [{ text: 'Be brief.' }] },
    contents: [{ role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: 'AAAA' } }] }],
    tools: [
      { function_declarations: [{ name: 'f', parameters_json_schema: { type: 'object', properties: { a_b: {} } } }] },
    ],
    tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['f'] } },
    generation_config: {
      max_output_tokens: 5,
      top_p: null,
      response_modalities: ['TEXT'],
      thinking_config: { thinking_budget: 0 },
    },
    cached_content: null,
  });
  expect(call).toMatchObject({
    messages: [{ role: 'system' }, { role: 'user', parts: [{ type: 'media' }] }],
    tools: [{ type: 'function', name: 'f', parameters: { properties: { a_b: {} } } }],
    toolChoice: { type: 'tool', name: 'f' },
    maxOutputTokens: 5,
    modalities: ['text'],
    reasoning: { effort: 'none' },
    extras: {},
  });
});

test('tools: each member of a tool is one, functions have either kind of schema', () => {
  const { tools } = read({
    tools: [
      {
        functionDeclarations: [
          { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } } },
        ],
        googleSearch: {},
      },
      { codeExecution: {} },
    ],
  });
  expect(tools).toEqual([
    { type: 'function', name: 'f', parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } } },
    { type: 'web-search', dialect: 'gemini', options: {} },
    { type: 'native', dialect: 'gemini', item: { codeExecution: {} } },
  ]);
});

test.each([
  [{ mode: 'AUTO' }, { type: 'auto' }],
  [{ mode: 'NONE' }, { type: 'none' }],
  [{ mode: 'ANY' }, { type: 'required' }],
  [
    { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
    { type: 'allowed', mode: 'required', names: ['f', 'g'] },
  ],
  [{ mode: 'VALIDATED' }, { type: 'allowed', mode: 'auto', names: ['f'] }],
])('the choice %j', (functionCallingConfig, choice) => {
  const tools = [{ functionDeclarations: [{ name: 'f' }] }];
  expect(read({ tools, toolConfig: { functionCallingConfig } }).toolChoice).toEqual(choice as never);
});

test('other settings', () => {
  const call = read({
    generationConfig: {
      candidateCount: 2,
      stopSequences: ['x'],
      seed: 4,
      responseLogprobs: true,
      logprobs: 3,
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { n: { type: 'INTEGER' } } },
      responseModalities: ['AUDIO'],
      speechConfig: { languageCode: 'de', voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      imageConfig: { aspectRatio: '1:1', imageSize: '2K' },
      thinkingConfig: { thinkingLevel: 'low', includeThoughts: true },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
    safetySettings: [{ category: 'a', threshold: 'b' }],
    serviceTier: 'standard',
  });
  expect(call).toMatchObject({
    sampling: { n: 2, stop: ['x'], seed: 4, logprobs: true, topLogprobs: 3 },
    output: { type: 'json-schema', schema: { type: 'object', properties: { n: { type: 'integer' } } } },
    modalities: ['audio'],
    audio: { voice: 'Kore' },
    image: { aspectRatio: '1:1', size: '2K' },
    reasoning: { effort: 'low', summary: 'auto' },
    serviceTier: 'default',
    wantsUsage: true,
  });
  expect(call.extras.gemini).toEqual({
    safetySettings: [{ category: 'a', threshold: 'b' }],
    generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', speechConfig: { languageCode: 'de' } },
  });
});

test.each([
  ['not an object', [1], undefined],
  ['contents', { contents: 5 }, 'contents[0]'],
  ['a role', { contents: [{ role: 'assistant', parts: [] }] }, 'contents[0].role'],
  ['a part', { contents: [user({ text: 'a' }, { text: 5 })] }, 'contents[0].parts[1].text'],
  ['a call without a name', { contents: [model({ functionCall: {} })] }, 'contents[0].parts[0].functionCall.name'],
  [
    'data without a type',
    { contents: [user({ inlineData: { data: 'AAAA' } })] },
    'contents[0].parts[0].inlineData.mimeType',
  ],
  ['a temperature', { generation_config: { temperature: 3 } }, 'generationConfig.temperature'],
  ['stops', { generationConfig: { stopSequences: 7 } }, 'generationConfig.stopSequences'],
  ['a mode', { toolConfig: { functionCallingConfig: { mode: 'SOME' } } }, 'toolConfig.functionCallingConfig.mode'],
  ['a function', { tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name'],
] as const)('a wrong body is named: %s', (_, body, param) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
});

test.each(['fileData', 'file_data'])('%s is refused by name', (member) => {
  const contents = [user({ [member]: { fileUri: 'https://x', mimeType: 'image/png' } })];
  expect(() => read({ contents })).toThrow(
    expect.objectContaining({ code: 'file_reference_unsupported', param: 'contents[0].parts[0].fileData' }),
  );
});

test('a single value replaces a list of one for every repeated member', () => {
  const declaration = { name: 'weather', parameters: { type: 'OBJECT', properties: {} } };
  const one = {
    tools: { functionDeclarations: declaration },
    safetySettings: { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' },
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: 'weather' } },
    generationConfig: { stopSequences: 'END', responseModalities: 'TEXT' },
  };
  const many = {
    tools: [{ functionDeclarations: [declaration] }],
    safetySettings: [one.safetySettings],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
    generationConfig: { stopSequences: ['END'], responseModalities: ['TEXT'] },
  };
  const meaning = ({ origin: _, ...call }: ReturnType<typeof read>) => call;
  expect(meaning(read(one))).toEqual(meaning(read(many)));
});

test.each(['system', 'developer', 'user', ''])('the role %p of the system instruction is ignored', (role) => {
  const call = read({ systemInstruction: { role, parts: [{ text: 'Be brief.' }] } });
  expect(call.messages[0]).toMatchObject({ role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] });
  expect(call.origin.unsaid?.()).toEqual([]);
});
