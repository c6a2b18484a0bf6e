/**
 * Passed-through members with a cost beyond tokens: no provider that charges for one gets it, unless the model's price covers it and it is
 * held for, or the operator allows it. The list in this file is independent of the gateway's own table.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../../src/providers/index.ts';
import { modelOf, type OutgoingCalls, startOutgoing, type Target } from '../helpers/outgoing-calls.ts';

const hello = [{ role: 'user', content: 'Hi' }];
const BASES: { readonly [format: string]: object } = {
  'openai-chat': { messages: hello, max_tokens: 100 },
  'openai-responses': { input: 'Hi', max_output_tokens: 100 },
  'anthropic-messages': { messages: hello, max_tokens: 100 },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 100 } },
};

const MODELS: { readonly [type: string]: string } = {
  openai: 'gpt-6',
  anthropic: 'claude-opus-4-5',
  google: 'gemini-3.8-flash',
  vertex: 'gemini-3.8-flash',
  bedrock: 'anthropic.claude-sonnet-4',
  'bedrock-mantle': 'openai.gpt-6',
};

const TARGETS: readonly Target[] = [...PROVIDERS.values()].flatMap(({ name, speaks }): Target[] => [
  ...(speaks.chat ? [[name, 'chat', MODELS[name] ?? 'any-model'] as const] : []),
]);
const IMAGES: Target = ['openai', 'image', 'gpt-image-1'];

/** USD per tool call in this test. */
const PER_CALL = 0.01;
const NANO_PER_CALL = 10_000_000;

/** What a provider charges for beyond tokens: by type and format, the text by which it is recognised in a request body. */
interface Extra {
  readonly format: string;
  readonly members: object;
  readonly param: string;
  /** Occurs in the request body for a provider that charges for it. */
  readonly charged: (type: string, body: string) => boolean;
  /** The tool calls that a request body allows; absent: no price covers it. */
  readonly permits?: (body: { [member: string]: unknown }) => number;
}

const OPENAI_TYPES = /^(openai|azure|openrouter|xai)$/;
const SEARCHES = /^(openai|azure|openrouter|xai|anthropic|google|vertex)$/;
const seesSearch = (body: string) => /web_search|googleSearch/.test(body);
const numberAt = (value: unknown, path: RegExp): number => Number(path.exec(JSON.stringify(value))?.[1] ?? Infinity);
/** The limit in the body; for formats without one, the usual number that is held for. */
const searches = (body: object) => {
  const limit = Math.min(numberAt(body, /"max_uses":(\d+)/), numberAt(body, /"max_tool_calls":(\d+)/));
  if (Number.isFinite(limit)) return limit;
  return 'web_search_options' in body ? 1 : 20;
};
/** `max_uses` is not a member of this tool in the Responses format. */
const searchesOf = (body: { [member: string]: unknown }) =>
  searches('input' in body ? { ...body, tools: ['web_search'] } : body);

