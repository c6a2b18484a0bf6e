/**
 * Embeddings, rankings, speech, transcripts, moderations and completions of several prompts: whatever a client adds to a plain request, the
 * request to the provider never asks for more than is held for.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Kind } from '../../src/canonical/call.ts';
import { uploadOf } from '../../src/canonical/upload.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import { modelOf, type OutgoingCalls, startOutgoing, type Target } from '../helpers/outgoing-calls.ts';
import { fc } from '../helpers/property.ts';

const WORD = 'lorem';
const TEXT = `${WORD} `.repeat(20);
const PROMPTS = [TEXT, TEXT, TEXT];

/** Upstream model names other than `any-model`. */
const MODELS: { readonly [type: string]: { readonly [kind in Kind]?: string } } = {
  google: { speech: 'gemini-2.5-flash-preview-tts', embed: 'gemini-embedding-001' },
  vertex: { speech: 'gemini-2.5-flash-tts', embed: 'text-embedding-005' },
};

const MEMBERS: { readonly [kind in Kind]?: object } = {
  chat: { price: { input: 1, output: 1 }, maxOutputTokens: 1000 },
  embed: { price: { input: 1 } },
  rerank: { price: { input: 1 } },
  speech: { price: { perMillionCharacters: 10 } },
  transcription: { price: { perSecond: 0.001 } },
  moderation: { price: { input: 1 } },
};

const FORMATS: { readonly [kind in Kind]?: { readonly [format: string]: object } } = {
  chat: { 'openai-completions': { prompt: PROMPTS, max_tokens: 100 } },
  embed: {
    'openai-embeddings': { input: PROMPTS },
    'gemini-embed': { content: { parts: [{ text: TEXT }] } },
    'gemini-batch-embed': { requests: PROMPTS.map((text) => ({ model: 'models/m', content: { parts: [{ text }] } })) },
  },
  rerank: { rerank: { query: TEXT, documents: PROMPTS } },
  speech: { 'openai-speech': { input: TEXT, voice: 'alloy' } },
  transcription: { 'openai-transcriptions': {} },
  moderation: { 'openai-moderations': { input: PROMPTS } },
};

const TARGETS: readonly Target[] = [...PROVIDERS.values()].flatMap(({ name, speaks }) =>
  (Object.keys(FORMATS) as Kind[]).flatMap((kind): Target[] => {
    const isServed = kind === 'chat' ? speaks.chat?.includes('openai-completions') : speaks[kind] !== undefined;
    return isServed ? [[name, kind, MODELS[name]?.[kind] ?? 'any-model']] : [];
  }),
);

let calls: OutgoingCalls;
beforeAll(async () => {
  calls = await startOutgoing(TARGETS, MEMBERS);
}, 60_000);
afterAll(() => calls.close());

const COUNT =
  /^(n|candidatecount|numreturnsequences|numcandidates|bestof|samplecount|num(berof)?images|batchsize|maximages|numoutputs)$/;
const MODEL = /^(model|models|modelname|modelid|fallbacks|fallbackmodels)$/;
const AUDIO = /^(url|uri|fileur[li]|fileid|audiour[li]|cloudstorageurl|sourceurl)$/;
const CEILING = /^(max(completion|output|new|gen)?tokens(tosample)?|n(um)?predict)$/;
const MEMBER = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?\d+(?:\.\d+)?)/g;

