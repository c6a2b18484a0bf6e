/**
 * Writes the chunks of a stream from events: one id, one role, one finish reason per choice, an index on every list
 * item.
 */
import type { ChatCall, ReasoningSignature } from '../../../canonical/call.ts';
import { grown } from '../../../canonical/grown-text.ts';
import { newId } from '../../../canonical/id.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Likeness } from '../../dialect.ts';
import { needsWave, waveHeader } from '../../wire/wave.ts';
import { tokenRows } from '../reply/logprob-rows.ts';
import { explainedRefusal } from '../reply/refusal.ts';
import { annotation, chatUsage, codePoints, finishWord, usesOldFunctions } from './completion.ts';
import { writePartSignature, writeReasoningSignature } from './signature-carriers.ts';

interface WrittenChatPart {
  opens: PartOpening;
  /** The index of the tool call in its choice. */
  callIndex: number;
  /** Where a text part begins in the choice's content, in code points. */
  offset: number;
  /** The text of the reasoning, which is sent together with its signature. */
  text: string;
}

interface WrittenChoice {
  hasRole: boolean;
  ended: boolean;
  parts: WrittenChatPart[];
  calls: number;
  contentLength: number;
  /** Sent together at the end: the official library keeps only the last list of a stream. */
  annotations: JsonObject[];
  details: number;
}

/** Stands for a text, without characters that JSON escapes. */
const PROBE = 'modelport probes a text';

export class ChunkBuilder {
  readonly #call: ChatCall;
  readonly #oldFunctions: boolean;
  readonly #choices: WrittenChoice[] = [];
  #head = '';
  #usage: Usage | undefined;
  /** The chunk before and after the text of frames like this one; empty where their part is no text. */
  #like: Likeness | undefined;
  #before = '';
  #after = '';

  constructor(call: ChatCall) {
    this.#call = call;
    this.#oldFunctions = usesOldFunctions(call);
  }

