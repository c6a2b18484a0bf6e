/** Converts normalized chunks and messages of this format to events. */

import type { ChatCall, Citation } from '../../../canonical/call.ts';
import { entryOf } from '../../../canonical/entry-of.ts';
import { isEmpty, isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, FinishReason, PartOpening, ReplyEvent, ReplyStart } from '../../../canonical/reply.ts';
import { parsedJson, textOf } from '../../shared/json-values.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { OPENAI_CHAT } from '../names.ts';
import { unwrapFreeText } from '../request/free-text.ts';
import { Reports, usageIn } from './reports.ts';
import { chatSignature } from './signature-carriers.ts';

interface CallPart {
  /** -1 until the name is known. */
  part: number;
  id: string;
  custom: boolean;
  /** A free-text tool that the provider received as a function. */
  isWrapped: boolean;
  /** Arguments that arrived before the name, or before a wrapped free text is complete. */
  early: string;
}

interface ReadChoice {
  parts: number;
  /** The open part and its type. */
  open: number;
  openType: PartOpening['type'] | undefined;
  /** The last text part. Citations that arrive late belong to it. */
  text: number;
  calls: Map<number, CallPart> | undefined;
  /** The provider sends reasoning in `reasoning_content` or `reasoning`. */
  thinksPlainly: boolean;
  /** Items of `reasoning_details` that belong to no part yet, by their index. */
  details: Map<number, JsonObject> | undefined;
  ended: boolean;
}

const FINISH_REASONS: { readonly [word: string]: FinishReason } = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

const AUDIO_TYPES: { readonly [format: string]: string } = {
  mp3: 'audio/mpeg',
  pcm16: 'audio/pcm',
  opus: 'audio/ogg',
};

/** The slot of the only call that the deprecated `function_call` can hold. */
const OLD_CALL = -1;

export class ChatDecoder {
  readonly #call: ChatCall;
  readonly #quirks: Quirks;
  readonly #choices = new Map<number, ReadChoice>();
  /** The number of choices that have not ended. */
  #unended = 0;
  #started = false;
  readonly #reports = new Reports();
  /** Perplexity's sources, which every chunk repeats beside the choices. */
  #sources: readonly Json[] = [];
  #events: ReplyEvent[] = [];
  /** Members of this format alone that were already reported. */
  #asides: Set<string> | undefined;

  constructor(call: ChatCall, quirks: Quirks) {
    this.#call = call;
    this.#quirks = quirks;
  }

  /**
   * The events of a chunk, or of a non-streaming reply (`message` instead of `delta`). Some providers send both members
   * in either.
   */
  read(payload: JsonObject, whole = false): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    this.#events = events;
    const choices = Array.isArray(payload.choices) ? payload.choices : [];
    const usage = usageIn(payload, choices);
    if (!this.#started && (choices.length > 0 || usage)) this.#start(payload);
    if (Array.isArray(payload.search_results)) this.#sources = payload.search_results;
    else if (Array.isArray(payload.citations)) this.#sources = payload.citations;
    for (const choice of choices) if (isObject(choice)) this.#choice(choice, whole);
    this.#aside('moderation', payload.moderation);
    this.#aside('prompt_filter_results', payload.prompt_filter_results);
    const reported = usage && this.#reports.read(usage, this.#quirks);
    if (reported) events.push({ type: 'usage', usage: reported });
    return events;
  }

  /** Whether all choices ended, and there was at least one. */
  get isFinished(): boolean {
    return this.#choices.size > 0 && this.#unended === 0;
  }

  get isUnfinished(): boolean {
    return this.#unended > 0;
  }