/** How much this body requests, in the worst interpretation: a number relative to a plain request. */
function permitted(body: string, kind: Kind): number {
  let count = 1;
  let ceiling = 0;
  let factor = 1;
  for (const [, name = '', value = ''] of body.matchAll(MEMBER)) {
    const plain = String(JSON.parse(`"${name}"`))
      .toUpperCase()
      .toLowerCase()
      .replace(/\[.*|[_-]/g, '');
    const number = Number(value.replaceAll('"', ''));
    if (COUNT.test(plain) && number > count) count = number;
    if (CEILING.test(plain) && number > ceiling) ceiling = number;
    if (MODEL.test(plain) && value.includes('other-model')) factor *= 10;
    if (/^(servicetier|speed)$/.test(plain) && /priority|fast/.test(value)) factor *= 2;
    if (kind === 'transcription' && AUDIO.test(plain)) factor *= 1000;
  }
  // An audio file is one unit, whatever else the body contains.
  const units = kind === 'transcription' ? 1 : body.split(WORD).length - 1;
  return kind === 'chat' ? units * count * factor * Math.max(ceiling, 1) : units * count * factor;
}

const NAMES = fc.constantFrom(
  ...['n', 'N', 'best_of', 'candidateCount', 'num_return_sequences', 'batch_size', 'sampleCount', 'num_outputs'],
  ...['service_tier', 'SERVICE_TIER', 'serviceTier'],
  ...['max_tokens', 'MAX_TOKENS', 'max_new_tokens', 'num_predict'],
);
/** Alternative spellings of what a kind is charged for by length, and duplicates of it. */
const TEXTS: { readonly [kind in Kind]?: readonly string[] } = {
  embed: ['input', 'INPUT', 'Input'],
  rerank: ['query', 'Query', 'documents', 'Documents'],
  speech: ['input', 'Input', 'IN_PUT'],
  moderation: ['input', 'INPUT'],
};
/** Otherwise a model's name selects nothing else (such as a voice or plugin). */
const MODELS_NAMED = fc.tuple(
  fc.constantFrom('', 'extra_body'),
  fc.constantFrom('Model', 'models', 'fallbacks', 'model_name', 'MODEL_ID'),
  fc.constantFrom<unknown>('other-model', ['other-model']),
);
const AUDIOS = fc.constantFrom('url', 'file_url', 'File_Id', 'audio_url', 'cloud_storage_url');
const VALUES = fc.constantFrom<unknown>(2, 3, 40, '7', 5000, null, 'priority', 'fast');
const NESTS = fc.constantFrom('', '', 'extra_body', 'options', 'parameters', 'settings');
const LONG = `${TEXT}${TEXT}${TEXT}`;

const SETTINGS = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(NESTS, NAMES, VALUES) },
  { weight: 1, arbitrary: MODELS_NAMED },
);
const besideOf = (kind: Kind, format: string) => {
  const texts = kind === 'transcription' ? AUDIOS : fc.constantFrom(...(TEXTS[kind] ?? ['user']));
  // Google's texts are in parts.
  const isText = !format.startsWith('gemini') && kind !== 'chat';
  const copies = fc.tuple(fc.constant(''), texts, fc.constant<unknown>(LONG));
  return fc.array(isText ? fc.oneof({ weight: 4, arbitrary: SETTINGS }, { weight: 1, arbitrary: copies }) : SETTINGS, {
    maxLength: 5,
  });
};
type Beside = readonly (readonly [nest: string, name: string, value: unknown])[];

/** Members as JSON text: some are duplicates, before and after those of the plain request. */
function bodyText(base: object, beside: Beside, isBefore: boolean): string {
  const nests = new Map<string, string[]>();
  for (const [nest, name, value] of beside) {
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    nests.set(nest, [...(nests.get(nest) ?? []), member]);
  }
  const extra = [...nests].flatMap(([nest, members]) => (nest === '' ? members : [`"${nest}":{${members.join(',')}}`]));
  const own = Object.entries(base).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${(isBefore ? [...extra, ...own] : [...own, ...extra]).join(',')}}`;
}

/** Half a minute of raw samples. */
const AUDIO_FILE = { name: 'file', filename: 'a.pcm', upload: uploadOf(new Uint8Array(48_000)) };

function formOf(model: string, beside: Beside) {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const fields = beside.map(([nest, name, value]): [string, string] =>
    nest === '' ? [name, text(value)] : [nest, JSON.stringify({ [name]: value })],
  );
  return { fields: [['model', model] as [string, string], ...fields], files: [AUDIO_FILE] };
}

const RUNS = 25;

describe.each(TARGETS)('%s %s %s', (...target) => {
  const [, kind] = target;
  const model = modelOf(target);
  const isForm = kind === 'transcription';
  test.each(Object.entries(FORMATS[kind] ?? {}))('requests in %s never exceed their hold', async (format, base) => {
    const own = format.startsWith('gemini') ? base : { model, ...base };
    const run = (beside: Beside, isBefore: boolean) =>
      calls.run(format, model, isForm ? { form: formOf(model, beside) } : { text: bodyText(own, beside, isBefore) });
    const all = () => calls.sent.reduce((sum, body) => sum + permitted(body, kind), 0);
    await run([], false);
    const plain = { permits: all(), held: Number(calls.held) };
    expect(plain.permits).toBeGreaterThan(0);
    expect(plain.held).toBeGreaterThan(0);
    await fc.assert(
      fc.asyncProperty(besideOf(kind, format), fc.boolean(), async (beside, isBefore) => {
        await run(beside, isBefore);
        if (calls.sent.length === 0) return;
        const { held, sent } = calls;
        // Text around the input, and rounding up, is held for once.
        if (all() / plain.permits > (Number(held) / plain.held) * 1.5)
          throw new Error(JSON.stringify({ beside, sent, permits: all(), held: Number(held), plain }));
      }),
      { numRuns: RUNS, seed: 20261122 },
    );
  });
});
