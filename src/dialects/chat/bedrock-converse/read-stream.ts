/** Converts the events of a stream, or a non-streaming reply, to canonical events. */
import type { ChatCall, Citation } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, ReplyEvent } from '../../../canonical/reply.ts';
import { objectOf, objectsIn, textOf } from '../../shared/json-values.ts';
import { BEDROCK_CONVERSE } from '../names.ts';
import { BlockDecoder, type OpenBlock } from '../reply/block-decoder.ts';
import { unreadable } from '../reply/sse-reader.ts';
import { readFinish } from './finish.ts';
import { hiddenSignature } from './reasoning-blocks.ts';
import { legalToolName } from './tool-names.ts';
import { readUsage } from './usage.ts';

/** `unopened`: the first delta decides. */
type ConverseBlockKind = 'unopened' | 'text' | 'thinking' | 'image' | 'native';

interface ConverseBlock extends OpenBlock<ConverseBlockKind> {
  signature: string;
  hidden: string;
  /** A provider-specific block, as received so far. */
  item: JsonObject;
  citations: JsonObject[];
}

export class ConverseDecoder extends BlockDecoder<ConverseBlockKind, ConverseBlock> {
  readonly #call: ChatCall;
  #isStarted = false;
  #hasUsage = false;
  /** The finish reason has arrived; only usage may follow. */
  finished = false;

  constructor(call: ChatCall) {
    super(call, legalToolName);
    this.#call = call;
  }

  /** Converts one event of a stream. */
  read(type: string, payload: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.events = events;
    this.#start();
    switch (type) {
      case 'contentBlockStart':
        if (!this.finished) this.#open(indexOf(payload), objectOf(payload.start));
        break;
      case 'contentBlockDelta':
        if (!this.finished) this.#delta(indexOf(payload), objectOf(payload.delta));
        break;
      case 'contentBlockStop':
        this.close(indexOf(payload));
        break;
      case 'messageStop':
        this.#finish(readFinish(textOf(payload.stopReason), payload.additionalModelResponseFields));
        if (this.#hasUsage) this.#end();
        break;
      case 'metadata':
        this.#usage(payload.usage);
        if (this.finished) this.#end();
        break;
      default:
    }
    return events;
  }

  /** Ends the reply when the bytes end: some models omit the events after the finish reason. */
  over(): ReplyEvent[] {
    this.events = [];
    if (!this.ended && this.finished) this.#end();
    return this.events;
  }

  /** Converts a non-streaming reply. */
  readWhole(payload: JsonObject): ReplyEvent[] {
    const content = objectOf(objectOf(payload.output).message).content;
    if (!Array.isArray(content)) return [{ type: 'error', error: unreadable() }];
    this.events = [];
    this.#start();
    for (const [index, block] of content.entries()) if (isObject(block)) this.#wholeBlock(index, block);
    this.#finish(readFinish(textOf(payload.stopReason), payload.additionalModelResponseFields));
    this.#usage(payload.usage);
    this.#end();
    return this.events;
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.events.push({ type: 'reply-start', id: '', model: this.#call.model });
  }

  #usage(usage: Json | undefined): void {
    if (!isObject(usage)) return;
    this.#hasUsage = true;
    const read = readUsage(usage);
    if (read) this.events.push({ type: 'usage', usage: read });
  }

  #finish(finish: Finish): void {
    if (this.finished) return;
    this.finished = true;
    this.closeAll();
    this.events.push({ type: 'choice-end', choice: 0, finish: this.finishFor(finish) });
  }

  #end(): void {
    this.ended = true;
    this.events.push({ type: 'reply-end' });
  }

