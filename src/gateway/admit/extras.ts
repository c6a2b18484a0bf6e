/** What a call costs besides its tokens, by the table in `extra-members.ts`: included in the hold, limited, or refused. */
import type { Call, ChatCall, Tool } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import { writePricePerMillion } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import { patchMembers, pickMembers } from '../../dialects/wire/json.ts';
import type { Extras } from '../../ledger/pricing/quote.ts';
import {
  EXTRA_MEMBERS,
  FREE_TOOLS,
  IMAGE_TOOL,
  type MemberRow,
  TOOL_FEES,
  TOOL_FORMATS,
  USUAL_IMAGES,
  USUAL_TOOL_CALLS,
} from './extra-members.ts';

/** Where a call may be sent: the provider's type and API format. */
export interface Destination {
  readonly type: string;
  readonly dialect: string;
}

/** What happens to members without a price: refused; tools at the provider pass; all pass. */
export type UnpricedExtras = 'refuse' | 'tools' | 'allow';

export interface ExtrasPolicy {
  readonly price: Price;
  /** Output tokens held for each choice. */
  readonly ceiling: number;
  readonly unpriced: UnpricedExtras;
  destinations(): readonly Destination[];
}

const ROWS: ReadonlyMap<string, readonly MemberRow[]> = Map.groupBy(EXTRA_MEMBERS, ({ member }) => member);

/** Whether `extrasOf` applies. Cheap, because it runs for every call. */
export function mayCostExtra(call: Call): boolean {
  for (const dialect in call.extras) {
    for (const member in call.extras[dialect]) if (member === 'extra_body' || ROWS.has(member)) return true;
  }
  if (call.kind === 'image') return call.partialImages !== undefined;
  if (call.kind === 'chat')
    for (const { type } of call.tools) if (type !== 'function' && type !== 'custom') return true;
  return false;
}

/**
 * What the hold must cover besides tokens; `undefined`: nothing, which is the common case. Sets the limits that some members
 * need in the call itself. Throws `invalid_request` for a member that the model's price does not cover.
 */
export function extrasOf(call: Call, policy: ExtrasPolicy): Extras | undefined {
  const counter = new ExtrasCounter(call, policy);
  for (const dialect in call.extras) {
    const members = call.extras[dialect]!;
    for (const member in members) if (ROWS.has(member)) counter.member(dialect, member, members);
    if (isObject(members.extra_body)) counter.nested(dialect, members.extra_body);
  }
  if (call.kind === 'image' && call.partialImages !== undefined)
    counter.member(call.origin.dialect, 'partial_images', { partial_images: call.partialImages });
  if (call.kind === 'chat')
    for (const tool of call.tools) if (tool.type === 'web-search' || tool.type === 'native') counter.tool(call, tool);
  return counter.finish();
}

/** Provider types that take `max_tool_calls`. */
const COUNTS_TOOLS: ReadonlySet<string> = new Set(['openai', 'azure', 'openrouter']);

/** Members that request tools at the provider. */
const SEARCHES: ReadonlySet<string> = new Set(['tools', 'web_search_options']);

type RunTool = Extract<Tool, { type: 'web-search' | 'native' }>;

class ExtrasCounter {
  readonly #call: Call;
  readonly #policy: ExtrasPolicy;
  #found: { -readonly [unit in keyof Extras]: Extras[unit] } | undefined;
  #destinations: readonly Destination[] | undefined;
  #changed: { [member: string]: Json } | undefined;
  #boundsTools = false;

  constructor(call: Call, policy: ExtrasPolicy) {
    this.#call = call;
    this.#policy = policy;
  }