const EXTRAS: { readonly [name: string]: Extra } = {
  'search of a chat': {
    format: 'openai-chat',
    members: { web_search_options: {} },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'search of a response': {
    format: 'openai-responses',
    members: { tools: [{ type: 'web_search' }] },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'search of a message': {
    format: 'anthropic-messages',
    members: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'many searches of a message': {
    format: 'anthropic-messages',
    members: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 70 }] },
    param: 'tools',
    charged: (type, body) => type === 'anthropic' && seesSearch(body),
    permits: searches,
  },
  'a bound in the words of a response': {
    format: 'openai-responses',
    members: { tools: [{ type: 'web_search' }], max_tool_calls: 1 },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'a bound in the words of a message': {
    format: 'anthropic-messages',
    members: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 1 }] },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'a bound that is none': {
    format: 'openai-responses',
    members: { tools: [{ type: 'web_search', max_uses: 1 }], max_tool_calls: null },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searchesOf,
  },
  'a bound in words that the format does not have': {
    format: 'anthropic-messages',
    members: { tools: [{ type: 'web_search_20250305', name: 'web_search' }], max_tool_calls: 0 },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'a bound of a chat, which has no word for it': {
    format: 'openai-chat',
    members: { web_search_options: { max_uses: 0 }, max_tool_calls: 0 },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: (body) => ('web_search_options' in body ? 1 : searches(body)),
  },
  'a web plugin with many results': {
    format: 'openai-chat',
    members: { plugins: [{ id: 'web', max_results: 100 }] },
    param: 'plugins',
    charged: (type, body) => type === 'openrouter' && body.includes('"web"'),
    permits: () => 20,
  },
  'grounding in Gemini': {
    format: 'gemini',
    members: { tools: [{ googleSearch: {} }] },
    param: 'tools',
    charged: (type, body) => SEARCHES.test(type) && seesSearch(body),
    permits: searches,
  },
  'code interpreter': {
    format: 'openai-responses',
    members: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    param: 'tools',
    charged: (type, body) => OPENAI_TYPES.test(type) && body.includes('code_interpreter'),
    permits: searches,
  },
  'file search': {
    format: 'openai-responses',
    members: { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }], max_tool_calls: 45 },
    param: 'tools',
    charged: (type, body) => OPENAI_TYPES.test(type) && body.includes('file_search'),
    permits: searches,
  },
  'image generation in a conversation': {
    format: 'openai-responses',
    members: { tools: [{ type: 'image_generation' }] },
    param: 'tools',
    charged: (type, body) => OPENAI_TYPES.test(type) && body.includes('image_generation'),
  },
  'a web plugin': {
    format: 'openai-chat',
    members: { plugins: [{ id: 'web' }, { id: 'response-healing' }] },
    param: 'plugins',
    charged: (type, body) => type === 'openrouter' && body.includes('"web"'),
    permits: () => 1,
  },
  'a parser paid by the page': {
    format: 'openai-chat',
    members: { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] },
    param: 'plugins',
    charged: (type, body) => type === 'openrouter' && body.includes('mistral-ocr'),
  },
  'live search': {
    format: 'openai-chat',
    members: { search_parameters: { mode: 'auto', max_search_results: 30 } },
    param: 'search_parameters',
    charged: (type, body) => type === 'xai' && body.includes('search_parameters'),
    permits: () => 30,
  },
  'search of Qwen': {
    format: 'openai-chat',
    members: { enable_search: true },
    param: 'enable_search',
    charged: (type, body) => type === 'dashscope' && body.includes('enable_search'),
    permits: () => 1,
  },
  "Moonshot's search": {
    format: 'openai-chat',
    members: { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] },
    param: 'tools',
    charged: (type, body) => type === 'moonshot' && body.includes('$web_search'),
    permits: () => 1,
  },
  'a dearer region': {
    format: 'anthropic-messages',
    members: { inference_geo: 'us' },
    param: 'inference_geo',
    charged: (type, body) => type === 'anthropic' && body.includes('inference_geo'),
  },
  'a search of Qwen that is no boolean': {
    format: 'openai-chat',
    members: { enable_search: 'true' },
    param: 'enable_search',
    charged: (type, body) => type === 'dashscope' && body.includes('enable_search'),
    permits: () => 1,
  },
  'a budget that is no count': {
    format: 'openai-chat',
    members: { thinking_budget: '99999' },
    param: 'thinking_budget',
    charged: (type, body) => type === 'dashscope' && body.includes('thinking_budget'),
  },
  'a tool hidden in another member': {
    format: 'openai-chat',
    members: { extra_body: { tools: [{ type: 'live_search' }] } },
    param: 'extra_body.tools',
    charged: (type, body) => type === 'xai' && body.includes('live_search'),
  },
  'a member hidden deeper': {
    format: 'openai-chat',
    members: { extra_body: { extra_body: { search_parameters: { mode: 'on' } } } },
    param: 'extra_body.search_parameters',
    charged: (type, body) => type === 'xai' && body.includes('search_parameters'),
  },
  'a member hidden in another': {
    format: 'openai-chat',
    members: { extra_body: { search_parameters: { mode: 'on' } } },
    param: 'extra_body.search_parameters',
    charged: (type, body) => type === 'xai' && body.includes('search_parameters'),
  },
};

