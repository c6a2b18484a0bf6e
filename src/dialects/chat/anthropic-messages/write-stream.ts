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
interface PartState {
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
  readonly #states = new Map<number, PartState>();
  readonly #queue: PartState[] = [];
  #current: PartState | undefined;
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
        const state = this.#states.get(event.part);
        if (!state) return;
        state.over = true;
        if (state === this.#current && this.#isDone(state)) this.#advance();
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

  #add(part: number, opens: PartOpening): PartState {
    this.#start({ id: '' });
    const state = this.#enqueue(opens);
    this.#states.set(part, state);
    if (!this.#current || hasWords(this.#current.opens)) this.#advance();
    return state;
  }

  #enqueue(opens: PartOpening): PartState {
    const state: PartState = { opens, waiting: [], over: false, closed: false, begun: false, gathered: '' };
    this.#queue.push(state);
    return state;
  }

  #more(event: PartEvent): void {
    let state = this.#states.get(event.part);
    if (state?.closed) state = this.#late(event, state.opens);
    if (!state) return;
    if (state !== this.#current) {
      state.waiting.push(event);
      return;
    }
    this.#write(state, event);
    if (state.over && this.#isDone(state)) this.#advance();
  }

  /** Handles an event for a part whose block is closed: text gets a new block, a signature a block that carries it. */
  #late(event: PartEvent, opens: PartOpening): PartState | undefined {
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
  #isDone({ over, opens, gathered }: PartState): boolean {
    if (!over || this.#ended || opens.type !== 'tool-call' || opens.custom) return over;
    return isJson(gathered);
  }

  /** Closes the open block and opens the next, repeatedly while that one has already ended. */
  #advance(): void {
    if (this.#current) this.#close(this.#current);
    this.#current = undefined;
    for (let state = this.#queue.shift(); state; state = this.#queue.shift()) {
      this.#current = state;
      if (state.opens.type === 'tool-call') this.#beginCall(state, state.opens);
      for (const event of state.waiting) this.#write(state, event);
      state.waiting = [];
      const yields = hasWords(state.opens) && this.#queue.length > 0;
      if (!yields && !this.#isDone(state)) return;
      this.#close(state);
      this.#current = undefined;
    }
  }

  #write(state: PartState, event: PartEvent): void {
    switch (event.type) {
      case 'part-delta':
        this.#outputCharacters += event.delta.length;
        this.#delta(state, event.delta);
        return;
      case 'part-transcript':
        this.#outputCharacters += event.delta.length;
        this.#textDelta(state, event.delta);
        return;
      case 'part-signature':
        state.signature = event.signature;
        return;
      case 'part-citation': {
        const citation = state.opens.type === 'text' ? shownCitation(event.citation) : undefined;
        if (citation === undefined) return;
        this.#begin(state, { type: 'text', text: '' });
        this.#sendDelta({ type: 'citations_delta', citation });
        return;
      }
      case 'part-logprobs':
        return;
      default:
        event satisfies never;
    }
  }

  #delta(state: PartState, delta: string): void {
    const { opens } = state;
    switch (opens.type) {
      case 'refusal':
        this.#seen.refusal = true;
        this.#textDelta(state, delta);
        return;
      case 'text':
        this.#textDelta(state, delta);
        return;
      case 'reasoning':
        if (delta === '') return;
        this.#begin(state, { type: 'thinking', thinking: '', signature: '' });
        this.#out += deltaText(this.#blocks, 'thinking_delta', 'thinking', JSON.stringify(delta));
        return;
      case 'tool-call': {
        // The deltas of a free text are pieces of one JSON string.
        const json = opens.custom ? JSON.stringify(delta).slice(1, -1) : delta;
        state.gathered += json;
        if (json !== '') this.#out += deltaText(this.#blocks, 'input_json_delta', 'partial_json', JSON.stringify(json));
        return;
      }
      case 'image':
        state.gathered += delta;
        return;
      case 'audio':
      case 'native':
        return;
      default:
        opens satisfies never;
    }
  }

  #textDelta(state: PartState, delta: string): void {
    if (delta === '') return;
    this.#begin(state, { type: 'text', text: '' });
    this.#out += deltaText(this.#blocks, 'text_delta', 'text', JSON.stringify(delta));
  }

  #beginCall(state: PartState, opens: Extract<PartOpening, { type: 'tool-call' }>): void {
    this.#seen.call = true;
    this.#begin(state, callBlock(opens));
    if (opens.custom) this.#sendDelta({ type: 'input_json_delta', partial_json: '{"input":"' });
  }

  #begin(state: PartState, content_block: JsonObject): void {
    if (state.begun) return;
    state.begun = true;
    this.#send({ type: 'content_block_start', index: this.#blocks, content_block });
  }

  #close(state: PartState): void {
    state.closed = true;
    const { opens, signature } = state;
    if (opens.type === 'image') this.#textDelta(state, imageText(opens.mimeType, state.gathered));
    if (state.begun) {
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
    for (const state of this.#queue) state.over = true;
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