  /**
   * Ends the choices without a finish reason. Returns for each its index and the finish reason that the provider should
   * have sent.
   */
  finishAll(events: ReplyEvent[]): [number, string][] {
    const words: [number, string][] = [];
    if (this.#unended === 0) return words;
    this.#events = events;
    for (const [choice, state] of this.#choices) {
      if (state.ended) continue;
      words.push([choice, state.calls ? 'tool_calls' : 'stop']);
      this.#finish(choice, state, undefined);
    }
    return words;
  }

  /** Reports each name once. */
  #aside(name: string, value: Json | undefined): void {
    if (value === undefined || value === null || this.#asides?.has(name) || Object.keys(value).length === 0) return;
    this.#asides ??= new Set();
    this.#asides.add(name);
    this.#events.push({ type: 'aside', dialect: OPENAI_CHAT, members: { [name]: value } });
  }

  #start(payload: JsonObject): void {
    this.#started = true;
    const extras: JsonObject = {};
    if (typeof payload.system_fingerprint === 'string' && payload.system_fingerprint !== '') {
      extras.system_fingerprint = payload.system_fingerprint;
    }
    if (typeof payload.service_tier === 'string' && payload.service_tier !== '')
      extras.service_tier = payload.service_tier;
    const start: ReplyStart = { type: 'reply-start', id: textOf(payload.id), model: textOf(payload.model) };
    if (typeof payload.created === 'number') start.createdSeconds = Math.floor(payload.created);
    if (!isEmpty(extras)) start.extras = extras;
    this.#events.push(start);
  }

