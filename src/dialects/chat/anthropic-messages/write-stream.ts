/** Writes the events of a reply as a stream of this format: one block at a time, numbered without gaps. */

import type { ChatCall, ReasoningSignature } from '../../../canonical/call.ts';
import { newId } from '../../../canonical/id.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ChoiceEvent, Finish, PartEvent, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { estimateUsage } from '../../shared/estimate-usage.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { shownCitation } from './citations.ts';
import { writeFinish } from './finish.ts';
import { callBlock, carrierOf, imageText } from './reply-blocks.ts';
import { shownThinking, writeSignature } from './thinking-blocks.ts';
import { writeTier, writeUsage } from './usage.ts';

/** A part and its block. */
interface Line {
  opens: PartOpening;
  /** Events that wait because another block is open. */
  waiting: PartEvent[];
  /** The part has ended. */
  over: boolean;
  /** Its block was closed, by the part's end or by the next part. */
  closed: boolean;
  /** Its block was opened. */
  begun: boolean;
  /** Content that is collected because it can only be written complete. */
  gathered: string;
  signature?: ReasoningSignature;
}

/** An event of the stream: its `event:` and `data:` lines. */
export function eventText(payload: { type: string } & JsonObject): string {
  return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
}

/** Message ids have the prefix `msg_`, which users of the libraries expect. Some providers give none. */
export function messageId(id: string): string {
  if (id.startsWith('msg_')) return id;
  const legal = id.replace(/[^a-zA-Z0-9_-]/g, '');
  return legal === '' ? newId('msg_') : `msg_${legal}`;
}

export class BlockStreamBuilder {
  readonly #call: ChatCall;
  readonly #lines = new Map<number, Line>();
  readonly #queue: Line[] = [];
  #current: Line | undefined;
  #blocks = 0;
  #started = false;
  #ended = false;
  #finish: Finish | undefined;
  #usage: Usage | undefined;
  #seen = { call: false, refusal: false };
  #outputCharacters = 0;
  #out = '';

  constructor(call: ChatCall) {
    this.#call = call;
  }

  /** Sets the usage that is charged when the provider reported none. */
  bill(usage: Usage): void {
    this.#usage = usage;
  }

  write(events: readonly ReplyEvent[]): string {
    for (const event of events) this.#event(event, events);
    return this.#taken();
  }

  /** Returns the rest of the stream once: open blocks, the finish reason, the final usage, and the terminator. */
  end(): string {
    if (!this.#ended) this.#end();
    return this.#taken();
  }

  #taken(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #event(event: ReplyEvent, together: readonly ReplyEvent[]): void {
    if (event.type === 'reply-start') this.#start(event, together);
    else if (event.type === 'usage') this.#usage = event.usage;
    else if ('choice' in event && event.choice === 0) this.#choiceEvent(event);
  }

  #choiceEvent(event: ChoiceEvent): void {
    switch (event.type) {
      case 'part-start':
        this.#add(event.part, event.opens);
        return;
      case 'part-end': {
        const line = this.#lines.get(event.part);
        if (!line) return;
        line.over = true;
        if (line === this.#current && this.#isDone(line)) this.#advance();
        return;
      }
      case 'choice-end':
        this.#finish = event.finish;
        return;
      default:
        this.#more(event);
    }
  }

