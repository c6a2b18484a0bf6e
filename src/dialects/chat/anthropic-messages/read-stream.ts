/** Converts the events of a stream, or a non-streaming message, to canonical events. */
import type { ChatCall } from '../../../canonical/call.ts';
import { grown } from '../../../canonical/grown-text.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, ReplyEvent, ReplyStart } from '../../../canonical/reply.ts';
import type { UsageSource } from '../../../canonical/usage.ts';
import { textOf } from '../../shared/json-values.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { BlockDecoder, type OpenBlock } from '../reply/block-decoder.ts';
import { unreadable } from '../reply/sse-reader.ts';
import { readCitation } from './citations.ts';
import { readStreamError } from './errors.ts';
import { readFinish } from './finish.ts';
import { OF_TEXT, readHidden, readSignature } from './thinking-blocks.ts';
import { legalToolId, legalToolName } from './tool-names.ts';
import { readTier, readUsage } from './usage.ts';

type MessagesBlockKind = 'text' | 'thinking' | 'native' | 'nothing';

interface MessagesBlock extends OpenBlock<MessagesBlockKind> {
  /** The block as it began. */
  item: JsonObject;
  signature: string;
  citations: Json[];
}

/** Members that no other format has. */
const ASIDES = ['container', 'context_management', 'diagnostics'] as const;
const USUAL_PLACES: ReadonlySet<string> = new Set(['not_available', 'global']);

export class MessagesDecoder extends BlockDecoder<MessagesBlockKind, MessagesBlock> {
  /** The part of each tool call and of the last text, for signatures in a block of their own. */
  readonly #owners = new Map<string, number>();
  /** Without a prototype, so that a member named `__proto__` is one like any other. */
  readonly #usage: JsonObject = Object.create(null);
  #growing: MessagesBlock | undefined;
  #hasNewUsage = false;
  #finish: Finish | undefined;
  #hasFinished = false;
  started = false;

  constructor(call: ChatCall) {
    super(call, legalToolName);
  }

  /** Whether a block is open. */
  get isInBlock(): boolean {
    return this.blocks.size > 0;
  }

  /** One more text for the block of the last delta that was read. */
  grow(text: string): void {
    if (this.#growing) this.#growing.gathered = grown(this.#growing.gathered, text);
  }

  /** Converts one event of a stream. */
  read(payload: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.events = events;
    switch (payload.type) {
      case 'message_start':
        if (isObject(payload.message) && !this.started) this.#start(payload.message, false);
        break;
      case 'content_block_start':
        if (isObject(payload.content_block)) this.#open(indexOf(payload), payload.content_block);
        break;
      case 'content_block_delta': {
        const block = this.blocks.get(indexOf(payload));
        this.#growing = block;
        if (block && isObject(payload.delta)) this.#delta(block, payload.delta);
        break;
      }
      case 'content_block_stop':
        this.close(indexOf(payload));
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

  /** Converts a non-streaming message. */
  readWhole(payload: JsonObject): ReplyEvent[] {
    this.ended = true;
    if (!Array.isArray(payload.content)) {
      const error = isObject(payload.error) ? readStreamError(payload.error) : unreadable();
      return [{ type: 'error', error }];
    }
    const events: ReplyEvent[] = [];
    this.events = events;
    this.#start(payload, true);
    this.#end();
    events.push({ type: 'reply-end' });
    return events;
  }

  /** `message_start` may hold a complete message: programmatic tool calls arrive so, followed only by a stop. */
  #start(message: JsonObject, isWhole: boolean): void {
    this.started = true;
    const start: ReplyStart = { type: 'reply-start', id: textOf(message.id), model: textOf(message.model) };
    const extras = readTier(message.usage);
    if (extras.service_tier !== undefined) start.extras = extras;
    this.events.push(start);
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
      this.close(index);
    }
  }

  #noteUsage(usage: JsonObject): void {
    for (const member in usage) {
      const value = usage[member];
      if (value !== undefined && value !== null) this.#usage[member] = value;
    }
    this.#hasNewUsage = true;
  }