  /** The chunk of a frame of this likeness; '' if it has to be written from its events. */
  chunkLike(like: Likeness, text: string): string {
    if (like !== this.#like) this.#learn(like);
    if (this.#before === '') return '';
    this.#choice(like.choice).contentLength += codePoints(text);
    return this.#before + JSON.stringify(text) + this.#after;
  }

  #learn(like: Likeness): void {
    this.#before = '';
    const { choice, part } = like;
    const { hasRole, parts } = this.#choice(choice);
    if (!hasRole || parts[part]?.opens.type !== 'text') return;
    const chunk = this.#delta(choice, { content: PROBE });
    const at = chunk.lastIndexOf(PROBE);
    this.#like = like;
    this.#before = chunk.slice(0, at - 1);
    this.#after = chunk.slice(at + PROBE.length + 1);
  }

  /** Writes the event as zero or more `data:` lines. */
  chunksOf(event: ReplyEvent): string {
    switch (event.type) {
      case 'reply-start':
        if (this.#head !== '') return '';
        this.#begin(event.id, event.createdSeconds, event.extras);
        return this.#delta(0, { content: '' });
      case 'part-start':
        return this.#open(event.choice, event.part, event.opens);
      case 'part-delta':
        return this.#grow(event.choice, event.part, event.delta);
      case 'part-transcript':
        return this.#delta(event.choice, { audio: { transcript: event.delta } });
      case 'part-signature':
        return this.#addSignature(event.choice, this.#part(event.choice, event.part), event.signature);
      case 'part-citation': {
        const choice = this.#choice(event.choice);
        const { offset } = this.#part(event.choice, event.part);
        const written = annotation(event.citation, offset);
        if (written) choice.annotations.push({ ...written, index: choice.annotations.length });
        return '';
      }
      case 'part-logprobs':
        return this.#delta(event.choice, {}, null, { content: tokenRows(event.logprobs), refusal: null });
      case 'part-end':
        return this.#part(event.choice, event.part).opens.type === 'image' ? this.#content(event.choice, ')') : '';
      case 'choice-end': {
        const choice = this.#choice(event.choice);
        if (choice.ended) return '';
        choice.ended = true;
        const refusal = explainedRefusal(event.finish, choice.parts);
        const word = finishWord(event.finish, choice.calls > 0, this.#oldFunctions);
        const { annotations } = choice;
        return (
          (annotations.length > 0 ? this.#delta(event.choice, { annotations }) : '') +
          (refusal === undefined ? '' : this.#delta(event.choice, { refusal })) +
          this.#delta(event.choice, {}, word, null, event.finish.stopSequence)
        );
      }
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'result':
      case 'reply-end':
      case 'error':
      case 'aside':
        return '';
      default:
        return event satisfies never;
    }
  }

  /** Sets the usage that is charged when the provider reported none. `head`: members that the chunks share. */
  bill(usage: Usage, head?: JsonObject): void {
    this.#usage = usage;
    if (head) {
      const { id, created } = head;
      this.#begin(typeof id === 'string' ? id : '', typeof created === 'number' ? created : undefined, undefined);
    }
  }

  /** The usage chunk, if there is usage and the client asked for it. */
  usageChunk(): string {
    if (!this.#usage || !this.#call.wantsUsage) return '';
    return `${this.#prefix()}"choices":[],"usage":${JSON.stringify(chatUsage(this.#usage, this.#call))}}\n\n`;
  }

  #begin(id: string, createdSeconds: number | undefined, extras: JsonObject | undefined): void {
    const members = {
      id: id || newId('chatcmpl-'),
      object: 'chat.completion.chunk',
      created: createdSeconds ?? this.#call.receivedSeconds ?? 0,
      model: this.#call.model,
      ...extras,
    };
    this.#head = `data: ${JSON.stringify(members).slice(0, -1)},`;
  }

  #prefix(): string {
    if (this.#head === '') this.#begin('', undefined, undefined);
    return this.#head;
  }

  #choice(index: number): WrittenChoice {
    let choice = this.#choices[index];
    if (!choice) {
      choice = { hasRole: false, ended: false, parts: [], calls: 0, contentLength: 0, annotations: [], details: 0 };
      this.#choices[index] = choice;
    }
    return choice;
  }

  #part(choice: number, part: number): WrittenChatPart {
    const { parts } = this.#choice(choice);
    parts[part] ??= { opens: { type: 'text' }, callIndex: 0, offset: 0, text: '' };
    return parts[part];
  }

  #delta(
    index: number,
    delta: JsonObject,
    finish: string | null = null,
    logprobs: Json = null,
    stopSequence?: string,
  ): string {
    const choice = this.#choice(index);
    const named = choice.hasRole ? delta : { role: 'assistant', ...delta };
    choice.hasRole = true;
    const stopped = stopSequence === undefined ? undefined : { stop_reason: stopSequence };
    const json = JSON.stringify({ index, delta: named, logprobs, finish_reason: finish, ...stopped });
    return `${this.#prefix()}"choices":[${json}]${this.#call.wantsUsage ? ',"usage":null' : ''}}\n\n`;
  }

  #content(choice: number, content: string): string {
    this.#choice(choice).contentLength += codePoints(content);
    return this.#delta(choice, { content });
  }

  #open(index: number, part: number, opens: PartOpening): string {
    const choice = this.#choice(index);
    const callIndex = opens.type === 'tool-call' ? choice.calls++ : 0;
    choice.parts[part] = { opens, callIndex, offset: choice.contentLength, text: '' };
    switch (opens.type) {
      case 'tool-call': {
        const { name, custom } = opens;
        if (this.#oldFunctions) return this.#delta(index, { function_call: { name, arguments: '' } });
        const call = custom ? { custom: { name, input: '' } } : { function: { name, arguments: '' } };
        const id = opens.id || newId('call_');
        const type = custom ? 'custom' : 'function';
        return this.#delta(index, { tool_calls: [{ index: callIndex, id, type, ...call }] });
      }
      case 'audio': {
        const expires = opens.expiresAtSeconds;
        const header = needsWave(opens.mimeType, this.#call.audio?.format)
          ? { data: waveHeader(opens.mimeType).toString('base64') }
          : {};
        const expiry = expires === undefined ? {} : { expires_at: expires };
        return this.#delta(index, { audio: { id: opens.id, ...header, ...expiry } });
      }
      case 'image':
        return this.#content(index, `![image](data:${opens.mimeType};base64,`);
      case 'text':
      case 'refusal':
      case 'reasoning':
      case 'native':
        return '';
      default:
        return opens satisfies never;
    }
  }

  #grow(choice: number, part: number, delta: string): string {
    if (delta === '') return '';
    const state = this.#part(choice, part);
    const { opens, callIndex } = state;
    switch (opens.type) {
      case 'text':
      case 'image':
        return this.#content(choice, delta);
      case 'reasoning':
        state.text = grown(state.text, delta);
        return this.#delta(choice, { reasoning_content: delta });
      case 'refusal':
        return this.#delta(choice, { refusal: delta });
      case 'audio':
        return this.#delta(choice, { audio: { data: delta } });
      case 'tool-call': {
        if (this.#oldFunctions) return this.#delta(choice, { function_call: { arguments: delta } });
        const call = opens.custom ? { custom: { input: delta } } : { function: { arguments: delta } };
        return this.#delta(choice, { tool_calls: [{ index: callIndex, ...call }] });
      }
      case 'native':
        return '';
      default:
        return opens satisfies never;
    }
  }

  #addSignature(index: number, part: WrittenChatPart, signature: ReasoningSignature): string {
    const choice = this.#choice(index);
    if (part.opens.type === 'reasoning')
      return this.#delta(index, writeReasoningSignature(signature, part.text, choice.details++));
    if (part.opens.type !== 'tool-call') return this.#delta(index, writePartSignature(signature));
    if (this.#oldFunctions) return '';
    // Some libraries reject a tool call delta without `function`.
    const nothing = part.opens.custom ? { custom: { input: '' } } : { function: { arguments: '' } };
    return this.#delta(index, {
      tool_calls: [{ index: part.callIndex, ...nothing, ...writePartSignature(signature) }],
    });
  }
}
