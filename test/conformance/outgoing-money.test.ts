/**
 * Bill what is sent: whatever a client writes, in however many spellings, what leaves for a provider of any type permits no
 * more than was held. The real way of a call runs up to the transport; the reader of what was sent knows nothing of ours
 * but the text of the bodies, and takes of each member the most that any server could make of it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Access, type Caller, createAccess } from '../../src/access/access.ts';
import { issueKey } from '../../src/access/key.ts';
import { UNCOUNTED } from '../../src/access/work-bounds.ts';
import type { Call, Kind } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import { newId } from '../../src/canonical/id.ts';
import { applyCatalogue } from '../../src/catalog/apply.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialectNamed, vendorDialectNamed } from '../../src/dialects/index.ts';
import { admit } from '../../src/gateway/admit.ts';
import { attempt } from '../../src/gateway/attempt.ts';
import type { GatewayRooms } from '../../src/gateway/rooms.ts';
import type { HoldRequest } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { createMemory } from '../../src/memory/memory.ts';
import { PROVIDERS, providerOf } from '../../src/providers/index.ts';
import type { Outgoing, Provider } from '../../src/providers/provider.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

const MODEL_CEILING = 1000;
/** A token of output at 1 USD per million, and a picture. */
const NANO_PER_TOKEN = 1000;
const NANO_PER_PICTURE = 1_000_000;
const PRICES: { readonly [kind in Kind]?: object } = {
  chat: { input: 0, output: 1 },
  image: { perImage: 0.001 },
};

/** Upstream models by which a type's dialects are reached; `any-model` elsewhere. */
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
const CREDENTIALS: { readonly [type: string]: string } = {
  bedrock: 'AKIA:secret',
  'bedrock-mantle': 'AKIA:secret',
  vertex: 'AIza-key',
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

/** What the independent reader takes for a ceiling, or for a count, without regard to case and separators. */
const CEILING =
  /^(max(completion|output|new|gen|generated|generation)?tokens(tosample)?|n(um)?predict|maxgenlen|maxtokencount)$/;
const COUNT =
  /^(n|candidatecount|numreturnsequences|numcandidates|bestof|samplecount|num(berof)?images|batchsize|maximages)$/;
const NUMBER_MEMBER = /"((?:[^"\\]|\\.)*)"\s*:\s*"?(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"?\s*[,}]/g;

/** All numbers of these members anywhere in a text of JSON: repeated ones, nested ones, numerals. */
function figures(text: string, names: RegExp): number[] {
  return [...text.matchAll(NUMBER_MEMBER)].flatMap(([, name = '', value]) => {
    const plain = String(JSON.parse(`"${name}"`))
      .toUpperCase()
      .toLowerCase()
      .replace(/[_-]/g, '');
    return names.test(plain) ? [Number(value)] : [];
  });
}

/** Tokens, or pictures, that these bodies permit together. */
function permitted(bodies: readonly string[], kind: Kind): number {
  return bodies.reduce((sum, body) => {
    const count = Math.max(1, ...figures(body, COUNT));
    if (kind === 'image') return sum + count;
    const ceilings = figures(body, CEILING);
    // Without one the model writes as much as it does by itself.
    return sum + count * (ceilings.length > 0 ? Math.max(...ceilings) : MODEL_CEILING);
  }, 0);
}

let folder: string;
let store: Store;
let rooms: GatewayRooms;
let caller: Caller;
let sent: string[] = [];
let held = 0n;

async function textOf(outgoing: Outgoing): Promise<string> {
  if (outgoing.body) return Buffer.from(outgoing.body).toString();
  if (!outgoing.stream) return '{}';
  const chunks: Uint8Array[] = [];
  for await (const chunk of outgoing.stream.open()) chunks.push(chunk);
  // A form's fields as members.
  const fields = [
    ...Buffer.concat(chunks)
      .toString()
      .matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g),
  ];
  return JSON.stringify(Object.fromEntries(fields.map(([, name, value]) => [name, value])));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'modelport-money-'));
  store = await openStore({ dataDir: folder });
  await store.migrate();
  const now = Date.now;
  const ledger = createLedger({ store, owner: newId('owner_'), now });
  const access: Access = createAccess({ store });
  const providers: object[] = [];
  const models: object[] = [];
  for (const { name: type } of PROVIDERS.values()) {
    const settings = { region: 'us-east-1', project: 'p', location: 'global' };
    const baseUrl = 'http://upstream.test/v1';
    providers.push({ name: type, type, baseUrl, credential: CREDENTIALS[type] ?? 'key', settings });
  }
  for (const [type, kind, model] of TARGETS) {
    const targets = [{ provider: type, model }];
    models.push({
      name: nameOf(type, kind, model),
      kind,
      price: PRICES[kind],
      maxOutputTokens: MODEL_CEILING,
      targets,
    });
  }
  await applyCatalogue(store, { providers, models }, Date.now());
  const catalog = createCatalog({ store });
  await catalog.reload();
  const account = newId('acct_');
  await store.createAccount({ id: account, name: 'default', balance: 0n, held: 0n, createdAt: Date.now() });
  await ledger.topUp(account, 10n ** 15n, { at: Date.now() });
  const { key, hash, last4 } = issueKey('caller');
  await store.createKey({ id: newId('key_'), account, kind: 'caller', name: 't', hash, last4, createdAt: Date.now() });
  caller = await access.authenticate({ key, address: '127.0.0.1' }, Date.now());
  rooms = {
    access,
    catalog,
    ledger: {
      ...ledger,
      hold(request: HoldRequest) {
        held = request.amount;
        return ledger.hold(request);
      },
    },
    memory: createMemory(store.kept, { responsesMs: 1000, proofsMs: 1000 }),
    transport: {
      async send(outgoing: Outgoing) {
        sent.push(await textOf(outgoing));
        throw new GatewayError('upstream_refused', 'Not here.', { retryable: false });
      },
    },
    guard: { check() {}, fetch: () => Promise.reject(new Error('no fetch')), post: () => Promise.reject(new Error()) },
    shelf: undefined,
    provider: providerOf,
    dialect: (name: string) => vendorDialectNamed(name)!,
    signing: { now, token: () => Promise.resolve('token') },
    countTexts: () => Promise.resolve(0),
    settings: {
      limits: { connectMs: 1000, headersMs: 1000, firstTokenMs: 1000, silenceMs: 1000, wholeMs: 1000 },
      keepAliveMs: 1000,
      drainAfterDisconnectMs: 1000,
      maxRequestBytes: 1e6,
      maxReplyBytes: 1e6,
      maxImages: 10,
      maxMediaBytes: 1e6,
    } as GatewayRooms['settings'],
    now,
    random: () => 0.5,
    log() {},
    trouble() {},
  } as unknown as GatewayRooms;
}, 60_000);
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const nameOf = (type: string, kind: Kind, model: string) => `${type}-${kind}-${model}`.replace(/[^\w-]/g, '_');

