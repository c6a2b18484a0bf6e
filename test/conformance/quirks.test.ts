/** Each quirk has the same effect on a client's own body and on one written from the call. */
import { describe, expect, test } from 'bun:test';
import type { Call, Kind } from '../../src/canonical/call.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import type { Quirks } from '../../src/dialects/shared/quirks.ts';
import { PROVIDERS } from '../../src/providers/index.ts';

interface Sample {
  format: string;
  quirks: Quirks;
  /** Members that the quirk affects. */
  members: JsonObject;
}

const CHAT = 'openai-chat';
const hello = { role: 'user', content: 'Hi' };
const called = (call: JsonObject) => [
  hello,
  { role: 'assistant', content: 'So.', reasoning_content: 'Hm.', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_123', content: '1' },
];
const FUNCTION_CALL = { id: 'call_123', type: 'function', function: { name: 'f', arguments: '{}' } };
const CUSTOM_CALL = { id: 'call_123', type: 'custom', custom: { name: 'sql', input: 'select 1' } };
const CUSTOM_TOOL = {
  type: 'custom',
  custom: {
    name: 'sql',
    description: 'Runs SQL.',
    format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } },
  },
};
const FUNCTION_TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const SCHEMA = { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } };
const thought = (field: NonNullable<Quirks['reasoningField']>): Sample => ({
  format: CHAT,
  quirks: { reasoningField: field },
  members: { messages: called(FUNCTION_CALL) },
});
const size = (quirks: Quirks, requested = '1600x900'): Sample => ({
  format: 'openai-images',
  quirks,
  members: { size: requested },
});

/** What a quirk affects, if it changes no request in a format of clients. */
type NoRequest = 'replies' | 'media' | 'pieces' | 'edits' | 'translation' | 'continuations';

