/**
 * Request members that pass to the provider and cost something besides tokens, and tools that run at the provider.
 * `extras.ts` applies this table, docs/reference/priced-members.md explains it.
 */
import type { Json } from '../../canonical/json.ts';
import { isObject } from '../../canonical/json.ts';

/** The tool calls that the hold covers where the request sets no limit. */
export const USUAL_TOOL_CALLS = 20;
/** The same for a tool that generates images, which cost more. */
export const USUAL_IMAGES = 4;

/**
 * How a member changes the price, and what happens to it:
 * - `tools`: so many tool calls at the provider. Held and charged by `perToolCall` and `perToolUse`; refused where the price has
 *   neither. `certain` of them (1 unless given) are charged even if the provider does not report them;
 * - `output`, `imageInput`, `imageOutput`: so many tokens besides those that the other members allow. Held;
 * - `thinking`: reasoning tokens outside the output limit. Limited to that limit, and held;
 * - `route`: chooses among hosts with different prices. Limited to the model's own price;
 * - `rate`: another rate for the whole call. Refused.
 */
export type Effect =
  | { readonly tools: number; readonly certain?: number }
  | { readonly output: number }
  | { readonly imageInput: number }
  | { readonly imageOutput: number }
  | 'thinking'
  | 'route'
  | 'rate';

export interface MemberRow {
  readonly member: string;
  /** The formats that have it. */
  readonly formats: readonly string[];
  /** The provider types that know it; absent: all. */
  readonly types?: readonly string[];
  /** `undefined`: this value costs nothing. */
  effect(value: Json, siblings: { readonly [member: string]: Json }): Effect | undefined;
  /** Where the provider documents it. */
  readonly source: string;
}

const CHAT = ['openai-chat'];
const BYTES_PER_TOKEN = 2;
/** A portrait or a landscape; a square takes 4,160. */
const FIDELITY_TOKENS = 6240;
const PARTIAL_IMAGE_TOKENS = 100;
const MOST_PARTIAL_IMAGES = 3;
/** The results of one search at OpenRouter, which charges by results. */
const USUAL_RESULTS = 5;
/** OpenRouter plugins without a charge of their own. */
const FREE_PLUGINS: ReadonlySet<string> = new Set(['response-healing', 'context-compression', 'moderation']);
const FREE_PDF_ENGINES: ReadonlySet<string> = new Set(['pdf-text', 'native', 'cloudflare-ai']);

export const EXTRA_MEMBERS: readonly MemberRow[] = [
  {
    member: 'prediction',
    formats: CHAT,
    effect: (value) => ({ output: Math.ceil(Buffer.byteLength(JSON.stringify(value)) / BYTES_PER_TOKEN) }),
    source: 'https://platform.openai.com/docs/guides/predicted-outputs: rejected tokens are billed as output',
  },
  {
    member: 'plugins',
    formats: CHAT,
    types: ['openrouter'],
    effect: (value) => (Array.isArray(value) ? ofPlugins(value) : 'rate'),
    source:
      'https://openrouter.ai/docs/features/web-search: USD per 1,000 results; file-parser: by the page with mistral-ocr',
  },
  {
    member: 'provider',
    formats: CHAT,
    types: ['openrouter'],
    effect: (value) => (isObject(value) ? 'route' : 'rate'),
    source: 'https://openrouter.ai/docs/features/provider-routing: `max_price` bounds what a host may cost',
  },
  {
    member: 'search_parameters',
    formats: CHAT,
    types: ['xai'],
    effect: (value) =>
      isObject(value) && value.mode === 'off'
        ? undefined
        : { tools: countIn(isObject(value) ? value.max_search_results : undefined) ?? USUAL_TOOL_CALLS },
    source: 'https://docs.x.ai/docs/guides/live-search: USD per source, `max_search_results` of them, 20 by default',
  },
  {
    member: 'enable_search',
    formats: CHAT,
    types: ['dashscope'],
    effect: (value) => (value === false ? undefined : { tools: 1 }),
    source: 'https://help.aliyun.com/zh/model-studio/web-search: USD per call that searches',
  },
  {
    member: 'thinking_budget',
    formats: CHAT,
    types: ['dashscope'],
    effect: (value) => {
      const output = countIn(value);
      return output === undefined ? 'rate' : { output };
    },
    source: 'https://help.aliyun.com/zh/model-studio/deep-thinking: `max_tokens` does not limit what is thought',
  },
  {
    member: 'enable_thinking',
    formats: CHAT,
    types: ['dashscope'],
    effect: (value, { thinking_budget: budget }) =>
      value === true && countIn(budget) === undefined ? 'thinking' : undefined,
    source: 'https://help.aliyun.com/zh/model-studio/deep-thinking: `max_tokens` does not limit what is thought',
  },
  {
    member: 'inference_geo',
    formats: ['anthropic-messages', 'openai-chat'],
    effect: (value) => (value === 'global' || value === 'not_available' ? undefined : 'rate'),
    source: 'https://platform.claude.com/docs/en/about-claude/pricing: 1.1 times all rates in the US alone',
  },
  {
    member: 'input_fidelity',
    formats: ['openai-images'],
    effect: (value) => (value === 'low' ? undefined : { imageInput: FIDELITY_TOKENS }),
    source: 'https://platform.openai.com/docs/guides/images-vision: 4,160 or 6,240 tokens more for an image',
  },
  {
    member: 'partial_images',
    formats: ['openai-images'],
    effect: (value) => {
      const count = countIn(value) ?? countIn(Number(value)) ?? MOST_PARTIAL_IMAGES;
      return count > 0 ? { imageOutput: PARTIAL_IMAGE_TOKENS * count } : undefined;
    },
    source: 'https://platform.openai.com/docs/guides/image-generation: 100 tokens more for each partial image',
  },
];

