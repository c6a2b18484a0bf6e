/**
 * Whatever a client sends, in any spelling, the request to a provider of any type never permits more than was held. The call runs up to the
 * transport. The check knows only the text of the sent bodies, and interprets each member in the worst way.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Kind } from '../../src/canonical/call.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { modelOf, type OutgoingCalls, startOutgoing } from '../helpers/outgoing-calls.ts';
import { fc } from '../helpers/property.ts';

const MODEL_CEILING = 1000;
/** One output token at 1 USD per million, and one image. */
const NANO_PER_TOKEN = 1000;
const NANO_PER_IMAGE = 1_000_000;
const PRICES: { readonly [kind in Kind]?: object } = {
  chat: { input: 0, output: 1 },
  image: { perImage: 0.001 },
};

/** Upstream models that select a type's dialects; otherwise `any-model`. */
const MODELS: { readonly [type: string]: { chat?: readonly string[]; image?: readonly string[] } } = {
  openai: { chat: ['gpt-4o', 'o3', 'gpt-6'], image: ['gpt-image-1', 'dall-e-3'] },
  azure: { chat: ['gpt-4o', 'gpt-6'] },
  anthropic: { chat: ['claude-opus-4-5', 'claude-sonnet-4-0', 'claude-3-haiku'] },
  google: { chat: ['gemini-2.5-pro', 'gemini-3.8-flash'], image: ['imagen-4'] },
  vertex: { chat: ['gemini-2.5-pro', 'claude-sonnet-4-5', 'meta/llama-4'], image: ['imagen-4'] },
  bedrock: { chat: ['anthropic.claude-sonnet-4', 'amazon.nova-2-lite-v1:0', 'openai.gpt-oss-20b'] },
  'bedrock-mantle': { chat: ['anthropic.claude-opus-5', 'openai.gpt-6', 'openai.gpt-oss-120b'] },
  dashscope: { image: ['qwen-image', 'wan2.5-t2i'] },
  siliconflow: { image: ['Kwai-Kolors/Kolors', 'Qwen/Qwen-Image'] },
  sandbox: { chat: ['sandbox-chat'], image: ['sandbox-image'] },
};
const hello = [{ role: 'user', content: 'Hi' }];
const FORMATS: { readonly [kind in Kind]?: { readonly [format: string]: object } } = {
  chat: {
    'openai-chat': { messages: hello },
    'openai-completions': { prompt: 'Hi' },
    'openai-responses': { input: 'Hi' },
    'anthropic-messages': { messages: hello, max_tokens: 50 },
    gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
  image: { 'openai-images': { prompt: 'A cat' } },
};

/** Member names that may mean a token limit or a count, ignoring case and separators. */
const CEILING =
  /^(max(completion|output|new|gen|generated|generation)?tokens(tosample)?|n(um)?predict|maxgenlen|maxtokencount)$/;
const COUNT =
  /^(n|candidatecount|numreturnsequences|numcandidates|bestof|samplecount|num(berof)?images|batchsize|maximages)$/;
const NUMBER_MEMBER = /"((?:[^"\\]|\\.)*)"\s*:\s*"?(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"?\s*[,}]/g;

/** All numbers of these members anywhere in JSON text: duplicates, nested ones, and numeric strings. */
function figures(text: string, names: RegExp): number[] {
  return [...text.matchAll(NUMBER_MEMBER)].flatMap(([, name = '', value]) => {
    const plain = String(JSON.parse(`"${name}"`))
      .toUpperCase()
      .toLowerCase()
      .replace(/[_-]/g, '');
    return names.test(plain) ? [Number(value)] : [];
  });
}

/** The tokens or images that these bodies permit together. */
function permitted(bodies: readonly string[], kind: Kind): number {
  return bodies.reduce((sum, body) => {
    const count = Math.max(1, ...figures(body, COUNT));
    if (kind === 'image') return sum + count;
    const ceilings = figures(body, CEILING);
    // Without a limit the model's own limit applies.
    return sum + count * (ceilings.length > 0 ? Math.max(...ceilings) : MODEL_CEILING);
  }, 0);
}

let calls: OutgoingCalls;
beforeAll(async () => {
  const members = (price: object | undefined) => ({ price, maxOutputTokens: MODEL_CEILING });
  calls = await startOutgoing(TARGETS, { chat: members(PRICES.chat), image: members(PRICES.image) });
}, 60_000);
afterAll(() => calls.close());

const TARGETS: readonly (readonly [type: string, kind: Kind, model: string])[] = [...PROVIDERS.values()].flatMap(
  ({ name, speaks }: Provider) =>
    (['chat', 'image'] as const).flatMap((kind) =>
      speaks[kind] ? (MODELS[name]?.[kind] ?? ['any-model']).map((model) => [name, kind, model] as const) : [],
    ),
);

const NUMBERS = fc.constantFrom<unknown>(1, 2, 3, 40, 5000, 100_000, '7', '90000', -1, 0, 2.5, null);
const NAMES = fc.constantFrom(
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens', 'max_new_tokens', 'num_predict'],
  ...[
    'MAX_TOKENS',
    'maxTokens',
    'n_predict',
    'max_tokens_to_sample',
    'n',
    'N',
    'best_of',
    'candidateCount',
    'candidate_count',
  ],
  ...['num_return_sequences', 'num_images', 'batch_size', 'sampleCount'],
);
const NESTS = fc.constantFrom(
  '',
  '',
  '',
  'extra_body',
  'options',
  'parameters',
  'generationConfig',
  'generation_config',
);
const EFFORTS = fc.constantFrom<object>({}, {}, { reasoning_effort: 'high' }, { reasoning: { effort: 'high' } });

/** Members as JSON text: some are duplicates. */
const MEMBERS = fc.array(fc.tuple(NESTS, NAMES, NUMBERS), { maxLength: 5 });

function bodyText(base: object, model: string, members: readonly (readonly [string, string, unknown])[]): string {
  const nests = new Map<string, string[]>();
  for (const [nest, name, value] of members)
    nests.set(nest, [...(nests.get(nest) ?? []), `${JSON.stringify(name)}:${JSON.stringify(value)}`]);
  const extra = [...nests].flatMap(([nest, members]) => (nest === '' ? members : [`"${nest}":{${members.join(',')}}`]));
  const own = Object.entries({ model, ...base }).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${[...own, ...extra].join(',')}}`;
}

const RUNS = 15;

describe.each(TARGETS)('%s %s %s', (type, kind, upstreamModel) => {
  const model = modelOf([type, kind, upstreamModel]);
  test.each(Object.entries(FORMATS[kind] ?? {}))('requests in %s never exceed their hold', async (format, base) => {
    let arrived = 0;
    await fc.assert(
      fc.asyncProperty(MEMBERS, EFFORTS, async (members, effort) => {
        const text = bodyText({ ...base, ...effort }, model, members);
        await calls.run(format, model, { text });
        const { sent, held } = calls;
        if (sent.length === 0) return;
        arrived++;
        const unit = kind === 'image' ? NANO_PER_IMAGE : NANO_PER_TOKEN;
        const permits = permitted(sent, kind);
        if (permits * unit > Number(held))
          throw new Error(JSON.stringify({ text, sent, permits, held: Number(held) / unit }));
      }),
      { numRuns: RUNS, seed: 20261122 },
    );
    expect(arrived).toBeGreaterThan(0);
  });
});