const OUTPUT_ONLY = { input: 0, output: 1 };
const priceOf = (price: object) => ({
  chat: { price, maxOutputTokens: 1000 },
  image: { price: { input: 5, imageInput: 10, output: 40, imageOutput: 40 } },
});

let unpriced: OutgoingCalls;
let priced: OutgoingCalls;
let allowed: OutgoingCalls;
let byDefault: OutgoingCalls;
beforeAll(async () => {
  const targets = [...TARGETS, IMAGES];
  unpriced = await startOutgoing(targets, priceOf(OUTPUT_ONLY));
  priced = await startOutgoing(targets, priceOf({ ...OUTPUT_ONLY, perToolCall: PER_CALL }));
  allowed = await startOutgoing(targets, priceOf(OUTPUT_ONLY), 'allow');
  byDefault = await startOutgoing(targets, priceOf(OUTPUT_ONLY), 'tools');
}, 60_000);
afterAll(() => Promise.all([unpriced, priced, allowed, byDefault].map((calls) => calls.close())));

const ask = (calls: OutgoingCalls, [type, kind, model]: Target, format: string, members: object) => {
  const name = modelOf([type, kind, model]);
  const base = format === 'gemini' ? {} : { model: name };
  return calls.run(format, name, { text: JSON.stringify({ ...base, ...BASES[format], ...members }) });
};

describe.each(Object.entries(EXTRAS))('%s', (_, { format, members, param, charged, permits }) => {
  test('without a price it is sent to no provider that charges for it, and the error names it', async () => {
    let refusals = 0;
    for (const target of TARGETS) {
      await ask(unpriced, target, format, members);
      for (const body of unpriced.sent) expect([target[0], charged(target[0], body)]).toEqual([target[0], false]);
      if (unpriced.refused?.param === param) refusals++;
    }
    expect(refusals).toBeGreaterThan(0);
  });

  test('with a price it is held for', async () => {
    let seen = 0;
    for (const target of TARGETS) {
      await ask(priced, target, format, {});
      const plain = Number(priced.held);
      await ask(priced, target, format, members);
      for (const body of priced.sent) {
        if (!charged(target[0], body)) continue;
        seen++;
        const due = permits ? permits(JSON.parse(body)) * NANO_PER_CALL : Infinity;
        const more = Number(priced.held) - plain;
        if (more < due) throw new Error(`${target[0]} is held for ${more}, and may cost ${due}: ${body}`);
      }
    }
    if (permits) expect(seen).toBeGreaterThan(0);
    else expect(seen).toBe(0);
  });

  test('it passes if the operator allows it', async () => {
    let seen = 0;
    for (const target of TARGETS) {
      await ask(allowed, target, format, members);
      if (allowed.sent.some((body) => charged(target[0], body))) seen++;
    }
    expect(seen).toBeGreaterThan(0);
  });
});

describe('by default, without prices', () => {
  test('provider tools pass', async () => {
    await ask(byDefault, ['openai', 'chat', 'gpt-6'], 'openai-responses', { tools: [{ type: 'web_search' }] });
    expect(byDefault.refused).toBeUndefined();
    expect(JSON.parse(byDefault.sent[0] ?? '').tools).toEqual([{ type: 'web_search' }]);
  });

  test('a different rate for the whole call is refused', async () => {
    await ask(byDefault, ['anthropic', 'chat', 'claude-opus-4-5'], 'anthropic-messages', { inference_geo: 'us' });
    expect(byDefault.refused?.param).toBe('inference_geo');
    expect(byDefault.sent).toEqual([]);
  });
});

