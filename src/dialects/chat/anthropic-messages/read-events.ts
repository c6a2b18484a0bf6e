/** What the events of a stream, or a whole message, mean. */
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import type { UsageSource } from '../../../canonical/usage.ts';
import { answerToolName, isAnswerWrapped, unwrapAnswer, unwrapFreeText } from '../wrapped-tools.ts';
import { readCitation } from './citations.ts';
import { readFinish } from './finish.ts';
import { legalToolId, legalToolName } from './legal-names.ts';
import { ANTHROPIC_MESSAGES } from './name.ts';
import { readStreamError } from './read-error.ts';
import { OF_TEXT, readHidden, readSignature } from './thinking-blocks.ts';
import { readTier, readUsage } from './usage.ts';

type ReplyStart = Extract<ReplyEvent, { type: 'reply-start' }>;

interface Block {
  /** The block as it began. */
  item: JsonObject;
  /** How its deltas are read: as they come, or gathered until it ends. */
  reads: 'text' | 'thinking' | 'input' | 'free-text' | 'answer' | 'wrapped-answer' | 'vendor' | 'nothing';
  /** -1 until the part opens. */
  part: number;
  gathered: string;
  signature: string;
  citations: Json[];
}

/** What no other format has a word for. */
const ASIDES = ['container', 'context_management', 'diagnostics'] as const;
const USUAL_PLACES: ReadonlySet<string> = new Set(['not_available', 'global']);

export class Decoder {
  readonly #answerTool: string | undefined;
  readonly #isAnswerWrapped: boolean;
  /** The client's own names of tools whose names had to be mapped, and the tools that take free text. */
  #names: Map<string, string> | undefined;
  #freeText: Set<string> | undefined;
  readonly #blocks = new Map<number, Block>();
  /** The part of each tool call and of the last text, for seals that come in a block of their own. */
  readonly #owners = new Map<string, number>();
  #parts = 0;
  readonly #usage: JsonObject = {};
  #hasNewUsage = false;
  #finish: Finish | undefined;
  #sawCall = false;
  #sawAnswer = false;
  #hasFinished = false;
  #events: ReplyEvent[] = [];
  started = false;
  /** The reply has come to its end, good or bad. */
  ended = false;

  constructor(call: ChatCall) {
    const { output, tools } = call;
    this.#answerTool = output?.type === 'json-schema' ? answerToolName(call, legalToolName) : undefined;
    this.#isAnswerWrapped = output?.type === 'json-schema' && isAnswerWrapped(output);
    for (const tool of tools) {
      if (tool.type !== 'function' && tool.type !== 'custom') continue;
      const legal = legalToolName(tool.name);
      if (legal !== tool.name) this.#rename(legal, tool.name);
      if (tool.type !== 'custom') continue;
      this.#freeText ??= new Set();
      this.#freeText.add(legal);
    }
  }

  /** A block has begun and not ended. */
  get isInBlock(): boolean {
    return this.#blocks.size > 0;
  }