const QUIRKS: { readonly [name in keyof Required<Quirks>]: readonly Sample[] | NoRequest } = {
  rejects: [
    { format: CHAT, quirks: { rejects: ['seed'] }, members: { seed: 5 } },
    { format: 'openai-completions', quirks: { rejects: ['seed'] }, members: { seed: 5 } },
    { format: 'openai-responses', quirks: { rejects: ['top_p'] }, members: { top_p: 0.5 } },
    { format: 'anthropic-messages', quirks: { rejects: ['top_k'] }, members: { top_k: 5 } },
    { format: 'gemini', quirks: { rejects: ['store'] }, members: { store: true } },
    { format: 'openai-images', quirks: { rejects: ['style'] }, members: { style: 'vivid' } },
    { format: 'openai-embeddings', quirks: { rejects: ['user'] }, members: { user: 'me' } },
    { format: 'openai-speech', quirks: { rejects: ['instructions'] }, members: { instructions: 'Softly.' } },
    { format: 'rerank', quirks: { rejects: ['rank_fields'] }, members: { rank_fields: ['a'] } },
  ],
  fixed: [
    { format: CHAT, quirks: { fixed: { n: 1 } }, members: { n: 2 } },
    { format: 'openai-completions', quirks: { fixed: { n: 1 } }, members: { n: 2 } },
  ],
  renames: [
    {
      format: CHAT,
      quirks: { renames: { max_completion_tokens: 'max_tokens' } },
      members: { max_completion_tokens: 5 },
    },
    { format: CHAT, quirks: { renames: { seed: 'random_seed' } }, members: { seed: 5 } },
    { format: 'openai-images', quirks: { renames: { n: 'batch_size' } }, members: { n: 2 } },
    {
      format: 'openai-embeddings',
      quirks: { renames: { dimensions: 'output_dimension' } },
      members: { dimensions: 4 },
    },
    { format: 'openai-speech', quirks: { renames: { voice: 'voice_id' } }, members: { voice: 'alloy' } },
  ],
  models: [
    { format: CHAT, quirks: { models: [{ match: '^up', quirks: { rejects: ['seed'] } }] }, members: { seed: 5 } },
  ],
  rejectsInMessages: [
    { format: CHAT, quirks: { rejectsInMessages: ['name'] }, members: { messages: [{ ...hello, name: 'ann' }] } },
  ],
  streamUsage: [
    {
      format: CHAT,
      quirks: { streamUsage: 'always' },
      members: { stream: true, stream_options: { include_usage: true } },
    },
    {
      format: CHAT,
      quirks: { streamUsage: 'never' },
      members: { stream: true, stream_options: { include_obfuscation: false } },
    },
    {
      format: 'openai-completions',
      quirks: { streamUsage: 'always' },
      members: { stream: true, stream_options: { include_usage: true } },
    },
  ],
  reasoningField: (['reasoning', 'reasoning_details', 'thinking-parts', 'none'] as const).map(thought),
  supportsDeveloperRole: [
    {
      format: CHAT,
      quirks: { supportsDeveloperRole: false },
      members: { messages: [{ role: 'developer', content: 'Be.' }, hello] },
    },
  ],
  requiresToolCallIds: [
    {
      format: CHAT,
      quirks: { requiresToolCallIds: 'nine-alphanumeric' },
      members: { messages: called(FUNCTION_CALL) },
    },
  ],
  supportsFreeTextTools: [
    { format: CHAT, quirks: { supportsFreeTextTools: false }, members: { tools: [CUSTOM_TOOL, FUNCTION_TOOL] } },
    {
      format: CHAT,
      quirks: { supportsFreeTextTools: false },
      members: {
        messages: called(CUSTOM_CALL),
        tools: [CUSTOM_TOOL],
        tool_choice: { type: 'custom', custom: { name: 'sql' } },
      },
    },
    {
      format: CHAT,
      quirks: { supportsFreeTextTools: false },
      members: {
        tools: [CUSTOM_TOOL, FUNCTION_TOOL],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: {
            mode: 'auto',
            tools: [
              { type: 'custom', custom: { name: 'sql' } },
              { type: 'function', function: { name: 'f' } },
            ],
          },
        },
      },
    },
  ],
  supportsStructuredOutput: [
    { format: CHAT, quirks: { supportsStructuredOutput: 'json' }, members: { response_format: SCHEMA } },
    { format: CHAT, quirks: { supportsStructuredOutput: 'none' }, members: { response_format: SCHEMA } },
    {
      format: CHAT,
      quirks: { supportsStructuredOutput: 'json-schema' },
      members: { response_format: { type: 'json_object' } },
    },
  ],
  supportsImageSizes: [size({ supportsImageSizes: ['1024x1024', '1536x1024'] })],
  supportsImageBounds: [size({ supportsImageBounds: { grid: 16, most: 1024 * 1024 } })],
  supportsImageSizeNames: [size({ supportsImageSizeNames: ['2K'], supportsImageSizes: ['1024x1024'] }, '1024x1536')],
  requiresImageSize: [
    { format: 'openai-images', quirks: { requiresImageSize: true, supportsImageSizes: ['512x512'] }, members: {} },
  ],
  requiresImageSides: [size({ requiresImageSides: true, supportsImageBounds: { grid: 8 } })],
  requiresImageRatios: [size({ requiresImageRatios: ['1:1', '16:9'] })],
  supportsImageResolutions: [size({ requiresImageRatios: ['1:1'], supportsImageResolutions: { '4K': '2k' } }, '4K')],
  requiresBase64Word: [
    { format: 'openai-images', quirks: { requiresBase64Word: 'base64' }, members: { response_format: 'b64_json' } },
  ],
  supportsEncodingFormat: [
    { format: 'openai-embeddings', quirks: { supportsEncodingFormat: false }, members: { encoding_format: 'base64' } },
  ],
  supportsSpeechEvents: [
    { format: 'openai-speech', quirks: { supportsSpeechEvents: 'priced' }, members: {} },
    { format: 'openai-speech', quirks: { supportsSpeechEvents: 'stream' }, members: {} },
  ],
  returnsReasoningBesideOutput: 'replies',
  returnsReasoningInTotal: 'replies',
  returnsFloatSamples: 'replies',
  transcripts: 'replies',
  returnsInt8Vectors: 'replies',
  supportsMediaUrls: 'media',
  maxImagesPerCall: 'pieces',
  maxInputsPerCall: 'pieces',
  supportsImageInput: 'edits',
  requiresEditForm: 'edits',
  requiresEditImages: 'edits',
  supportsJsonSchema: 'translation',
  supportsCacheBreakpoints: 'translation',
  supportsPrefill: 'continuations',
};