  member(dialect: string, member: string, members: JsonObject): void {
    const value = members[member] ?? null;
    if (value === null) return;
    for (const row of ROWS.get(member) ?? []) {
      if (!row.formats.includes(dialect) || !this.#isSentBy(row, dialect)) continue;
      const effect = row.effect(value, members);
      if (effect === undefined) continue;
      if (effect === 'rate')
        this.#unpriced(member, 'changes what the whole call costs, and there is no price for that');
      else if (effect === 'route') this.#boundRoute(dialect, member, value as JsonObject);
      else if (effect === 'thinking') this.#boundThinking(dialect);
      else if ('tools' in effect) this.#tools(member, effect.tools, effect.certain ?? 1);
      else this.#add(effect);
    }
  }

  /** Members of `extra_body`, which some servers merge into the body and others ignore. */
  nested(dialect: string, members: JsonObject): void {
    for (const member in members) {
      const value = members[member] ?? null;
      if (member === 'extra_body' && isObject(value)) this.nested(dialect, value);
      if (SEARCHES.has(member) && value !== null && this.#sent().some(({ type }) => TOOL_FEES[type]))
        this.#nestedTool(member);
      const isCharged = ROWS.get(member)?.some(
        (row) => row.formats.includes(dialect) && value !== null && row.effect(value, members) !== undefined,
      );
      if (isCharged) this.#unpriced(`extra_body.${member}`, 'must stand at the top of the body, where it is held for');
    }
  }

  tool(call: ChatCall, tool: RunTool): void {
    const name = nameOf(tool);
    if (FREE_TOOLS[tool.dialect]?.names.test(name)) return;
    const { perToolCall, perToolUse } = this.#policy.price;
    // A model with a price for tools is taken to run them, whatever its provider's type is.
    const unknown = perToolCall || perToolUse ? 'all' : undefined;
    const isSent = this.#sent().some(({ type, dialect }) => {
      const fees = TOOL_FEES[type];
      const taken = fees ? fees.taken[dialect] : unknown;
      return tool.type === 'native' ? taken !== undefined && tool.dialect === dialect : taken === 'all';
    });
    if (!isSent) return;
    if (name.startsWith(IMAGE_TOOL)) {
      this.#imageTool(call, tool, name);
      return;
    }
    const asked = askedCalls(call, tool);
    this.#tools('tools', this.#mostCalls(asked), tool.type === 'web-search' ? 1 : 0, name);
    if (this.#policy.price.perToolCall) this.#boundTool(call, tool, asked ?? USUAL_TOOL_CALLS);
  }

  #imageTool(call: ChatCall, tool: RunTool, name: string): void {
    const { imageOutput, perImage, images } = this.#policy.price;
    if (imageOutput === undefined && perImage === undefined && !images) {
      this.#unpricedTool('tools', `the tool \`${name}\` makes images, and the price of the model has no \`perImage\``);
      return;
    }
    const asked = askedCalls(call, tool) ?? USUAL_IMAGES;
    this.#add({ images: this.#mostCalls(asked) });
    this.#boundTool(call, tool, asked);
  }

  /** The most calls of the tool at any destination. A limit counts only where the destination's format can express it. */
  #mostCalls(asked = USUAL_TOOL_CALLS): number {
    let most = 0;
    for (const { type, dialect } of this.#sent()) {
      const { once, bound } = TOOL_FORMATS[dialect] ?? {};
      const isLimited = bound === 'max_uses' || (bound === 'max_tool_calls' && COUNTS_TOOLS.has(type));
      const usual = isLimited ? asked : Math.max(asked, USUAL_TOOL_CALLS);
      most = Math.max(most, once ? 1 : usual);
    }
    return most;
  }

  /** Limits the calls of the tool to those that the hold covers, in formats that have a member for it. */
  #boundTool(call: ChatCall, tool: RunTool, most: number): void {
    if (tool.type === 'web-search') tool.maxUses = most;
    const { dialect } = call.origin;
    if (tool.dialect !== dialect) return;
    const bound = TOOL_FORMATS[dialect]?.bound;
    if (bound === 'max_uses') this.#boundsTools = true;
    if (bound !== 'max_tool_calls' || isCount(call.extras[dialect]?.max_tool_calls)) return;
    const isReadThere = this.#sent().some((one) => one.dialect === dialect && COUNTS_TOOLS.has(one.type));
    if (isReadThere) this.#set(dialect, bound, most);
  }

  finish(): Extras | undefined {
    const { origin } = this.#call;
    let changed = this.#changed;
    if (this.#boundsTools) changed = { ...changed, ...boundedTools(origin.body) };
    if (changed && origin.body.length > 0) origin.body = patchMembers(origin.body, changed);
    return this.#found;
  }

  #isSentBy({ types }: MemberRow, dialect: string): boolean {
    return this.#sent().some((one) => one.dialect === dialect && (types === undefined || types.includes(one.type)));
  }

  #sent(): readonly Destination[] {
    this.#destinations ??= this.#policy.destinations();
    return this.#destinations;
  }

  #add(tokens: Partial<Extras>): void {
    this.#found ??= { output: 0, imageInput: 0, imageOutput: 0, images: 0, toolCalls: 0, certainCalls: 0 };
    const found = this.#found;
    for (const unit of Object.keys(tokens) as (keyof Extras)[]) found[unit] += tokens[unit] ?? 0;
  }

  /** `certain`: calls that the provider always makes and never reports. */
  #tools(member: string, count: number, certain: number, tool?: string): void {
    const { perToolCall, perToolUse } = this.#policy.price;
    if (perToolCall === undefined && perToolUse === undefined) {
      const what = tool === undefined ? 'runs tools at the provider' : `the tool \`${tool}\` runs at the provider`;
      this.#unpricedTool(member, `${what}, and the price of the model has neither \`perToolCall\` nor \`perToolUse\``);
    } else this.#add({ toolCalls: count, certainCalls: certain });
  }

  /** Limits what a host may cost to the model's own price. */
  #boundRoute(dialect: string, member: string, value: JsonObject): void {
    const bounded = boundedRoute(value, this.#policy.price);
    if (bounded !== value) this.#set(dialect, member, bounded);
  }

  #boundThinking(dialect: string): void {
    const { ceiling } = this.#policy;
    this.#set(dialect, 'thinking_budget', ceiling);
    this.#add({ output: ceiling });
  }

  #set(dialect: string, member: string, value: Json): void {
    this.#changed = { ...this.#changed, [member]: value };
    this.#call.extras = {
      ...this.#call.extras,
      [dialect]: { ...this.#call.extras[dialect], [member]: value },
    };
  }

  /** A nested member is not covered by the hold, even if the model has a price for it. */
  #nestedTool(member: string): void {
    const { perToolCall, perToolUse } = this.#policy.price;
    const why = 'must stand at the top of the body, where it is held for';
    if (perToolCall === undefined && perToolUse === undefined) this.#unpricedTool(`extra_body.${member}`, why);
    else this.#unpriced(`extra_body.${member}`, why);
  }

  #unpricedTool(param: string, why: string): void {
    if (this.#policy.unpriced === 'refuse') this.#unpriced(param, why);
  }

  #unpriced(param: string, why: string): void {
    if (this.#policy.unpriced === 'allow') return;
    const sentence = `\`${param}\`: ${why}. Leave it out, or ask the operator: docs/reference/priced-members.md.`;
    throw new GatewayError('invalid_request', sentence, { param });
  }
}

