/**
 * The request schema of generateContent, after its members were converted to camelCase and nulls removed. Descriptions
 * follow the words "must be".
 */
import { type TSchema, Type } from 'typebox';
import { anything, closed, type Notes, objectOf } from '../../shared/request-shape.ts';

const open = (schema: TSchema, description: string, notes: Notes = {}) =>
  Type.Optional(Type.Union([schema], { description, ...notes }));
const text = (notes?: Notes) => open(Type.String(), 'a string', notes);
const flag = (notes?: Notes) => open(Type.Boolean(), 'true or false', notes);
const object = (notes?: Notes) => open(Type.Object({}), 'an object', notes);
const schema = (notes?: Notes) => open(Type.Object({}), 'a schema, which is an object', notes);
const number = (minimum: number, maximum: number, notes?: Notes) =>
  open(Type.Number({ minimum, maximum }), `a number from ${minimum} to ${maximum}`, notes);
const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER, notes?: Notes) =>
  open(
    Type.Integer({ minimum, maximum }),
    maximum === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${minimum}`
      : `an integer from ${minimum} to ${maximum}`,
    notes,
  );
const texts = (notes?: Notes) => open(Type.Array(Type.String()), 'an array of strings', notes);

const BLOB = {
  mimeType: Type.String({ minLength: 1 }),
  data: Type.String({ $about: 'Base64.' }),
  displayName: anything(),
};

const Part = closed(
  {
    text: text(),
    thought: flag({ $about: 'Whether the text is reasoning.' }),
    thoughtSignature: text(),
    inlineData: open(closed(BLOB), 'an object with `mimeType` and `data`, which is base64'),
    fileData: object({ $about: 'A file by its address: `{mimeType, fileUri}`.' }),
    functionCall: open(
      closed({ name: Type.String({ minLength: 1 }), id: text(), args: object() }),
      'an object with `name` and `args`, which is an object',
    ),
    functionResponse: open(
      closed({
        name: text(),
        id: text(),
        response: object(),
        parts: open(
          Type.Array(objectOf(() => closed({ inlineData: Type.Optional(closed(BLOB)) }))),
          'an array of parts',
        ),
      }),
      'an object with `name` and `response`, which is an object',
    ),
    // Kept as extras and reported by path.
    videoMetadata: anything(),
    mediaResolution: anything(),
    // Kept unchanged as parts that only this format has.
    executableCode: anything(),
    codeExecutionResult: anything(),
    toolCall: anything(),
    toolResponse: anything(),
  },
  { description: 'a part, which is an object', $name: 'GeminiPart' },
);

export const Content = closed(
  {
    role: open(Type.Enum(['user', 'model', 'function']), '`user` or `model`'),
    parts: open(Type.Array(Part), 'an array of parts'),
  },
  { description: 'an object with `role` and `parts`', $name: 'GeminiContent' },
);

/** Google ignores the role here; `@google/generative-ai` and LangChain send `system`. */
const SystemInstruction = closed(
  { role: open(Type.String(), 'a string'), parts: open(Type.Array(Part), 'an array of parts') },
  { description: 'an object with `parts`', $name: 'GeminiSystemInstruction' },
);

const Tool = closed(
  {
    functionDeclarations: open(
      Type.Array(
        closed(
          {
            name: Type.String({ minLength: 1, description: 'a string' }),
            description: text(),
            parameters: schema({ $about: "The arguments, in a subset of OpenAPI's schemas." }),
            parametersJsonSchema: schema({ $about: 'The arguments, as a JSON schema.' }),
          },
          { description: 'an object with a `name`' },
        ),
      ),
      'an array of functions, each with a `name`',
    ),
    googleSearch: anything(),
    googleSearchRetrieval: anything(),
    codeExecution: anything(),
    urlContext: anything(),
    googleMaps: anything(),
    fileSearch: anything(),
    computerUse: anything(),
    mcpServers: anything(),
    retrieval: anything(),
    enterpriseWebSearch: anything(),
  },
  { description: 'a tool, which is an object', $name: 'GeminiTool' },
);

const GenerationConfig = Type.Object(
  {
    temperature: number(0, 2, { $means: 'temperature' }),
    topP: number(0, 1, { $means: 'top_p' }),
    topK: open(Type.Number({ minimum: 0 }), 'a number of at least 0', { $means: 'top_k' }),
    candidateCount: integer(1, undefined, { $means: 'n' }),
    maxOutputTokens: integer(1, undefined, { $means: 'max_tokens' }),
    stopSequences: texts({ $means: 'stop' }),
    presencePenalty: number(-2, 2, { $means: 'presence_penalty' }),
    frequencyPenalty: number(-2, 2, { $means: 'frequency_penalty' }),
    seed: open(Type.Integer(), 'an integer', { $means: 'seed' }),
    responseLogprobs: flag({ $means: 'logprobs' }),
    logprobs: integer(0, 20, { $means: 'top_logprobs' }),
    responseMimeType: text(),
    responseSchema: schema(),
    responseJsonSchema: open(Type.Union([Type.Object({}), Type.Boolean()]), 'a JSON schema', {
      $means: 'response_format',
    }),
    responseModalities: texts({ $means: 'modalities', $about: 'Some of `TEXT`, `IMAGE` and `AUDIO`.' }),
    speechConfig: open(
      Type.Object({
        voiceConfig: open(
          Type.Object({
            prebuiltVoiceConfig: open(Type.Object({ voiceName: text() }), 'an object with a `voiceName`'),
          }),
          'an object',
        ),
      }),
      'an object',
      { $means: 'audio', $about: 'The voice of an audio answer.' },
    ),
    imageConfig: object({ $about: '`aspectRatio` and `imageSize` of an image.' }),
    thinkingConfig: open(
      Type.Object({
        includeThoughts: flag(),
        thinkingBudget: integer(-1),
        thinkingLevel: open(Type.String(), '`MINIMAL`, `LOW`, `MEDIUM` or `HIGH`'),
      }),
      'an object with `thinkingBudget` or `thinkingLevel`',
      { $means: 'reasoning_effort' },
    ),
  },
  { $name: 'GenerationConfig' },
);

export const GenerateRequest = Type.Object(
  {
    contents: open(Type.Array(Content), 'an array of contents, each with `role` and `parts`', {
      $means: 'messages',
    }),
    systemInstruction: open(SystemInstruction, 'a content, or a string', { $means: 'instructions' }),
    tools: open(Type.Array(Tool), 'an array of tools'),
    toolConfig: open(
      Type.Object({
        functionCallingConfig: open(
          Type.Object({ mode: text(), allowedFunctionNames: texts() }),
          'an object with a `mode`',
          { $means: 'tool_choice' },
        ),
      }),
      'an object',
    ),
    safetySettings: open(Type.Array(Type.Object({})), 'an array of objects'),
    generationConfig: open(GenerationConfig, 'an object'),
    serviceTier: text({ $means: 'service_tier' }),
    cachedContent: anything({
      $about: 'A content cached at Google. Passed to models of Google, refused with all others.',
      $aside: true,
    }),
  },
  { $name: 'GenerateContentRequest' },
);
