/** Writes the events of a choice as parts of a candidate. */
import { grown } from '../../../canonical/grown-text.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { Finish, ReplyEvent, ReplyPart } from '../../../canonical/reply.ts';
import { saysRefusal } from '../reply/refusal.ts';
import { writeFinish } from './finish.ts';
import { type PlacedCitation, writeGrounding } from './parts/grounding.ts';
import { writeLogprobs } from './parts/logprobs.ts';
import { carriedSignature } from './parts/signature.ts';
import { argsOf, audioType, writePart } from './parts/write-parts.ts';

type CandidateEvent = Extract<ReplyEvent, { choice: number }>;

/** A part that is not completely sent; `content` is all of it. */
interface Growing extends ReplyPart {
  /** How much of the content has been sent. */
  sent: number;
  isOver: boolean;
}

const BASE64_GROUP = 4;

export class CandidateBuilder {
  readonly #parts = new Map<number, Growing>();
  readonly #citations: PlacedCitation[] = [];
  #logprobs: ReplyPart['logprobs'] = [];
  #finish: Finish | undefined;
  #pending: JsonObject[] = [];
  /** Tool calls whose arguments are not JSON yet. At the end it is known whether they are incomplete. */
  readonly #unclear: Growing[] = [];

  take(event: CandidateEvent): void {
    if (event.type === 'part-start') {
      this.#parts.set(event.part, { opens: event.opens, content: '', sent: 0, isOver: false });
      return;
    }
    if (event.type === 'choice-end') {
      this.#finish = event.finish;
      return;
    }
    const part = this.#parts.get(event.part);
    if (!part) return;
    switch (event.type) {
      case 'part-delta':
        part.content = grown(part.content, event.delta);
        this.#grow(part, event.delta);
        return;
      case 'part-transcript':
        this.#pending.push({ text: event.delta });
        return;
      case 'part-signature':
        this.#addSignature(part, event.signature);
        return;
      case 'part-citation':
        this.#citations.push({ part: event.part, citation: event.citation });
        return;
      case 'part-logprobs':
        this.#logprobs = [...(this.#logprobs ?? []), ...event.logprobs];
        return;
      case 'part-end':
        this.#end(part);
        return;
      default:
        event satisfies never;
    }
  }

  /** Returns the parts that are ready since the last call. */
  pending(): JsonObject[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }

  /** The members of the last chunk. The client library drops a turn whose last chunk has no parts. */
  closing(): JsonObject {
    for (const call of this.#unclear) {
      if (this.#finish?.reason !== 'length') this.#pending.push(...writePart(call));
    }
    const parts = this.pending();
    const texts = new Map([...this.#parts].map(([number, part]) => [number, part.content]));
    return {
      content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] },
      ...(this.#finish && writeFinish(this.#finish, saysRefusal([...this.#parts.values()]))),
      ...writeGrounding(this.#citations, texts),
      ...writeLogprobs(this.#logprobs ?? []),
    };
  }

  #grow(part: Growing, delta: string): void {
    switch (part.opens.type) {
      case 'text':
      case 'refusal':
        if (delta !== '') this.#pending.push({ text: delta });
        return;
      case 'reasoning':
        if (delta !== '') this.#pending.push({ text: delta, thought: true });
        return;
      case 'audio':
        this.#sendAudio(part, part.content.length - (part.content.length % BASE64_GROUP));
        return;
      case 'tool-call':
      case 'image':
      case 'native':
        return;
      default:
        part.opens satisfies never;
    }
  }

  #sendAudio(part: Growing, end: number): void {
    if (part.opens.type !== 'audio' || end <= part.sent) return;
    const data = part.content.slice(part.sent, end);
    part.sent = end;
    this.#pending.push({ inlineData: { mimeType: audioType(part.opens), data } });
  }

  /** A signature goes with its part if that is not sent yet, otherwise in an empty part after it. */
  #addSignature(part: Growing, signature: ReplyPart['signature']): void {
    const { type } = part.opens;
    if (!part.isOver && (type === 'tool-call' || type === 'image')) {
      if (signature) part.signature = signature;
      return;
    }
    const isThought = type === 'reasoning';
    this.#pending.push({ text: '', ...(isThought && { thought: true }), ...carriedSignature(signature) });
  }

  #end(part: Growing): void {
    part.isOver = true;
    const { opens } = part;
    if (opens.type === 'audio') this.#sendAudio(part, part.content.length);
    else if (opens.type === 'tool-call' && !opens.custom && !argsOf(part.content)) this.#unclear.push(part);
    else if (opens.type !== 'text' && opens.type !== 'refusal' && opens.type !== 'reasoning') {
      this.#pending.push(...writePart(part));
    }
  }
}
