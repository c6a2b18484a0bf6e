/** Builds a response from events: its output items, and a stream's events in the order that the libraries require. */
import type { ChatCall, Citation, ReasoningSignature } from '../../../canonical/call.ts';
import { grown } from '../../../canonical/grown-text.ts';
import { newId } from '../../../canonical/id.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { ChoiceEvent, Finish, OpeningOf, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { estimateUsage } from '../../shared/estimate-usage.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { tokenRows } from '../reply/logprob-rows.ts';
import { explainedRefusal } from '../reply/refusal.ts';
import { writeAnnotation } from './citations.ts';
import { groupOf, nameAndGroup } from './namespaces.ts';
import { completedAt, echoedSettings, writeFinish } from './response-object.ts';
import { isOwn, OF_TEXT, signedMembers, writeEncrypted } from './signatures.ts';
import { usageOfStatus, writeResponseUsage } from './usage.ts';

/** Receives an event of the stream. The receiver numbers it. */
export type Emit = (type: string, members: JsonObject) => void;

interface Item {
  index: number;
  body: JsonObject;
  isOver: boolean;
}

interface WrittenResponsesPart {
  opens: PartOpening;
  /** Absent until the part's first text. */
  item: Item | undefined;
  /** A text's content part, and its index in the message. */
  piece: JsonObject;
  at: number;
  text: string;
  signature: ReasoningSignature | undefined;
  isOver: boolean;
}

export class ResponseBuilder {
  readonly #call: ChatCall;
  readonly #emit: Emit;
  readonly #output: JsonObject[] = [];
  readonly #parts: WrittenResponsesPart[] = [];
  /** The message that receives text, and the members it must be sent back with. */
  #message: { item: Item; content: JsonObject[]; members: string } | undefined;
  #head: JsonObject | undefined;
  #finish: Finish = { reason: 'stop' };
  #usage: Usage | undefined;
  #characters = 0;

  constructor(call: ChatCall, emit: Emit) {
    this.#call = call;
    this.#emit = emit;
  }

  /** Sets the usage that is charged when the provider reported none. */
  bill(usage: Usage): void {
    this.#usage = usage;
  }

  /** The format has one choice. Others are ignored. */
  take(event: ReplyEvent): void {
    if ('choice' in event && event.choice === 0) this.#choiceEvent(event);
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'reply-start' && !this.#head) this.#begin(event.id, event.createdSeconds, event.extras);
  }

