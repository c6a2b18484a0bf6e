/** What the events of a stream, or a whole reply, mean. */
import type { ChatCall, Citation } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import { answerToolName, isAnswerWrapped, unwrapAnswer, unwrapFreeText } from '../wrapped-tools.ts';
import { readFinish } from './finish.ts';
import { legalToolName } from './legal-names.ts';
import { BEDROCK_CONVERSE } from './name.ts';
import { hiddenSeal } from './reasoning-blocks.ts';
import { readUsage } from './usage.ts';

interface Block {
  /** How its deltas are read: as they come, or gathered until it ends. `unopened`: the first delta decides. */
  reads: 'unopened' | 'text' | 'thinking' | 'input' | 'free-text' | 'answer' | 'wrapped-answer' | 'image' | 'vendor';
  /** -1 until the part opens. */
  part: number;
  gathered: string;
  signature: string;
  hidden: string;
  /** A block of the provider's own, as it stands so far. */
  item: JsonObject;
  citations: JsonObject[];
}

export class Decoder {
  readonly #call: ChatCall;
  readonly #answerTool: string | undefined;
  readonly #isAnswerWrapped: boolean;
  /** The client's own names of tools whose names had to be mapped, and the tools that take free text. */
  readonly #names = new Map<string, string>();
  readonly #freeText = new Set<string>();
  readonly #blocks = new Map<number, Block>();
  #parts = 0;
  #events: ReplyEvent[] = [];
  #isStarted = false;
  #hasUsage = false;
  #sawCall = false;
  #sawAnswer = false;
  /** The reply has said why it ended; only what it cost may follow. */
  finished = false;
  /** The reply has come to its end, good or bad. */
  ended = false;

  constructor(call: ChatCall) {
    const { output, tools } = call;
    this.#call = call;
    this.#answerTool = output?.type === 'json-schema' ? answerToolName(call, legalToolName) : undefined;
    this.#isAnswerWrapped = output?.type === 'json-schema' && isAnswerWrapped(output);
    for (const tool of tools) {
      if (tool.type !== 'function' && tool.type !== 'custom') continue;
      const legal = legalToolName(tool.name);
      if (legal !== tool.name) this.#names.set(legal, tool.name);
      if (tool.type === 'custom') this.#freeText.add(legal);
    }
  }

  /** The events that one event of a stream stands for. */
  read(type: string, payload: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.#events = events;
    this.#start();
    switch (type) {
      case 'contentBlockStart':
        if (!this.finished) this.#open(indexOf(payload), objectOf(payload.start));
        break;
      case 'contentBlockDelta':
        if (!this.finished) this.#delta(indexOf(payload), objectOf(payload.delta));
        break;
      case 'contentBlockStop':
        this.#close(indexOf(payload));
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

  /** The bytes of a stream are over: some models leave out what comes after the reason of the end. */
  over(): ReplyEvent[] {
    this.#events = [];
    if (!this.ended && this.finished) this.#end();
    return this.#events;
  }

  /** The events of a whole reply. */
  readWhole(payload: JsonObject): ReplyEvent[] {
    const content = objectOf(objectOf(payload.output).message).content;
    if (!Array.isArray(content)) return [{ type: 'error', error: unreadable() }];
    this.#events = [];
    this.#start();
    for (const [index, block] of content.entries()) if (isObject(block)) this.#wholeBlock(index, block);
    this.#finish(readFinish(textOf(payload.stopReason), payload.additionalModelResponseFields));
    this.#usage(payload.usage);
    this.#end();
    return this.#events;
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#events.push({ type: 'reply-start', id: '', model: this.#call.model });
  }

  #usage(usage: Json | undefined): void {
    if (!isObject(usage)) return;
    this.#hasUsage = true;
    const read = readUsage(usage);
    if (read) this.#events.push({ type: 'usage', usage: read });
  }

  #finish(finish: Finish): void {
    if (this.finished) return;
    this.finished = true;
    for (const index of this.#blocks.keys()) this.#close(index);
    // A structured answer was a call on the wire alone.
    const isAnswer = this.#sawAnswer && !this.#sawCall && finish.reason === 'tool-calls';
    this.#events.push({ type: 'choice-end', choice: 0, finish: isAnswer ? { ...finish, reason: 'stop' } : finish });
  }

  #end(): void {
    this.ended = true;
    this.#events.push({ type: 'reply-end' });
  }