  #noteFinish(ending: JsonObject): void {
    const { stop_reason, stop_sequence, stop_details } = ending;
    if (typeof stop_reason === 'string') this.#finish = readFinish(stop_reason, stop_sequence, stop_details);
    for (const name of ASIDES) this.#aside(name, ending[name]);
  }

  /** Reports where and how fast the model ran, if that is not the default. */
  #noteService({ inference_geo: place, speed }: JsonObject): void {
    if (typeof place === 'string' && !USUAL_PLACES.has(place)) this.#aside('inference_geo', place);
    if (typeof speed === 'string' && speed !== 'standard') this.#aside('speed', speed);
  }

  #aside(name: string, value: Json | undefined): void {
    if (value === undefined || value === null) return;
    this.events.push({ type: 'aside', dialect: ANTHROPIC_MESSAGES, members: { [name]: value } });
  }

  /** Emits the finish reason once, and the usage each time it is more accurate. */
  #end(): void {
    if (!this.#hasFinished) {
      this.#hasFinished = true;
      this.closeAll();
      this.events.push({ type: 'choice-end', choice: 0, finish: this.finishFor(this.#finish ?? { reason: 'other' }) });
    }
    if (this.#hasNewUsage) this.#report(this.#usage, 'reported');
    this.#hasNewUsage = false;
  }

  #report(raw: JsonObject, source: UsageSource): void {
    const usage = readUsage(raw, source);
    if (usage) this.events.push({ type: 'usage', usage });
  }

  #open(index: number, item: JsonObject): void {
    this.close(index);
    const block: MessagesBlock = { item, reads: 'nothing', part: -1, gathered: '', signature: '', citations: [] };
    this.blocks.set(index, block);
    switch (item.type) {
      case 'text':
        block.reads = 'text';
        this.openPart(block, { type: 'text' });
        this.#owners.set(OF_TEXT, block.part);
        if (Array.isArray(item.citations)) block.citations.push(...item.citations);
        this.text(block, textOf(item.text));
        return;
      case 'thinking':
        block.reads = 'thinking';
        this.openPart(block, { type: 'reasoning' });
        block.signature = textOf(item.signature);
        this.text(block, textOf(item.thinking));
        return;
      case 'redacted_thinking':
        this.#hidden(block, textOf(item.data));
        return;
      case 'tool_use':
        this.#openToolCall(block, legalToolId(textOf(item.id)), textOf(item.name));
        this.#aside('toolset_name', item.toolset_name);
        if (isObject(item.caller) && item.caller.type !== 'direct') this.#aside('caller', item.caller);
        return;
      default:
        block.reads = 'native';
    }
  }

  #openToolCall(block: MessagesBlock, id: string, name: string): void {
    this.openCall(block, id, name);
    if (block.reads === 'input' || block.reads === 'free-text') this.#owners.set(id, block.part);
  }

  #hidden(block: MessagesBlock, data: string): void {
    const { signature, of } = readHidden(data);
    const owner = of === undefined ? undefined : this.#owners.get(of);
    if (owner === undefined) this.openPart(block, { type: 'reasoning' });
    this.events.push({ type: 'part-signature', choice: 0, part: owner ?? block.part, signature });
  }

  #delta(block: MessagesBlock, delta: JsonObject): void {
    switch (delta.type) {
      case 'text_delta':
        if (block.reads === 'text') this.text(block, textOf(delta.text));
        return;
      case 'thinking_delta':
        if (block.reads === 'thinking') this.text(block, textOf(delta.thinking));
        return;
      case 'signature_delta':
        block.signature += textOf(delta.signature);
        return;
      case 'input_json_delta':
        this.input(block, textOf(delta.partial_json));
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

  protected override inputOf({ gathered, item }: MessagesBlock): string {
    return gathered === '' ? JSON.stringify(item.input ?? {}) : gathered;
  }

  protected override complete(block: MessagesBlock, reads: MessagesBlockKind): void {
    switch (reads) {
      case 'text':
        for (const item of block.citations) {
          const citation = readCitation(item, block.gathered);
          this.events.push({ type: 'part-citation', choice: 0, part: block.part, citation });
        }
        return;
      case 'thinking': {
        const signature = readSignature(block.signature);
        if (signature) this.events.push({ type: 'part-signature', choice: 0, part: block.part, signature });
        return;
      }
      case 'native':
        this.openPart(block, { type: 'native', dialect: ANTHROPIC_MESSAGES, item: providerItem(block) });
        return;
      case 'nothing':
        return;
      default:
        reads satisfies never;
    }
  }
}

function providerItem({ gathered, item }: MessagesBlock): JsonObject {
  if (gathered === '') return item;
  try {
    return { ...item, input: JSON.parse(gathered) as Json };
  } catch {
    return { ...item, input: { raw: gathered } };
  }
}

function indexOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : -1;
}