  #rename(legal: string, name: string): void {
    this.#names ??= new Map();
    this.#names.set(legal, name);
  }

  /** The events that one event of a stream stands for. */
  read(payload: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.#events = events;
    switch (payload.type) {
      case 'message_start':
        if (isObject(payload.message) && !this.started) this.#start(payload.message, false);
        break;
      case 'content_block_start':
        if (isObject(payload.content_block)) this.#open(indexOf(payload), payload.content_block);
        break;
      case 'content_block_delta': {
        const block = this.#blocks.get(indexOf(payload));
        if (block && isObject(payload.delta)) this.#delta(block, payload.delta);
        break;
      }
      case 'content_block_stop':
        this.#close(indexOf(payload));
        break;
      case 'message_delta':
        if (isObject(payload.usage)) this.#noteUsage(payload.usage);
        if (isObject(payload.delta)) this.#noteFinish(payload.delta);
        if (this.#finish) this.#end();
        break;
      case 'message_stop':
        this.#end();
        this.ended = true;
        events.push({ type: 'reply-end' });
        break;
      case 'error':
        this.ended = true;
        events.push({ type: 'error', error: readStreamError(payload.error) });
        break;
      default:
    }
    return events;
  }

  /** The events of a whole message. */
  readWhole(payload: JsonObject): ReplyEvent[] {
    this.ended = true;
    if (!Array.isArray(payload.content)) {
      const error = isObject(payload.error) ? readStreamError(payload.error) : unreadable();
      return [{ type: 'error', error }];
    }
    const events: ReplyEvent[] = [];
    this.#events = events;
    this.#start(payload, true);
    this.#end();
    events.push({ type: 'reply-end' });
    return events;
  }

  /** A message that begins may be whole already: programmatic tool calls come so, with nothing but a stop behind them. */
  #start(message: JsonObject, isWhole: boolean): void {
    this.started = true;
    const start: ReplyStart = { type: 'reply-start', id: textOf(message.id), model: textOf(message.model) };
    const extras = readTier(message.usage);
    if (extras.service_tier !== undefined) start.extras = extras;
    this.#events.push(start);
    if (isObject(message.usage)) {
      this.#noteUsage(message.usage);
      if (!isWhole) this.#report(message.usage, 'partial');
    }
    this.#noteFinish(message);
    if (isObject(message.usage)) this.#noteService(message.usage);
    const content = Array.isArray(message.content) ? message.content : [];
    for (let index = 0; index < content.length; index++) {
      const block = content[index];
      if (!isObject(block)) continue;
      this.#open(index, block);
      this.#close(index);
    }
  }

  #noteUsage(usage: JsonObject): void {
    for (const member in usage) {
      const value = usage[member];
      if (value !== undefined && value !== null) this.#usage[member] = value;
    }
    this.#hasNewUsage = true;
  }

  #noteFinish(said: JsonObject): void {
    const { stop_reason, stop_sequence, stop_details } = said;
    if (typeof stop_reason === 'string') this.#finish = readFinish(stop_reason, stop_sequence, stop_details);
    for (const name of ASIDES) this.#aside(name, said[name]);
  }

  /** Where and how fast the model ran, where that is out of the ordinary. */
  #noteService({ inference_geo: place, speed }: JsonObject): void {
    if (typeof place === 'string' && !USUAL_PLACES.has(place)) this.#aside('inference_geo', place);
    if (typeof speed === 'string' && speed !== 'standard') this.#aside('speed', speed);
  }

  #aside(name: string, value: Json | undefined): void {
    if (value === undefined || value === null) return;
    this.#events.push({ type: 'aside', dialect: ANTHROPIC_MESSAGES, members: { [name]: value } });
  }

  /** Says once why the reply ended and, each time it is known better, what it cost. */
  #end(): void {
    if (!this.#hasFinished) {
      this.#hasFinished = true;
      if (this.#blocks.size > 0) for (const index of this.#blocks.keys()) this.#close(index);
      this.#events.push({ type: 'choice-end', choice: 0, finish: this.#finishSeen() });
    }
    if (this.#hasNewUsage) this.#report(this.#usage, 'reported');
    this.#hasNewUsage = false;
  }

  #report(raw: JsonObject, source: UsageSource): void {
    const usage = readUsage(raw, source);
    if (usage) this.#events.push({ type: 'usage', usage });
  }

  /** A structured answer was a call on the wire alone. */
  #finishSeen(): Finish {
    const finish: Finish = this.#finish ?? { reason: 'other' };
    if (!this.#sawAnswer || this.#sawCall || finish.reason !== 'tool-calls') return finish;
    return { ...finish, reason: 'stop' };
  }

  #open(index: number, item: JsonObject): void {
    this.#close(index);
    const block: Block = { item, reads: 'nothing', part: -1, gathered: '', signature: '', citations: [] };
    this.#blocks.set(index, block);
    switch (item.type) {
      case 'text':
        block.reads = 'text';
        this.#openPart(block, { type: 'text' });
        this.#owners.set(OF_TEXT, block.part);
        if (Array.isArray(item.citations)) block.citations.push(...item.citations);
        this.#text(block, textOf(item.text));
        return;
      case 'thinking':
        block.reads = 'thinking';
        this.#openPart(block, { type: 'reasoning' });
        block.signature = textOf(item.signature);
        this.#text(block, textOf(item.thinking));
        return;
      case 'redacted_thinking':
        this.#hidden(block, textOf(item.data));
        return;
      case 'tool_use':
        this.#openCall(block, textOf(item.id), textOf(item.name));
        this.#aside('toolset_name', item.toolset_name);
        if (isObject(item.caller) && item.caller.type !== 'direct') this.#aside('caller', item.caller);
        return;
      default:
        block.reads = 'vendor';
    }
  }

  #openPart(block: Block, opens: PartOpening): void {
    block.part = this.#parts++;
    this.#events.push({ type: 'part-start', choice: 0, part: block.part, opens });
  }

  #openCall(block: Block, id: string, name: string): void {
    if (name === this.#answerTool) {
      this.#sawAnswer = true;
      block.reads = this.#isAnswerWrapped ? 'wrapped-answer' : 'answer';
      this.#openPart(block, { type: 'text' });
      return;
    }
    this.#sawCall = true;
    const isFreeText = this.#freeText?.has(name) === true;
    block.reads = isFreeText ? 'free-text' : 'input';
    const opens = { type: 'tool-call' as const, id: legalToolId(id), name: this.#names?.get(name) ?? name };
    this.#openPart(block, isFreeText ? { ...opens, custom: true } : opens);
    this.#owners.set(opens.id, block.part);
  }

  #hidden(block: Block, data: string): void {
    const { seal, of } = readHidden(data);
    const owner = of === undefined ? undefined : this.#owners.get(of);
    if (owner === undefined) this.#openPart(block, { type: 'reasoning' });
    this.#events.push({ type: 'part-seal', choice: 0, part: owner ?? block.part, seal });
  }

  #delta(block: Block, delta: JsonObject): void {
    switch (delta.type) {
      case 'text_delta':
        if (block.reads === 'text') this.#text(block, textOf(delta.text));
        return;
      case 'thinking_delta':
        if (block.reads === 'thinking') this.#text(block, textOf(delta.thinking));
        return;
      case 'signature_delta':
        block.signature += textOf(delta.signature);
        return;
      case 'input_json_delta':
        this.#input(block, textOf(delta.partial_json));
        return;
      case 'citations_delta':
        if (delta.citation !== undefined) block.citations.push(delta.citation);
        return;
      case 'compaction_delta':
        block.item = { ...block.item, content: textOf(block.item.content) + textOf(delta.content) };
        return;
      default:
    }
  }

  #text(block: Block, text: string): void {
    if (text === '') return;
    block.gathered += text;
    this.#events.push({ type: 'part-delta', choice: 0, part: block.part, delta: text });
  }

  #input(block: Block, json: string): void {
    if (block.reads === 'input' || block.reads === 'answer') this.#text(block, json);
    else block.gathered += json;
  }

  #close(index: number): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    switch (block.reads) {
      case 'text':
        for (const item of block.citations) {
          const citation = readCitation(item, block.gathered);
          this.#events.push({ type: 'part-citation', choice: 0, part: block.part, citation });
        }
        break;
      case 'thinking': {
        const seal = readSignature(block.signature);
        if (seal) this.#events.push({ type: 'part-seal', choice: 0, part: block.part, seal });
        break;
      }
      case 'input':
      case 'answer':
        if (block.gathered === '') this.#text(block, inputOf(block));
        break;
      case 'free-text':
        this.#text(block, unwrapFreeText(inputOf(block)));
        break;
      case 'wrapped-answer':
        this.#text(block, unwrapAnswer(inputOf(block)));
        break;
      case 'vendor':
        this.#openPart(block, { type: 'vendor', dialect: ANTHROPIC_MESSAGES, item: vendorItem(block) });
        break;
      case 'nothing':
        break;
      default:
        block.reads satisfies never;
    }
    if (block.part >= 0) this.#events.push({ type: 'part-end', choice: 0, part: block.part });
  }
}

/** The input as it streamed, or as it stood in the block from the beginning. */
function inputOf({ gathered, item }: Block): string {
  return gathered === '' ? JSON.stringify(item.input ?? {}) : gathered;
}

function vendorItem({ gathered, item }: Block): JsonObject {
  if (gathered === '') return item;
  try {
    return { ...item, input: JSON.parse(gathered) as Json };
  } catch {
    return { ...item, input: { raw: gathered } };
  }
}

export function unreadable(): GatewayError {
  return new GatewayError('upstream_failed', 'The model sent a reply that cannot be read.');
}

function indexOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : -1;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