  /** A block of a whole reply is one that opens, grows once and closes. */
  #wholeBlock(index: number, block: JsonObject): void {
    if (isObject(block.toolUse)) {
      const { input, ...start } = block.toolUse;
      this.#open(index, { toolUse: start });
      this.#delta(index, { toolUse: { input: typeof input === 'string' ? input : JSON.stringify(input ?? {}) } });
    } else if (isObject(block.citationsContent)) {
      const { content, citations } = block.citationsContent;
      for (const one of listOf(content)) this.#delta(index, one);
      for (const citation of listOf(citations)) this.#delta(index, { citation });
    } else if (isObject(block.reasoningContent)) {
      const { reasoningText, redactedContent } = block.reasoningContent;
      const said = isObject(reasoningText) ? reasoningText : { redactedContent: redactedContent ?? '' };
      this.#delta(index, { reasoningContent: said });
    } else if (isObject(block.image)) {
      this.#open(index, { image: { format: block.image.format ?? 'png' } });
      this.#delta(index, { image: block.image });
    } else if (typeof block.text === 'string') this.#delta(index, { text: block.text });
    else this.#openVendor(index, block);
    this.#close(index);
  }

  #open(index: number, start: JsonObject): void {
    this.#close(index);
    const block = this.#newBlock(index);
    const { toolUse, toolResult, image } = start;
    if (isObject(toolUse) && toolUse.type === undefined) this.#openCall(block, toolUse);
    else if (isObject(toolUse) && toolUse.type === 'tool_use') this.#openCall(block, toolUse);
    else if (isObject(toolUse) || isObject(toolResult)) {
      block.reads = 'vendor';
      block.item = start;
    } else if (isObject(image)) {
      block.reads = 'image';
      this.#openPart(block, { type: 'image', mimeType: `image/${textOf(image.format) || 'png'}` });
    }
  }

  #openVendor(index: number, item: JsonObject): void {
    const block = this.#newBlock(index);
    block.reads = 'vendor';
    block.item = item;
  }

  #newBlock(index: number): Block {
    const block: Block = {
      reads: 'unopened',
      part: -1,
      gathered: '',
      signature: '',
      hidden: '',
      item: {},
      citations: [],
    };
    this.#blocks.set(index, block);
    return block;
  }

  #openPart(block: Block, opens: PartOpening): void {
    block.part = this.#parts++;
    this.#events.push({ type: 'part-start', choice: 0, part: block.part, opens });
  }

  #openCall(block: Block, toolUse: JsonObject): void {
    const name = textOf(toolUse.name);
    if (name === this.#answerTool) {
      this.#sawAnswer = true;
      block.reads = this.#isAnswerWrapped ? 'wrapped-answer' : 'answer';
      this.#openPart(block, { type: 'text' });
      return;
    }
    this.#sawCall = true;
    const isFreeText = this.#freeText.has(name);
    block.reads = isFreeText ? 'free-text' : 'input';
    const opens = {
      type: 'tool-call' as const,
      id: textOf(toolUse.toolUseId),
      name: this.#names.get(name) ?? name,
    };
    this.#openPart(block, isFreeText ? { ...opens, custom: true } : opens);
  }

  /** Text and thinking begin with their first delta: nothing announces them. */
  #delta(index: number, delta: JsonObject): void {
    const block = this.#blocks.get(index) ?? this.#newBlock(index);
    const { text, toolUse, reasoningContent, citation, image } = delta;
    if (block.reads === 'vendor') {
      addToItem(block, delta);
    } else if (typeof text === 'string') {
      this.#ensure(block, 'text');
      this.#text(block, text);
    } else if (isObject(citation)) {
      this.#ensure(block, 'text');
      block.citations.push(citation);
    } else if (isObject(toolUse)) {
      this.#input(block, textOf(toolUse.input));
    } else if (isObject(reasoningContent)) {
      this.#ensure(block, 'thinking');
      block.signature += textOf(reasoningContent.signature);
      block.hidden += textOf(reasoningContent.redactedContent);
      this.#text(block, textOf(reasoningContent.text));
    } else if (isObject(image) && block.reads === 'image') {
      this.#text(block, textOf(objectOf(image.source).bytes));
    }
  }

  #ensure(block: Block, reads: 'text' | 'thinking'): void {
    if (block.reads !== 'unopened') return;
    block.reads = reads;
    this.#openPart(block, { type: reads === 'text' ? 'text' : 'reasoning' });
  }

  #text(block: Block, text: string): void {
    if (text === '' || block.part < 0) return;
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
        for (const citation of block.citations) this.#cite(block, citation);
        break;
      case 'thinking':
        this.#seal(block);
        break;
      case 'input':
      case 'answer':
        if (block.gathered === '') this.#text(block, '{}');
        break;
      case 'free-text':
        this.#text(block, unwrapFreeText(taken(block)));
        break;
      case 'wrapped-answer':
        this.#text(block, unwrapAnswer(taken(block)));
        break;
      case 'vendor':
        this.#openPart(block, { type: 'vendor', dialect: BEDROCK_CONVERSE, item: block.item });
        break;
      case 'image':
      case 'unopened':
        break;
      default:
        block.reads satisfies never;
    }
    if (block.part >= 0) this.#events.push({ type: 'part-end', choice: 0, part: block.part });
  }

  #cite({ part, gathered }: Block, item: JsonObject): void {
    this.#events.push({ type: 'part-citation', choice: 0, part, citation: readCitation(item, gathered) });
  }

  #seal({ part, signature, hidden }: Block): void {
    const value = hidden === '' ? signature : hiddenSeal(hidden);
    if (value === '') return;
    this.#events.push({ type: 'part-seal', choice: 0, part, seal: { dialect: BEDROCK_CONVERSE, value } });
  }
}

/** What was gathered of an input that is read once it is whole. */
function taken(block: Block): string {
  const json = block.gathered === '' ? '{}' : block.gathered;
  block.gathered = '';
  return json;
}

/** Tools that run at the provider: their input and their results grow with the block. */
function addToItem(block: Block, { toolUse, toolResult }: JsonObject): void {
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

/** It stands beside its text and speaks of the whole of it. */
function readCitation(item: JsonObject, text: string): Citation {
  const url = objectOf(objectOf(item.location).web).url ?? item.source;
  const cited = listOf(item.sourceContent).map((one) => textOf(one.text));
  return {
    start: 0,
    end: Array.from(text).length,
    ...(typeof url === 'string' && { url }),
    ...(typeof item.title === 'string' && { title: item.title }),
    ...(cited.length > 0 && { citedText: cited.join('') }),
    vendor: { dialect: BEDROCK_CONVERSE, item },
  };
}

export function unreadable(): GatewayError {
  return new GatewayError('upstream_failed', 'The model sent a reply that cannot be read.');
}

function indexOf({ contentBlockIndex }: JsonObject): number {
  return typeof contentBlockIndex === 'number' ? contentBlockIndex : -1;
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