  #choice(choice: JsonObject, whole: boolean): void {
    const index = typeof choice.index === 'number' ? choice.index : 0;
    let state = this.#choices.get(index);
    if (!state) {
      state = {
        parts: 0,
        open: -1,
        openType: undefined,
        text: -1,
        calls: undefined,
        thinksPlainly: false,
        details: undefined,
        ended: false,
      };
      this.#choices.set(index, state);
      this.#unended++;
    }
    const { delta, message } = choice;
    const first = whole ? message : delta;
    const source = isObject(first) ? first : whole ? delta : message;
    if (isObject(source) && !state.ended) this.#delta(index, state, source);
    if (isObject(choice.logprobs)) this.#logprobs(index, state, choice.logprobs);
    this.#aside('content_filter_results', choice.content_filter_results);
    const finish = choice.finish_reason;
    if (typeof finish === 'string' && finish !== '' && !state.ended) {
      this.#finish(index, state, finish, choice.stop_reason);
    }
  }

  #delta(choice: number, state: ReadChoice, delta: JsonObject): void {
    const { content, reasoning_details: details, tool_calls: calls } = delta;
    let thought = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    state.thinksPlainly ||= thought !== '';
    if (Array.isArray(details)) {
      const gathered = gatherDetails(state, details);
      // Providers that send plain reasoning repeat it in the details.
      if (!state.thinksPlainly) thought ||= gathered;
    }
    if (thought !== '') this.#text(choice, state, 'reasoning', thought);
    if (typeof content === 'string' && content !== '') this.#text(choice, state, 'text', content);
    if (typeof delta.refusal === 'string' && delta.refusal !== '') this.#text(choice, state, 'refusal', delta.refusal);
    if (isObject(delta.audio)) this.#audio(choice, state, delta.audio);
    if (Array.isArray(delta.images)) for (const image of delta.images) this.#image(choice, state, image);
    if (Array.isArray(delta.annotations)) for (const one of delta.annotations) this.#annotation(choice, state, one);
    if (Array.isArray(calls)) {
      for (let position = 0; position < calls.length; position++) {
        const call = calls[position];
        if (isObject(call))
          this.#toolCall(choice, state, call, Number.isInteger(call.index) ? Number(call.index) : position);
      }
    }
    const old = delta.function_call;
    if (isObject(old) && textOf(old.name) + textOf(old.arguments) !== '') {
      this.#toolCall(choice, state, { id: `call_${choice}`, function: old }, OLD_CALL);
    }
    if (isObject(delta.extra_content)) this.#hiddenSignature(choice, state, { extra_content: delta.extra_content });
  }

  #text(choice: number, state: ReadChoice, type: 'text' | 'reasoning' | 'refusal', delta: string): void {
    if (state.openType !== type) this.#open(choice, state, { type });
    this.#events.push({ type: 'part-delta', choice, part: state.open, delta });
  }

  /** Opens a part and ends the previous one. */
  #open(choice: number, state: ReadChoice, opens: PartOpening): number {
    this.#close(choice, state);
    const part = state.parts++;
    state.open = part;
    state.openType = opens.type;
    if (opens.type === 'text') state.text = part;
    this.#events.push({ type: 'part-start', choice, part, opens });
    return part;
  }

  #close(choice: number, state: ReadChoice): void {
    if (state.openType === undefined) return;
    if (state.openType === 'reasoning') this.#keepDetails(choice, state);
    this.#events.push({ type: 'part-end', choice, part: state.open });
    state.openType = undefined;
  }

  /** Keeps `reasoning_details` as the signature if they contain one; otherwise the text is enough. */
  #keepDetails(choice: number, state: ReadChoice): void {
    if (!state.details) return;
    const details = [...state.details.values()];
    if (!details.some((one) => typeof one.signature === 'string' || typeof one.data === 'string')) return;
    state.details = undefined;
    const signature = chatSignature({ reasoning_details: details });
    this.#events.push({ type: 'part-signature', choice, part: state.open, signature });
  }

  /** A signature without readable text becomes a hidden reasoning part. */
  #hiddenSignature(choice: number, state: ReadChoice, members: JsonObject): void {
    const part = this.#open(choice, state, { type: 'reasoning' });
    // Not `#close`: the items in `details` belong to another part.
    state.openType = undefined;
    this.#events.push(
      { type: 'part-signature', choice, part, signature: chatSignature(members) },
      { type: 'part-end', choice, part },
    );
  }

  #toolCall(choice: number, state: ReadChoice, call: JsonObject, index: number): void {
    // Snowflake sends an empty `custom` beside every `function`.
    const custom = isObject(call.custom) && !(isObject(call.function) && textOf(call.function.name) !== '');
    const body = custom ? call.custom : call.function;
    const name = isObject(body) ? textOf(body.name) : '';
    state.calls ??= new Map();
    let known = state.calls.get(index);
    if (!known) {
      known = { part: -1, id: textOf(call.id), custom, isWrapped: false, early: '' };
      state.calls.set(index, known);
    }
    if (known.part < 0 && name !== '') {
      known.isWrapped = !known.custom && this.#isFreeText(name);
      const isCustom = known.custom || known.isWrapped;
      const opens: PartOpening = { type: 'tool-call', id: known.id, name, ...(isCustom && { custom: true }) };
      known.part = this.#open(choice, state, opens);
    }
    const received = known.early + (isObject(body) ? textOf(known.custom ? body.input : body.arguments) : '');
    const isHeld = known.part < 0 || (known.isWrapped && !isWhole(received));
    known.early = isHeld ? received : '';
    const shown = isHeld ? '' : known.isWrapped && received !== '' ? unwrapFreeText(received) : received;
    // Providers send calls one after another. If one returns to an earlier call, that part grows after its end.
    if (known.part >= 0 && shown !== '')
      this.#events.push({ type: 'part-delta', choice, part: known.part, delta: shown });
    if (known.part >= 0 && isObject(call.extra_content)) {
      const signature = chatSignature({ extra_content: call.extra_content });
      this.#events.push({ type: 'part-signature', choice, part: known.part, signature });
    }
  }

  #isFreeText(name: string): boolean {
    return this.#call.tools.some((tool) => tool.type === 'custom' && tool.name === name);
  }

  #audio(choice: number, state: ReadChoice, audio: JsonObject): void {
    const data = textOf(audio.data);
    const words = textOf(audio.transcript);
    if (data === '' && words === '') return;
    if (state.openType !== 'audio') {
      const format = this.#call.audio?.format;
      this.#open(choice, state, {
        type: 'audio',
        id: textOf(audio.id),
        ...(format !== undefined && { mimeType: entryOf(AUDIO_TYPES, format) ?? `audio/${format}` }),
        ...(typeof audio.expires_at === 'number' && { expiresAtSeconds: audio.expires_at }),
      });
    }
    if (data !== '') this.#events.push({ type: 'part-delta', choice, part: state.open, delta: data });
    if (words !== '') this.#events.push({ type: 'part-transcript', choice, part: state.open, delta: words });
  }

  /** OpenRouter's images: data URLs beside the content. */
  #image(choice: number, state: ReadChoice, image: Json): void {
    if (!isObject(image) || !isObject(image.image_url)) return;
    const match = /^data:([^;,]+);base64,/.exec(textOf(image.image_url.url));
    if (!match?.[1]) return;
    const part = this.#open(choice, state, { type: 'image', mimeType: match[1] });
    const delta = textOf(image.image_url.url).slice(match[0].length);
    this.#events.push({ type: 'part-delta', choice, part, delta });
    this.#close(choice, state);
  }

  #annotation(choice: number, state: ReadChoice, annotation: Json): void {
    if (!isObject(annotation) || !isObject(annotation.url_citation)) return;
    const { url, title, content, start_index: start, end_index: end } = annotation.url_citation;
    const citation: Citation = {
      ...(typeof url === 'string' && { url }),
      ...(typeof title === 'string' && { title }),
      ...(typeof content === 'string' && { citedText: content }),
      ...(typeof start === 'number' && typeof end === 'number' && { start, end }),
    };
    this.#cite(choice, state, citation);
  }

  #cite(choice: number, state: ReadChoice, citation: Citation): void {
    if (state.text < 0) this.#open(choice, state, { type: 'text' });
    this.#events.push({ type: 'part-citation', choice, part: state.text, citation });
  }

  #logprobs(choice: number, state: ReadChoice, logprobs: JsonObject): void {
    const tokens = [logprobs.content, logprobs.refusal].find((list) => Array.isArray(list) && list.length > 0);
    if (!Array.isArray(tokens) || state.parts === 0) return;
    const part = state.text >= 0 ? state.text : state.open;
    this.#events.push({ type: 'part-logprobs', choice, part, logprobs: tokens });
  }

  /** vLLM reports the stop sequence beside the finish reason. */
  #finish(choice: number, state: ReadChoice, raw: string | undefined, stopSequence?: Json): void {
    for (const source of this.#sources) {
      const citation = sourceCitation(source);
      if (citation) this.#cite(choice, state, citation);
    }
    this.#close(choice, state);
    if (state.details) {
      const signed = [...state.details.values()].filter((one) => one.signature !== undefined || one.data !== undefined);
      state.details = undefined;
      if (signed.length > 0) this.#hiddenSignature(choice, state, { reasoning_details: signed });
    }
    state.ended = true;
    this.#unended--;
    let reason = raw === undefined ? 'stop' : (entryOf(FINISH_REASONS, raw) ?? 'other');
    const isCut = reason === 'stop' && typeof stopSequence === 'string';
    if (isCut) reason = 'stop-sequence';
    if (state.calls && reason === 'stop') reason = 'tool-calls';
    const finish: Finish = { reason };
    if (raw !== undefined) finish.raw = raw;
    if (isCut) finish.stopSequence = stopSequence;
    this.#events.push({ type: 'choice-end', choice, finish });
  }
}