  /** Reads a complete block as one that opens, gets one delta and closes. */
  #wholeBlock(index: number, block: JsonObject): void {
    if (isObject(block.toolUse)) {
      const { input, ...start } = block.toolUse;
      this.#open(index, { toolUse: start });
      this.#delta(index, { toolUse: { input: typeof input === 'string' ? input : JSON.stringify(input ?? {}) } });
    } else if (isObject(block.citationsContent)) {
      const { content, citations } = block.citationsContent;
      for (const one of objectsIn(content)) this.#delta(index, one);
      for (const citation of objectsIn(citations)) this.#delta(index, { citation });
    } else if (isObject(block.reasoningContent)) {
      const { reasoningText, redactedContent } = block.reasoningContent;
      const reasoning = isObject(reasoningText) ? reasoningText : { redactedContent: redactedContent ?? '' };
      this.#delta(index, { reasoningContent: reasoning });
    } else if (isObject(block.image)) {
      this.#open(index, { image: { format: block.image.format ?? 'png' } });
      this.#delta(index, { image: block.image });
    } else if (typeof block.text === 'string') this.#delta(index, { text: block.text });
    else this.#openProviderBlock(index, block);
    this.close(index);
  }

  #open(index: number, start: JsonObject): void {
    this.close(index);
    const block = this.#newBlock(index);
    const { toolUse, toolResult, image } = start;
    if (isObject(toolUse) && (toolUse.type === undefined || toolUse.type === 'tool_use')) {
      this.openCall(block, textOf(toolUse.toolUseId), textOf(toolUse.name));
    } else if (isObject(toolUse) || isObject(toolResult)) {
      block.reads = 'native';
      block.item = start;
    } else if (isObject(image)) {
      block.reads = 'image';
      this.openPart(block, { type: 'image', mimeType: `image/${textOf(image.format) || 'png'}` });
    }
  }

  #openProviderBlock(index: number, item: JsonObject): void {
    const block = this.#newBlock(index);
    block.reads = 'native';
    block.item = item;
  }

  #newBlock(index: number): ConverseBlock {
    const block: ConverseBlock = {
      reads: 'unopened',
      part: -1,
      gathered: '',
      signature: '',
      hidden: '',
      item: {},
      citations: [],
    };
    this.blocks.set(index, block);
    return block;
  }

  /** Text and thinking have no start event; their first delta opens the part. */
  #delta(index: number, delta: JsonObject): void {
    const block = this.blocks.get(index) ?? this.#newBlock(index);
    const { text, toolUse, reasoningContent, citation, image } = delta;
    if (block.reads === 'native') {
      addToItem(block, delta);
    } else if (typeof text === 'string') {
      this.#ensure(block, 'text');
      this.text(block, text);
    } else if (isObject(citation)) {
      this.#ensure(block, 'text');
      block.citations.push(citation);
    } else if (isObject(toolUse)) {
      this.input(block, textOf(toolUse.input));
    } else if (isObject(reasoningContent)) {
      this.#ensure(block, 'thinking');
      block.signature += textOf(reasoningContent.signature);
      block.hidden += textOf(reasoningContent.redactedContent);
      this.text(block, textOf(reasoningContent.text));
    } else if (isObject(image) && block.reads === 'image') {
      this.text(block, textOf(objectOf(image.source).bytes));
    }
  }

  #ensure(block: ConverseBlock, reads: 'text' | 'thinking'): void {
    if (block.reads !== 'unopened') return;
    block.reads = reads;
    this.openPart(block, { type: reads === 'text' ? 'text' : 'reasoning' });
  }

  protected override inputOf({ gathered }: ConverseBlock): string {
    return gathered === '' ? '{}' : gathered;
  }

  protected override complete(block: ConverseBlock, reads: ConverseBlockKind): void {
    switch (reads) {
      case 'text':
        for (const citation of block.citations) this.#cite(block, citation);
        return;
      case 'thinking':
        this.#addSignature(block);
        return;
      case 'native':
        this.openPart(block, { type: 'native', dialect: BEDROCK_CONVERSE, item: block.item });
        return;
      case 'image':
      case 'unopened':
        return;
      default:
        reads satisfies never;
    }
  }

  #cite({ part, gathered }: ConverseBlock, item: JsonObject): void {
    this.events.push({ type: 'part-citation', choice: 0, part, citation: readCitation(item, gathered) });
  }

  #addSignature({ part, signature, hidden }: ConverseBlock): void {
    const value = hidden === '' ? signature : hiddenSignature(hidden);
    if (value === '') return;
    this.events.push({ type: 'part-signature', choice: 0, part, signature: { dialect: BEDROCK_CONVERSE, value } });
  }
}

/** Adds the input and results of a tool that runs at the provider. */
function addToItem(block: ConverseBlock, { toolUse, toolResult }: JsonObject): void {
  if (isObject(toolUse) && isObject(block.item.toolUse)) {
    block.gathered += textOf(toolUse.input);
    block.item = { toolUse: { ...block.item.toolUse, input: inputOf(block.gathered) } };
  } else if (Array.isArray(toolResult) && isObject(block.item.toolResult)) {
    const content = Array.isArray(block.item.toolResult.content) ? block.item.toolResult.content : [];
    block.item = { toolResult: { ...block.item.toolResult, content: [...content, ...toolResult] } };
  }
}

function inputOf(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return json;
  }
}

/** A citation covers the whole text of its block. */
function readCitation(item: JsonObject, text: string): Citation {
  const url = objectOf(objectOf(item.location).web).url ?? item.source;
  const cited = objectsIn(item.sourceContent).map((one) => textOf(one.text));
  return {
    start: 0,
    end: Array.from(text).length,
    ...(typeof url === 'string' && { url }),
    ...(typeof item.title === 'string' && { title: item.title }),
    ...(cited.length > 0 && { citedText: cited.join('') }),
    native: { dialect: BEDROCK_CONVERSE, item },
  };
}

function indexOf({ contentBlockIndex }: JsonObject): number {
  return typeof contentBlockIndex === 'number' ? contentBlockIndex : -1;
}