  /** Clients show the input tokens at the start, so they are estimated unless the provider already reported them. */
  #start({ id, extras }: { id: string; extras?: JsonObject }, together: readonly ReplyEvent[] = []): void {
    if (this.#started) return;
    this.#started = true;
    const known = together.find((event) => event.type === 'usage')?.usage;
    const usage = known ?? estimateUsage(this.#call, 0);
    this.#send({
      type: 'message_start',
      message: {
        id: messageId(id),
        type: 'message',
        role: 'assistant',
        model: this.#call.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...writeUsage({ ...usage, output: 1 }), ...writeTier(extras) },
      },
    });
  }

  #add(part: number, opens: PartOpening): Line {
    this.#start({ id: '' });
    const line = this.#enqueue(opens);
    this.#lines.set(part, line);
    if (!this.#current || hasWords(this.#current.opens)) this.#advance();
    return line;
  }

  #enqueue(opens: PartOpening): Line {
    const line: Line = { opens, waiting: [], over: false, closed: false, begun: false, gathered: '' };
    this.#queue.push(line);
    return line;
  }

  #more(event: PartEvent): void {
    let line = this.#lines.get(event.part);
    if (line?.closed) line = this.#late(event, line.opens);
    if (!line) return;
    if (line !== this.#current) {
      line.waiting.push(event);
      return;
    }
    this.#write(line, event);
    if (line.over && this.#isDone(line)) this.#advance();
  }

  /** Handles an event for a part whose block is closed: text gets a new block, a signature a block that carries it. */
  #late(event: PartEvent, opens: PartOpening): Line | undefined {
    if (event.type === 'part-signature') {
      const item =
        opens.type === 'reasoning' ? shownThinking('', event.signature) : carrierOf(this.#call, opens, event.signature);
      if (item) this.#enqueue({ type: 'native', dialect: ANTHROPIC_MESSAGES, item }).over = true;
      if (!this.#current || hasWords(this.#current.opens)) this.#advance();
      return undefined;
    }
    return event.type === 'part-delta' && hasWords(opens) ? this.#add(event.part, opens) : undefined;
  }

  /**
   * Some providers return to a tool call whose part has ended, so its block stays open until the arguments are
   * complete.
   */
  #isDone({ over, opens, gathered }: Line): boolean {
    if (!over || this.#ended || opens.type !== 'tool-call' || opens.custom) return over;
    return isJson(gathered);
  }

  /** Closes the open block and opens the next, repeatedly while that one has already ended. */
  #advance(): void {
    if (this.#current) this.#close(this.#current);
    this.#current = undefined;
    for (let line = this.#queue.shift(); line; line = this.#queue.shift()) {
      this.#current = line;
      if (line.opens.type === 'tool-call') this.#beginCall(line, line.opens);
      for (const event of line.waiting) this.#write(line, event);
      line.waiting = [];
      const yields = hasWords(line.opens) && this.#queue.length > 0;
      if (!yields && !this.#isDone(line)) return;
      this.#close(line);
      this.#current = undefined;
    }
  }

  #write(line: Line, event: PartEvent): void {
    switch (event.type) {
      case 'part-delta':
        this.#outputCharacters += event.delta.length;
        this.#delta(line, event.delta);
        return;
      case 'part-transcript':
        this.#outputCharacters += event.delta.length;
        this.#textDelta(line, event.delta);
        return;
      case 'part-signature':
        line.signature = event.signature;
        return;
      case 'part-citation': {
        const citation = line.opens.type === 'text' ? shownCitation(event.citation) : undefined;
        if (citation === undefined) return;
        this.#begin(line, { type: 'text', text: '' });
        this.#sendDelta({ type: 'citations_delta', citation });
        return;
      }
      case 'part-logprobs':
        return;
      default:
        event satisfies never;
    }
  }

  #delta(line: Line, delta: string): void {
    const { opens } = line;
    switch (opens.type) {
      case 'refusal':
        this.#seen.refusal = true;
        this.#textDelta(line, delta);
        return;
      case 'text':
        this.#textDelta(line, delta);
        return;
      case 'reasoning':
        if (delta === '') return;
        this.#begin(line, { type: 'thinking', thinking: '', signature: '' });
        this.#out += deltaText(this.#blocks, 'thinking_delta', 'thinking', JSON.stringify(delta));
        return;
      case 'tool-call': {
        // The deltas of a free text are pieces of one JSON string.
        const json = opens.custom ? JSON.stringify(delta).slice(1, -1) : delta;
        line.gathered += json;
        if (json !== '') this.#out += deltaText(this.#blocks, 'input_json_delta', 'partial_json', JSON.stringify(json));
        return;
      }
      case 'image':
        line.gathered += delta;
        return;
      case 'audio':
      case 'native':
        return;
      default:
        opens satisfies never;
    }
  }

  #textDelta(line: Line, delta: string): void {
    if (delta === '') return;
    this.#begin(line, { type: 'text', text: '' });
    this.#out += deltaText(this.#blocks, 'text_delta', 'text', JSON.stringify(delta));
  }

  #beginCall(line: Line, opens: Extract<PartOpening, { type: 'tool-call' }>): void {
    this.#seen.call = true;
    this.#begin(line, callBlock(opens));
    if (opens.custom) this.#sendDelta({ type: 'input_json_delta', partial_json: '{"input":"' });
  }

  #begin(line: Line, content_block: JsonObject): void {
    if (line.begun) return;
    line.begun = true;
    this.#send({ type: 'content_block_start', index: this.#blocks, content_block });
  }

  #close(line: Line): void {
    line.closed = true;
    const { opens, signature } = line;
    if (opens.type === 'image') this.#textDelta(line, imageText(opens.mimeType, line.gathered));
    if (line.begun) {
      if (opens.type === 'reasoning' && signature) {
        this.#sendDelta({ type: 'signature_delta', signature: writeSignature(signature) });
      } else if (opens.type === 'tool-call' && opens.custom) {
        this.#sendDelta({ type: 'input_json_delta', partial_json: '"}' });
      }
      this.#stop();
    } else if (opens.type === 'reasoning') {
      this.#block(shownThinking('', signature));
    } else if (opens.type === 'native' && opens.dialect === ANTHROPIC_MESSAGES) {
      this.#block(opens.item);
    }
    if (signature) this.#block(carrierOf(this.#call, opens, signature));
  }

  #block(content_block: JsonObject | undefined): void {
    if (!content_block) return;
    this.#send({ type: 'content_block_start', index: this.#blocks, content_block });
    this.#stop();
  }

  #stop(): void {
    this.#send({ type: 'content_block_stop', index: this.#blocks });
    this.#blocks++;
  }

  #end(): void {
    this.#ended = true;
    this.#start({ id: '' });
    for (const line of this.#queue) line.over = true;
    this.#advance();
    const usage = this.#usage ?? estimateUsage(this.#call, this.#outputCharacters);
    // As at the provider, cache writes by duration are reported only at the start.
    const { cache_creation: _, ...counts } = writeUsage(usage);
    this.#send({ type: 'message_delta', delta: writeFinish(this.#finish, this.#seen), usage: counts });
    this.#send({ type: 'message_stop' });
  }

  #sendDelta(delta: JsonObject): void {
    this.#send({ type: 'content_block_delta', index: this.#blocks, delta });
  }

  #send(payload: { type: string } & JsonObject): void {
    this.#out += eventText(payload);
  }
}

/** Blocks of text can be closed at any time and continued in another. All others must be complete. */
function hasWords({ type }: PartOpening): boolean {
  return type === 'text' || type === 'refusal' || type === 'reasoning';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Writes the most frequent delta of a stream without building an object. `json`: its value. */
function deltaText(index: number, type: string, member: string, json: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":${json}}}\n\n`;
}