const TARGETS: readonly (readonly [type: string, kind: Kind, model: string])[] = [...PROVIDERS.values()].flatMap(
  ({ name, speaks }: Provider) =>
    (['chat', 'image'] as const).flatMap((kind) =>
      speaks[kind] ? (MODELS[name]?.[kind] ?? ['any-model']).map((model) => [name, kind, model] as const) : [],
    ),
);

/** Runs one request as far as the transport; whether anything was sent. */
async function run(format: string, model: string, text: string): Promise<boolean> {
  sent = [];
  held = 0n;
  const dialect = dialectNamed(format) as Dialect<Call>;
  try {
    const call = dialect.readCall({
      body: Buffer.from(text),
      headers: new Headers({ 'anthropic-version': '2023-06-01' }),
      path: { model, action: 'generateContent' },
      query: new URLSearchParams(),
    });
    const at = Date.now();
    const entrant = {
      id: newId('req_'),
      at,
      startedMs: performance.now(),
      dialect,
      caller,
      call,
      strict: false,
      load: UNCOUNTED,
    };
    await attempt(rooms, await admit(rooms, entrant, new Set()));
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
  }
  await Bun.sleep(0);
  return sent.length > 0;
}

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

/** Members as JSON writes them: some stand there twice. */
const MEMBERS = fc.array(fc.tuple(NESTS, NAMES, NUMBERS), { maxLength: 5 });

function bodyText(base: object, model: string, members: readonly (readonly [string, string, unknown])[]): string {
  const nests = new Map<string, string[]>();
  for (const [nest, name, value] of members)
    nests.set(nest, [...(nests.get(nest) ?? []), `${JSON.stringify(name)}:${JSON.stringify(value)}`]);
  const told = [...nests].flatMap(([nest, said]) => (nest === '' ? said : [`"${nest}":{${said.join(',')}}`]));
  const own = Object.entries({ model, ...base }).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${[...own, ...told].join(',')}}`;
}

const RUNS = 15;

describe.each(TARGETS)('%s %s %s', (type, kind, upstreamModel) => {
  const model = nameOf(type, kind, upstreamModel);
  test.each(Object.entries(FORMATS[kind] ?? {}))('asked in %s', async (format, base) => {
    let arrived = 0;
    await fc.assert(
      fc.asyncProperty(MEMBERS, EFFORTS, async (members, effort) => {
        const text = bodyText({ ...base, ...effort }, model, members);
        if (!(await run(format, model, text))) return;
        arrived++;
        const unit = kind === 'image' ? NANO_PER_PICTURE : NANO_PER_TOKEN;
        const permits = permitted(sent, kind);
        if (permits * unit > Number(held))
          throw new Error(JSON.stringify({ text, sent, permits, held: Number(held) / unit }));
      }),
      { numRuns: RUNS, seed: 20261122 },
    );
    expect(arrived).toBeGreaterThan(0);
  });
});
