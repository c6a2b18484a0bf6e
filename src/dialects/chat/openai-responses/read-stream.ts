/** Converts the events and the final object of a response to canonical events. */
import type { ChatCall } from '../../../canonical/call.ts';
import { grown } from '../../../canonical/grown-text.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import { textOf } from '../../shared/json-values.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { type ClientTool, clientTools } from '../request/legal-names.ts';
import { readAnnotation } from './citations.ts';
import { thoughtsIn } from './read-items.ts';
import { memberSignature, OF_TEXT, readEncrypted } from './signatures.ts';
import { legalToolName } from './tool-names.ts';

interface ReadResponsesPart {
  part: number;
  type: PartOpening['type'];
  /** The text so far. */
  text: string;
  citations: number;
  hasLogprobs: boolean;
  isOver: boolean;
}

interface ItemState {
  item: JsonObject;
  /** By content index. An item with a single part has it at 0. */
  parts: Map<number, ReadResponsesPart>;
  /** The index of the current reasoning summary part. */
  piece: number;
  isOver: boolean;
}

/** Members that no other format has. */
const ASIDES = ['moderation', 'prompt_cache_diagnostics', 'tool_usage'] as const;

const CHOICE = 0;
const PIECE_BREAK = '\n\n';

export class ResponsesDecoder {
  readonly #quirks: Quirks;
  readonly #tools: ReadonlyMap<string, ClientTool>;
  readonly #items = new Map<number, ItemState>();
  readonly #calls = new Map<string, number>();
  #started = false;
  #parts = 0;
  #lastText = -1;
  #events: ReplyEvent[] = [];

  constructor(call: ChatCall, quirks: Quirks) {
    this.#quirks = quirks;
    this.#tools = clientTools(call.tools, legalToolName);
  }

  /** Converts one event of a stream. Returns none for what only this format can express. */
  read(payload: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.#events = events;
    const { type, output_index: index, response } = payload;
    if (isObject(response)) this.#start(response);
    if (typeof index === 'number') this.#itemEvent(String(type), index, payload);
    return events;
  }

  /** Ends the reply with its final object. */
  finish(response: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.#events = events;
    this.#start(response);
    const output = Array.isArray(response.output) ? response.output : [];
    const seen = this.#items.size;
    output.forEach((item, index) => {
      if (!isObject(item)) return;
      const state = this.#items.get(index);
      // Some providers list only some items. An item counts as new only if it cannot have been received before.
      if (state ? !state.isOver && state.item.type === item.type : index >= seen) this.#settle(index, item);
    });
    for (const state of this.#items.values()) this.#closeAll(state);
    for (const name of ASIDES) {
      const value = response[name];
      if (value === undefined || value === null || Object.keys(value).length === 0) continue;
      events.push({ type: 'aside', dialect: OPENAI_RESPONSES, members: { [name]: value } });
    }
    const usage = isObject(response.usage) ? readUsage(response.usage, this.#quirks) : undefined;
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  /** The last events of a complete reply. */
  ending(response: JsonObject): ReplyEvent[] {
    return [
      { type: 'choice-end', choice: CHOICE, finish: finishOf(response, this.#calls.size > 0) },
      { type: 'reply-end' },
    ];
  }

  #start({ id, model, created_at: created, service_tier: tier }: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({
      type: 'reply-start',
      id: textOf(id),
      model: textOf(model),
      ...(typeof created === 'number' && { createdSeconds: Math.floor(created) }),
      ...(typeof tier === 'string' && { extras: { service_tier: tier } }),
    });
  }

  #itemEvent(type: string, index: number, payload: JsonObject): void {
    const at = numberOf(payload.content_index);
    const delta = textOf(payload.delta);
    switch (type) {
      case 'response.output_item.added':
        if (isObject(payload.item)) this.#added(index, payload.item);
        return;
      case 'response.output_item.done':
        if (isObject(payload.item)) this.#settle(index, payload.item);
        return;
      case 'response.output_text.delta':
        this.#textDelta(index, at, 'text', delta, payload.logprobs);
        return;
      case 'response.refusal.delta':
        this.#textDelta(index, at, 'refusal', delta);
        return;
      case 'response.output_text.annotation.added':
        this.#cite(this.#open(this.#item(index, 'message'), at, { type: 'text' }), payload.annotation);
        return;
      case 'response.reasoning_summary_text.delta':
        this.#thought(index, numberOf(payload.summary_index), delta, true);
        return;
      case 'response.reasoning_text.delta':
        this.#thought(index, at, delta, false);
        return;
      case 'response.image_generation_call.partial_image':
        this.#events.push({ type: 'aside', dialect: OPENAI_RESPONSES, members: {}, isPartialImage: true });
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const call = this.#items.get(index)?.parts.get(0);
        if (call) this.#grow(call, delta);
        return;
      }
    }
  }