/** Merges items of the same index. Returns the text among them. */
function gatherDetails(state: ReadChoice, details: readonly Json[]): string {
  let text = '';
  details.forEach((piece, position) => {
    if (!isObject(piece)) return;
    text += textOf(piece.text) + textOf(piece.summary);
    const index = typeof piece.index === 'number' ? piece.index : position;
    state.details ??= new Map();
    const whole = state.details.get(index);
    if (!whole) {
      state.details.set(index, { ...piece });
      return;
    }
    for (const [member, value] of Object.entries(piece)) {
      if (value === null) continue;
      const grows =
        (member === 'text' || member === 'summary' || member === 'data') && typeof whole[member] === 'string';
      whole[member] = grows && typeof value === 'string' ? whole[member] + value : value;
    }
  });
  return text;
}

function sourceCitation(source: Json): Citation | undefined {
  if (typeof source === 'string') return { url: source };
  if (!isObject(source) || typeof source.url !== 'string') return undefined;
  return {
    url: source.url,
    ...(typeof source.title === 'string' && { title: source.title }),
    ...(typeof source.snippet === 'string' && { citedText: source.snippet }),
  };
}

/** A JSON object is complete only at its last bracket. */
function isWhole(json: string): boolean {
  return json.trimEnd().endsWith('}') ? parsedJson(json) !== undefined : json === '';
}