/** Anthropic's searches, each limited to the number that the hold covers where the client sets no limit. */
function boundedTools(body: Uint8Array): { tools?: Json } {
  const { tools } = pickMembers(body, new Set(['tools']));
  if (!Array.isArray(tools)) return {};
  const isOpen = (tool: Json) =>
    isObject(tool) && /^web_(search|fetch)/.test(String(tool.type)) && !isCount(tool.max_uses);
  if (!tools.some(isOpen)) return {};
  return {
    tools: tools.map((tool) => (isOpen(tool) ? { ...(tool as JsonObject), max_uses: USUAL_TOOL_CALLS } : tool)),
  };
}

/** The tool's name in its format: `web_search`, `googleSearch`. */
function nameOf(tool: RunTool): string {
  if (tool.type === 'web-search') return TOOL_FORMATS[tool.dialect]?.search ?? 'web_search';
  return textOr(tool.item.type, Object.keys(tool.item)[0] ?? 'tool');
}

function textOr(value: Json | undefined, other: string): string {
  return typeof value === 'string' ? value : other;
}

/** The limit that the request sets; `undefined`: it sets none. */
function askedCalls({ origin, extras }: ChatCall, tool: RunTool): number | undefined {
  const bound = TOOL_FORMATS[origin.dialect]?.bound;
  const options = tool.type === 'web-search' ? tool.options : tool.item;
  const limit = bound === 'max_uses' ? options.max_uses : bound && extras[origin.dialect]?.[bound];
  return isCount(limit) ? limit : undefined;
}

function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** OpenRouter's `provider`, with a `max_price` no higher than the model's own price. */
export function boundedRoute(value: JsonObject, { input, output, perCall }: Price): JsonObject {
  if (input === undefined && output === undefined && perCall === undefined) return value;
  const given = isObject(value.max_price) ? value.max_price : {};
  const most: JsonObject = { ...given };
  if (input !== undefined) most.prompt = lower(given.prompt, writePricePerMillion(input));
  if (output !== undefined) most.completion = lower(given.completion, writePricePerMillion(output));
  return { ...value, max_price: most };
}

function lower(given: Json | undefined, ours: string): number {
  const most = Number(ours);
  const asked = typeof given === 'number' || typeof given === 'string' ? Number(given) : Number.NaN;
  return asked >= 0 && asked < most ? asked : most;
}