  #item(index: number, type: string): ItemState {
    let state = this.#items.get(index);
    if (!state) {
      state = { item: { type }, parts: new Map(), piece: 0, isOver: false };
      this.#items.set(index, state);
    }
    return state;
  }

  #added(index: number, item: JsonObject): void {
    const state = this.#item(index, textOf(item.type));
    state.item = item;
    if (item.type === 'function_call' || item.type === 'custom_tool_call') this.#openCall(state, item);
  }

  #openCall(state: ItemState, item: JsonObject): ReadResponsesPart | undefined {
    const known = state.parts.get(0);
    const wireName = textOf(item.name);
    if (known || wireName === '') return known;
    const id = textOf(item.call_id) || textOf(item.id);
    const name = this.#tools.get(wireName)?.name ?? wireName;
    const isCustom = item.type === 'custom_tool_call';
    const call = this.#open(state, 0, { type: 'tool-call', id, name, ...(isCustom && { custom: true }) });
    this.#calls.set(id, call.part);
    return call;
  }

  /** Opens or returns the part at this content index. A new part ends those before it. */
  #open(state: ItemState, at: number, opens: PartOpening): ReadResponsesPart {
    const known = state.parts.get(at);
    if (known) return known;
    this.#closeAll(state);
    const part = this.#parts++;
    const opened = { part, type: opens.type, text: '', citations: 0, hasLogprobs: false, isOver: false };
    state.parts.set(at, opened);
    this.#events.push({ type: 'part-start', choice: CHOICE, part, opens });
    if (opens.type === 'text') {
      this.#lastText = part;
      const signature = memberSignature(state.item);
      if (signature) this.#events.push({ type: 'part-signature', choice: CHOICE, part, signature });
    }
    return opened;
  }

  #grow(part: ReadResponsesPart, delta: string): void {
    if (delta === '') return;
    part.text = grown(part.text, delta);
    this.#events.push({ type: 'part-delta', choice: CHOICE, part: part.part, delta });
  }

  /** Adds the missing rest when the complete text is known. If it contradicts the deltas, the deltas stay. */
  #complete(part: ReadResponsesPart, whole: string): void {
    if (whole.startsWith(part.text)) this.#grow(part, whole.slice(part.text.length));
  }

  #textDelta(index: number, at: number, type: 'text' | 'refusal', delta: string, logprobs?: Json): void {
    const part = this.#open(this.#item(index, 'message'), at, { type });
    this.#grow(part, delta);
    this.#logprobs(part, logprobs);
  }

  #logprobs(part: ReadResponsesPart, logprobs: Json | undefined): void {
    if (!Array.isArray(logprobs) || logprobs.length === 0) return;
    part.hasLogprobs = true;
    this.#events.push({ type: 'part-logprobs', choice: CHOICE, part: part.part, logprobs: logprobs.map(unsigned) });
  }

  #cite(part: ReadResponsesPart, annotation: Json | undefined): void {
    const citation = annotation === undefined ? undefined : readAnnotation(annotation);
    if (!citation) return;
    part.citations++;
    this.#events.push({ type: 'part-citation', choice: CHOICE, part: part.part, citation });
  }

  /** Reasoning arrives as a summary or in full. If a provider sends both, the first one counts. */
  #thought(index: number, piece: number, delta: string, summary: boolean): void {
    const state = this.#item(index, 'reasoning');
    const other = state.parts.get(summary ? 1 : 0);
    if (delta === '' || other) return;
    const part = this.#open(state, summary ? 0 : 1, { type: 'reasoning', ...(summary && { summary }) });
    if (piece !== state.piece && part.text !== '') this.#grow(part, PIECE_BREAK);
    state.piece = piece;
    this.#grow(part, delta);
  }

  /** Ends the item and adds what its deltas did not contain. */
  #settle(index: number, item: JsonObject): void {
    const state = this.#item(index, textOf(item.type));
    if (state.isOver) return;
    state.item = { ...state.item, ...item };
    state.isOver = true;
    switch (item.type) {
      case 'message':
        this.#settleMessage(state, item);
        break;
      case 'reasoning':
        this.#settleReasoning(state, item);
        break;
      case 'function_call':
      case 'custom_tool_call': {
        const call = this.#openCall(state, item);
        const input = textOf(item.type === 'function_call' ? item.arguments : item.input);
        if (!call) break;
        this.#complete(call, input);
        const signature = memberSignature(item);
        if (signature) this.#events.push({ type: 'part-signature', choice: CHOICE, part: call.part, signature });
        break;
      }
      default:
        this.#settleOther(state, item);
    }
    this.#closeAll(state);
  }

  #settleMessage(state: ItemState, { content }: JsonObject): void {
    (Array.isArray(content) ? content : []).forEach((piece, at) => {
      if (!isObject(piece)) return;
      const isRefusal = piece.type === 'refusal';
      const full = textOf(isRefusal ? piece.refusal : piece.text);
      const annotations = Array.isArray(piece.annotations) ? piece.annotations : [];
      if (full === '' && annotations.length === 0 && !state.parts.has(at)) return;
      const part = this.#open(state, at, { type: isRefusal ? 'refusal' : 'text' });
      this.#complete(part, full);
      if (!part.hasLogprobs) this.#logprobs(part, piece.logprobs);
      for (const annotation of annotations.slice(part.citations)) this.#cite(part, annotation);
    });
  }

  #settleReasoning(state: ItemState, item: JsonObject): void {
    const carried = readEncrypted(item.encrypted_content);
    if (carried?.of !== undefined) {
      const part = carried.of === OF_TEXT ? this.#lastText : (this.#calls.get(carried.of) ?? -1);
      if (part >= 0) this.#events.push({ type: 'part-signature', choice: CHOICE, part, signature: carried.signature });
      return;
    }
    const content = thoughtsIn(item.content);
    const summary = thoughtsIn(item.summary);
    const opened = state.parts.get(0) ?? state.parts.get(1);
    const isSummary = opened ? state.parts.has(0) : content === '';
    const full = isSummary ? summary : content;
    if (!opened && full === '' && !carried) return;
    const opens: PartOpening = { type: 'reasoning', ...(isSummary && full !== '' && { summary: true }) };
    const part = opened ?? this.#open(state, isSummary ? 0 : 1, opens);
    this.#complete(part, full);
    if (carried)
      this.#events.push({ type: 'part-signature', choice: CHOICE, part: part.part, signature: carried.signature });
  }

  /** An image, or a tool that ran at the provider. */
  #settleOther(state: ItemState, item: JsonObject): void {
    const { type, result, output_format: format } = item;
    if (type === 'image_generation_call' && typeof result === 'string' && result !== '') {
      const mimeType = `image/${typeof format === 'string' ? format : 'png'}`;
      this.#grow(this.#open(state, 0, { type: 'image', mimeType }), result);
    } else if (typeof type === 'string') {
      this.#open(state, 0, { type: 'native', dialect: OPENAI_RESPONSES, item });
    }
  }

  #closeAll(state: ItemState): void {
    for (const part of state.parts.values()) {
      if (part.isOver) continue;
      part.isOver = true;
      this.#events.push({ type: 'part-end', choice: CHOICE, part: part.part });
    }
  }
}

/**
 * If the output has tool calls, the finish reason says so, even for an ordinary end: clients decide by it whether to
 * run the tools.
 */
function finishOf({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): Finish {
  const why = isObject(details) && typeof details.reason === 'string' ? details.reason : undefined;
  switch (status) {
    case 'incomplete':
      if (why === 'content_filter') return { reason: 'content-filter', raw: why };
      return { reason: why === undefined || why === 'max_output_tokens' ? 'length' : 'other', raw: why ?? status };
    case 'queued':
    case 'in_progress':
      return { reason: 'pause', raw: status };
    case 'cancelled':
      return { reason: 'other', raw: status };
    default:
      return { reason: hasCalls ? 'tool-calls' : 'stop', ...(typeof status === 'string' && { raw: status }) };
  }
}

/** Some providers send -0, which JSON writers cannot express. */
function unsigned(entry: Json): Json {
  return isObject(entry) && entry.logprob === 0 ? { ...entry, logprob: 0 } : entry;
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