  #choiceEvent(event: ChoiceEvent): void {
    switch (event.type) {
      case 'part-start':
        this.#open(event.part, event.opens);
        return;
      case 'part-delta':
        this.#grow(this.#part(event.part), event.delta);
        return;
      case 'part-transcript':
        this.#text(this.#part(event.part), event.delta);
        return;
      case 'part-signature':
        this.#addSignature(this.#part(event.part), event.signature);
        return;
      case 'part-citation':
        this.#cite(this.#part(event.part), event.citation);
        return;
      case 'part-logprobs':
        this.#logprobs(this.#part(event.part), tokenRows(event.logprobs));
        return;
      case 'part-end':
        this.#close(this.#part(event.part));
        return;
      case 'choice-end':
        this.#end(event.finish);
        return;
      default:
        event satisfies never;
    }
  }

  /** The explanation of a refusal becomes a content part of the message. */
  #end(finish: Finish): void {
    this.#finish = finish;
    const refusal = explainedRefusal(finish, this.#parts);
    if (refusal === undefined || refusal === '') return;
    const part = newPart({ type: 'refusal' });
    this.#parts.push(part);
    this.#text(part, refusal);
  }

  /** The complete response. A stream's last event contains it. */
  complete(): JsonObject {
    if (!this.#head) this.#begin('', undefined, undefined);
    for (const part of this.#parts) if (part) this.#close(part);
    this.#closeMessage(this.#finish.reason === 'length' ? 'incomplete' : 'completed');
    const ending = writeFinish(this.#finish);
    return this.#response({
      ...ending,
      completed_at: completedAt(this.#call, ending.status, this.#head?.created_at),
      usage: usageOfStatus(ending.status, this.#usage, () => estimateUsage(this.#call, this.#characters)),
    });
  }

  /** The response so far, with the error; `undefined` if it has not begun. */
  broken(error: JsonObject): JsonObject | undefined {
    if (!this.#head) return undefined;
    return this.#response({ status: 'failed', error, usage: this.#usage ? writeResponseUsage(this.#usage) : null });
  }

  #begin(id: string, createdSeconds: number | undefined, extras: JsonObject | undefined): void {
    const tier = extras?.service_tier;
    this.#head = {
      id: this.#call.thread?.replyId ?? (id || newId('resp_')),
      object: 'response',
      created_at: createdSeconds ?? this.#call.receivedSeconds ?? 0,
      ...echoedSettings(this.#call),
      ...(typeof tier === 'string' && { service_tier: tier }),
      model: this.#call.model,
    };
    const response = this.#response({ status: 'in_progress', usage: null });
    this.#emit('response.created', { response });
    this.#emit('response.in_progress', { response });
  }

  #response(members: JsonObject): JsonObject {
    return {
      ...this.#head,
      completed_at: null,
      error: null,
      incomplete_details: null,
      output: this.#output,
      ...members,
    };
  }

  #part(index: number): WrittenResponsesPart {
    this.#parts[index] ??= newPart({ type: 'text' });
    return this.#parts[index];
  }

  #open(index: number, opens: PartOpening): void {
    const part = newPart(opens);
    this.#parts[index] = part;
    switch (opens.type) {
      case 'text':
      case 'refusal':
      case 'audio':
        return;
      case 'reasoning':
        part.item = this.#add({ id: newId('rs_'), type: 'reasoning', summary: [] });
        return;
      case 'tool-call':
        part.item = this.#add(callItem(opens, groupOf(this.#call, opens.name)));
        return;
      case 'image': {
        const format = opens.mimeType.slice(opens.mimeType.indexOf('/') + 1);
        const body = { type: 'image_generation_call', status: 'in_progress', output_format: format, result: null };
        part.item = this.#add({ id: newId('ig_'), ...body });
        return;
      }
      case 'native':
        if (opens.dialect === OPENAI_RESPONSES) part.item = this.#add({ ...opens.item });
        return;
      default:
        opens satisfies never;
    }
  }

  /** Adds an item and ends the message before it. */
  #add(body: JsonObject): Item {
    if (!this.#head) this.#begin('', undefined, undefined);
    this.#closeMessage('completed');
    const item = { index: this.#output.length, body, isOver: false };
    this.#output.push(body);
    this.#emit('response.output_item.added', { output_index: item.index, item: body });
    return item;
  }

  #done(item: Item): void {
    item.isOver = true;
    this.#emit('response.output_item.done', { output_index: item.index, item: item.body });
  }

  #closeMessage(status: string): void {
    const message = this.#message;
    if (!message) return;
    for (const part of this.#parts) if (part?.item === message.item) this.#closePiece(part);
    this.#message = undefined;
    message.item.body.status = status;
    this.#done(message.item);
  }

  #grow(part: WrittenResponsesPart, delta: string): void {
    if (delta === '') return;
    this.#characters += delta.length;
    const { opens, item } = part;
    switch (opens.type) {
      case 'text':
      case 'refusal':
        this.#text(part, delta);
        return;
      case 'reasoning':
        this.#thought(part, delta);
        return;
      case 'tool-call': {
        if (!item) return;
        const member = opens.custom ? 'input' : 'arguments';
        part.text = grown(part.text, delta);
        item.body[member] = part.text;
        const type = opens.custom ? 'custom_tool_call_input' : 'function_call_arguments';
        this.#emit(`response.${type}.delta`, { ...place(item), delta });
        return;
      }
      case 'image':
        part.text = grown(part.text, delta);
        return;
      // Audio is written as its transcript, which this format can express.
      case 'audio':
      case 'native':
        return;
      default:
        opens satisfies never;
    }
  }

  #text(part: WrittenResponsesPart, delta: string): void {
    const item = this.#pieceOf(part);
    part.text = grown(part.text, delta);
    if (part.opens.type === 'refusal') {
      part.piece.refusal = part.text;
      this.#emit('response.refusal.delta', { ...place(item), content_index: part.at, delta });
      return;
    }
    part.piece.text = part.text;
    this.#emit('response.output_text.delta', { ...place(item), content_index: part.at, delta, logprobs: [] });
  }

  /** The message that holds the text. It is opened with the first text, when its members are known. */
  #pieceOf(part: WrittenResponsesPart): Item {
    if (part.item && !part.isOver) return part.item;
    const members = isOwn(part.signature) ? part.signature.value : (this.#message?.members ?? '');
    if (this.#message && this.#message.members !== members) this.#closeMessage('completed');
    if (!this.#message) {
      const content: JsonObject[] = [];
      const body = { id: newId('msg_'), type: 'message', status: 'in_progress', role: 'assistant', content };
      this.#message = { item: this.#add({ ...body, ...signedMembers(part.signature) }), content, members };
    }
    const { item, content } = this.#message;
    part.item = item;
    part.isOver = false;
    part.text = '';
    part.at = content.length;
    part.piece =
      part.opens.type === 'refusal'
        ? { type: 'refusal', refusal: '' }
        : { type: 'output_text', text: '', annotations: [], logprobs: [] };
    this.#emit('response.content_part.added', { ...place(item), content_index: part.at, part: part.piece });
    content.push(part.piece);
    return item;
  }

  #thought(part: WrittenResponsesPart, delta: string): void {
    const { item } = part;
    if (!item) return;
    const at = { ...place(item), summary_index: 0 };
    if (part.text === '') {
      this.#emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    }
    part.text = grown(part.text, delta);
    item.body.summary = [{ type: 'summary_text', text: part.text }];
    this.#emit('response.reasoning_summary_text.delta', { ...at, delta });
  }

  #addSignature(part: WrittenResponsesPart, signature: ReasoningSignature): void {
    const { opens, item } = part;
    part.signature = signature;
    if (opens.type === 'reasoning' && item) item.body.encrypted_content = writeEncrypted(signature);
    else if (isOwn(signature) && opens.type === 'tool-call' && item) Object.assign(item.body, signedMembers(signature));
    else if (isOwn(signature) && opens.type === 'text') this.#pieceOf(part);
    else if (part.isOver) this.#carrySignature(part);
  }

  /** This format has no member for a text's or call's signature: a reasoning item that carries it follows the part. */
  #carrySignature({ opens, signature, item }: WrittenResponsesPart): void {
    if (!signature || isOwn(signature) || opens.type === 'reasoning') return;
    const of = opens.type === 'tool-call' ? String(item?.body.call_id) : OF_TEXT;
    const encrypted = writeEncrypted(signature, of);
    this.#done(this.#add({ id: newId('rs_'), type: 'reasoning', summary: [], encrypted_content: encrypted }));
  }

  #cite(part: WrittenResponsesPart, citation: Citation): void {
    const annotation = writeAnnotation(citation);
    if (!annotation) return;
    const item = this.#pieceOf(part);
    const annotations = Array.isArray(part.piece.annotations) ? part.piece.annotations : [];
    const at = { ...place(item), content_index: part.at, annotation_index: annotations.length };
    annotations.push(annotation);
    this.#emit('response.output_text.annotation.added', { ...at, annotation });
  }

  #logprobs(part: WrittenResponsesPart, logprobs: Json[]): void {
    if (part.opens.type !== 'text') return;
    const item = this.#pieceOf(part);
    const known = Array.isArray(part.piece.logprobs) ? part.piece.logprobs : [];
    known.push(...logprobs);
    this.#emit('response.output_text.delta', { ...place(item), content_index: part.at, delta: '', logprobs });
  }

  #close(part: WrittenResponsesPart): void {
    if (part.isOver) return;
    const { opens, item } = part;
    if (opens.type === 'text' || opens.type === 'refusal' || opens.type === 'audio') this.#closePiece(part);
    else if (item) this.#closeItem(part, item);
    part.isOver = true;
    this.#carrySignature(part);
  }

  #closePiece(part: WrittenResponsesPart): void {
    if (part.isOver || !part.item) return;
    part.isOver = true;
    const at = { ...place(part.item), content_index: part.at };
    if (part.opens.type === 'refusal') this.#emit('response.refusal.done', { ...at, refusal: part.text });
    else this.#emit('response.output_text.done', { ...at, text: part.text, logprobs: part.piece.logprobs ?? [] });
    this.#emit('response.content_part.done', { ...at, part: part.piece });
  }

  #closeItem({ opens, text }: WrittenResponsesPart, item: Item): void {
    const { body } = item;
    switch (opens.type) {
      case 'reasoning':
        if (text !== '') {
          const at = { ...place(item), summary_index: 0 };
          this.#emit('response.reasoning_summary_text.done', { ...at, text: text });
          this.#emit('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: text } });
        }
        break;
      case 'tool-call':
        this.#closeCall(opens, text, item);
        break;
      case 'image':
        Object.assign(body, { status: 'completed', result: text });
        break;
    }
    this.#done(item);
  }

  #closeCall({ custom }: OpeningOf<'tool-call'>, text: string, item: Item): void {
    item.body.status = 'completed';
    if (custom) {
      this.#emit('response.custom_tool_call_input.done', { ...place(item), input: text });
      return;
    }
    this.#emit('response.function_call_arguments.done', {
      ...place(item),
      name: item.body.name ?? '',
      arguments: text,
    });
  }
}

function newPart(opens: PartOpening): WrittenResponsesPart {
  return { opens, item: undefined, piece: {}, at: 0, text: '', signature: undefined, isOver: false };
}

function callItem({ id, name, custom }: OpeningOf<'tool-call'>, group: string | undefined): JsonObject {
  const call = { status: 'in_progress', call_id: id || newId('call_'), ...nameAndGroup(group, name) };
  if (custom) return { id: newId('ctc_'), type: 'custom_tool_call', ...call, input: '' };
  return { id: newId('fc_'), type: 'function_call', ...call, arguments: '' };
}

function place({ index, body }: Item): JsonObject {
  return { item_id: body.id ?? '', output_index: index };
}