function countIn(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** Each plugin has its own charge. */
function ofPlugins(plugins: readonly Json[]): Effect | undefined {
  let tools = 0;
  for (const plugin of plugins) {
    if (!isObject(plugin) || typeof plugin.id !== 'string') return 'rate';
    if (plugin.enabled === false || FREE_PLUGINS.has(plugin.id)) continue;
    if (plugin.id === 'web') {
      const { max_results: results = USUAL_RESULTS } = plugin;
      if (countIn(results) === undefined) return 'rate';
      tools += Math.max(1, Math.ceil((results as number) / USUAL_RESULTS));
    } else if (plugin.id !== 'file-parser' || !isFreeParser(plugin.pdf)) return 'rate';
  }
  return tools > 0 ? { tools, certain: tools } : undefined;
}

function isFreeParser(pdf: Json | undefined): boolean {
  return isObject(pdf) && typeof pdf.engine === 'string' && FREE_PDF_ENGINES.has(pdf.engine);
}

/** Tools that cost only tokens, or that the client runs itself. Tools that are not listed cost by the call. */
export const FREE_TOOLS: { readonly [dialect: string]: { readonly names: RegExp; readonly source: string } } = {
  'anthropic-messages': {
    names: /^(bash|text_editor|computer|memory|tool_search|mcp_toolset|web_fetch|advisor)/,
    source: 'https://platform.claude.com/docs/en/about-claude/pricing: web fetch has no charge of its own',
  },
  'openai-responses': {
    names: /^(local_shell|apply_patch|computer|namespace|tool_search|mcp)/,
    source: 'https://platform.openai.com/docs/pricing: built-in tools',
  },
  gemini: {
    names: /^(codeExecution|urlContext|computerUse|fileSearch|mcpServers)$/,
    source: 'https://ai.google.dev/gemini-api/docs/pricing: tools',
  },
};

/** How a format names a web search, and how it limits the number of tool calls. */
export interface ToolFormat {
  readonly search: string;
  /** One search per request, which is not reported. */
  readonly once?: true;
  /** The member that holds the limit: of each search, or of the whole request. */
  readonly bound?: 'max_uses' | 'max_tool_calls';
}

export const TOOL_FORMATS: { readonly [dialect: string]: ToolFormat } = {
  'openai-chat': { search: 'web_search', once: true },
  'openai-responses': { search: 'web_search', bound: 'max_tool_calls' },
  'anthropic-messages': { search: 'web_search', bound: 'max_uses' },
  gemini: { search: 'googleSearch' },
};

/** The tool that generates images, which are priced as images. */
export const IMAGE_TOOL = 'image_generation';

/** `all`: also a web search that is translated from another format; `own`: only tools in the provider's own format. */
type Taken = { readonly [dialect: string]: 'all' | 'own' };

const OPENAI_FORMATS: Taken = { 'openai-chat': 'all', 'openai-responses': 'all' };

/** Provider types that charge for tools, by format. Others run none, or are unknown: your own servers, `openai-compatible`. */
export const TOOL_FEES: { readonly [type: string]: { readonly taken: Taken; readonly source: string } } = {
  openai: { taken: OPENAI_FORMATS, source: 'https://platform.openai.com/docs/pricing' },
  azure: { taken: OPENAI_FORMATS, source: 'https://azure.microsoft.com/pricing/details/azure-openai/' },
  anthropic: {
    taken: { 'anthropic-messages': 'all' },
    source: 'https://platform.claude.com/docs/en/about-claude/pricing',
  },
  google: { taken: { gemini: 'all' }, source: 'https://ai.google.dev/gemini-api/docs/pricing' },
  vertex: {
    taken: { gemini: 'all', 'anthropic-messages': 'all' },
    source: 'https://cloud.google.com/vertex-ai/generative-ai/pricing',
  },
  openrouter: { taken: OPENAI_FORMATS, source: 'https://openrouter.ai/docs/features/web-search' },
  xai: { taken: OPENAI_FORMATS, source: 'https://docs.x.ai/developers/pricing' },
  groq: { taken: { 'openai-chat': 'own' }, source: 'https://groq.com/pricing' },
  moonshot: { taken: { 'openai-chat': 'own' }, source: 'https://platform.kimi.ai/docs/pricing/tools' },
  zhipu: { taken: { 'openai-chat': 'own' }, source: 'https://open.bigmodel.cn/pricing' },
  zai: { taken: { 'openai-chat': 'own' }, source: 'https://docs.z.ai/guides/overview/pricing' },
};