describe('held for in tokens', () => {
  const heldFor = async (target: Target, members: object, format = 'openai-chat') => {
    await ask(unpriced, target, format, members);
    return Number(unpriced.held);
  };
  const openai: Target = ['openai', 'chat', 'gpt-6'];
  const dashscope: Target = ['dashscope', 'chat', 'any-model'];

  test('a prediction, whose rejected tokens are billed as output', async () => {
    const content = 'lorem ipsum '.repeat(200);
    const plain = await heldFor(openai, {});
    const predicted = await heldFor(openai, { prediction: { type: 'content', content } });
    expect(unpriced.sent.join('')).toContain('prediction');
    // At least one token for four characters.
    expect(predicted - plain).toBeGreaterThan((content.length / 4) * 1000);
  });

  test("Qwen's reasoning, which is outside its output limit", async () => {
    const plain = await heldFor(dashscope, {});
    expect(await heldFor(dashscope, { thinking_budget: 5000 })).toBe(plain + 5_000_000);
    expect(await heldFor(dashscope, { enable_thinking: true, thinking_budget: 300 })).toBe(plain + 300_000);
  });

  test('reasoning without a budget, limited by the output limit', async () => {
    const plain = await heldFor(dashscope, {});
    expect(await heldFor(dashscope, { enable_thinking: true })).toBe(plain + 100_000);
    expect(JSON.parse(unpriced.sent[0] ?? '')).toMatchObject({ enable_thinking: true, thinking_budget: 100 });
    expect(await heldFor(dashscope, { enable_thinking: false })).toBe(plain);
  });

  test('images in high detail, and partial images', async () => {
    const name = modelOf(IMAGES);
    const held = async (members: object) => {
      await unpriced.run('openai-images', name, { text: JSON.stringify({ model: name, prompt: 'A cat', ...members }) });
      return Number(unpriced.held);
    };
    const image = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`;
    const stream = await held({ stream: true, n: 2 });
    expect(await held({ stream: true, n: 2, partial_images: 3 })).toBe(stream + 2 * 3 * 100 * 40_000);
    const edit = await held({ image });
    expect(await held({ image, input_fidelity: 'high' })).toBe(edit + 6240 * 10_000);
    expect(await held({ image, input_fidelity: 'low' })).toBe(edit);
  });
});

test("OpenRouter gets a price limit, so that no host costs more than the model's price", async () => {
  const target: Target = ['openrouter', 'chat', 'any-model'];
  await ask(unpriced, target, 'openai-chat', {
    provider: { sort: 'throughput', order: ['a'], max_price: { completion: 0.5, image: 2 } },
  });
  expect(JSON.parse(unpriced.sent[0] ?? '').provider).toEqual({
    sort: 'throughput',
    order: ['a'],
    max_price: { prompt: 0, completion: 0.5, image: 2 },
  });
  await ask(unpriced, target, 'openai-chat', { provider: { zdr: true, max_price: { completion: '900' } } });
  expect(JSON.parse(unpriced.sent[0] ?? '').provider).toEqual({ zdr: true, max_price: { prompt: 0, completion: 1 } });
  expect(unpriced.refused).toBeUndefined();
});

test('client tools and free provider tools need no price', async () => {
  const free: readonly (readonly [Target, string, object])[] = [
    [
      ['anthropic', 'chat', 'claude-opus-4-5'],
      'anthropic-messages',
      {
        tools: [
          { type: 'bash_20250124', name: 'bash' },
          { type: 'web_fetch_20250910', name: 'web_fetch' },
        ],
      },
    ],
    [
      ['openai', 'chat', 'gpt-6'],
      'openai-responses',
      { tools: [{ type: 'local_shell' }, { type: 'mcp', server_label: 's', server_url: 'https://mcp.test' }] },
    ],
    [['google', 'chat', 'gemini-3.8-flash'], 'gemini', { tools: [{ codeExecution: {} }, { urlContext: {} }] }],
    [['openai-compatible', 'chat', 'any-model'], 'openai-chat', { web_search_options: {} }],
  ];
  for (const [target, format, members] of free) {
    await ask(unpriced, target, format, members);
    expect([format, unpriced.refused?.message, unpriced.sent.length]).toEqual([format, undefined, 1]);
  }
});