const BODIES: { readonly [format: string]: JsonObject } = {
  [CHAT]: { model: 'up', messages: [hello] },
  'openai-completions': { model: 'up', prompt: 'Hi' },
  'openai-responses': { model: 'up', input: 'Hi', store: false },
  'anthropic-messages': {
    model: 'up',
    max_tokens: 50,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  'openai-images': { model: 'up', prompt: 'A cat' },
  'openai-embeddings': { model: 'up', input: ['Hi'], encoding_format: 'base64' },
  'openai-speech': { model: 'up', input: 'Hi' },
  rerank: { model: 'up', query: 'a', documents: ['b'] },
};

function made({ format, members }: Sample, quirks: Quirks) {
  const dialect = dialectNamed(format) as Dialect<Call>;
  const call = dialect.readCall({
    body: Buffer.from(JSON.stringify({ ...BODIES[format], ...members })),
    headers: new Headers({ 'anthropic-version': '2023-06-01' }),
    path: { model: 'up', action: 'generateContent' },
    query: new URLSearchParams(),
  });
  const [own, written] = [dialect.passCall(call, 'up', quirks), dialect.writeCall(call, 'up', quirks)].map(
    ({ body, warnings }) => ({ body: JSON.parse(Buffer.from(body).toString()), warnings: warnings.toSorted() }),
  );
  return { own: own!, written: written! };
}

/** Members that a written body adds or expresses differently. */
const WRITTEN_OTHERWISE: { readonly [format: string]: readonly string[] } = {
  'openai-responses': ['input', 'include', 'store'],
  'openai-images': ['n'],
};

function shared(body: JsonObject, format: string): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !WRITTEN_OTHERWISE[format]?.includes(name)));
}

/** The quirks of every provider, and of each row for some of its models. */
const AT_PROVIDERS = [...PROVIDERS.values()].flatMap(({ name, speaks, quirks: chat = {}, otherQuirks = {} }) =>
  Object.entries({ ...otherQuirks, chat }).map(([kind, { models = [], ...own }]) => ({
    name: `${name}, ${kind}`,
    formats: (speaks[kind as Kind] ?? []) as readonly string[],
    rows: [own, ...models.map(({ quirks }) => ({ ...own, models: [{ match: '', quirks }] }))],
  })),
);
/** Samples that both paths say alike without any quirk: not `max_tokens` under its other name, nor a size by its name. */
const ALL_SAMPLES = Object.values(QUIRKS)
  .flatMap((samples) => (typeof samples === 'string' ? [] : samples))
  .filter((sample) => {
    const { own, written } = made(sample, {});
    return Bun.deepEquals(shared(own.body, sample.format), shared(written.body, sample.format));
  });

describe('at every provider both paths make the same request', () => {
  test('samples of many formats are compared', () => {
    const compared = AT_PROVIDERS.flatMap(({ formats }) =>
      ALL_SAMPLES.filter(({ format }) => formats.includes(format)),
    );
    expect(compared.length).toBeGreaterThan(700);
  });

  test.each(AT_PROVIDERS.map((one) => [one.name, one] as const))('%s', (_, { formats, rows }) => {
    for (const quirks of rows) {
      for (const sample of ALL_SAMPLES) {
        if (!formats.includes(sample.format)) continue;
        const { own, written } = made(sample, quirks);
        expect({ sample, ...own, body: shared(own.body, sample.format) }).toEqual({
          sample,
          ...written,
          body: shared(written.body, sample.format),
        });
      }
    }
  });
});

describe('each quirk has one effect on both kinds of bodies', () => {
  for (const [name, samples] of Object.entries(QUIRKS)) {
    if (typeof samples === 'string') continue;
    test.each(samples.map((sample, place) => [`${name} ${place + 1}, ${sample.format}`, sample] as const))(
      '%s',
      (_, sample) => {
        const { own, written } = made(sample, sample.quirks);
        expect(shared(own.body, sample.format)).toEqual(shared(written.body, sample.format));
        expect(own.warnings).toEqual(written.warnings);
        const without = made(sample, {}).own;
        if (name !== 'supportsImageSizeNames') expect(own).not.toEqual(without);
      },
    );
  }
});
