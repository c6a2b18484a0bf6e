/** Converts the parts of a candidate, or of a model turn, to events. */
import type { ReasoningSignature } from '../../../../canonical/call.ts';
import { grown } from '../../../../canonical/grown-text.ts';
import { isObject, type JsonObject } from '../../../../canonical/json.ts';
import type { PartOpening, ReplyEvent } from '../../../../canonical/reply.ts';
import { Base64Join } from '../../../wire/base64-join.ts';
import { GEMINI } from '../../names.ts';
import { unwrapFreeText } from '../../request/free-text.ts';
import type { ClientTool } from '../../request/legal-names.ts';
import { mintCallId } from '../tool-names.ts';
import { PartialArgs } from './partial-args.ts';
import { readSignature } from './signature.ts';

/** The position of the parts, and the client's tool names. */
export interface PartsPlace {
  turn: number;
  choice: number;
  tools: ReadonlyMap<string, ClientTool>;
}

/** The part that may continue. It ends when the next one begins, because its signature may arrive late. */
interface OpenPart {
  number: number;
  type: PartOpening['type'];
  isSigned: boolean;
  /** The next piece opens another part, even if it has the same type. */
  isOver: boolean;
  mimeType?: string;
  audio?: Base64Join;
  args?: PartialArgs;
}

export interface DecodedText {
  part: number;
  text: string;
}

export class PartsDecoder {
  readonly #place: PartsPlace;
  readonly #ids = new Set<string>();
  #count = 0;
  #calls = 0;
  #open: OpenPart | undefined;
  /** The texts so far, for citations that point into them. */
  readonly texts: DecodedText[] = [];
  images = 0;

  constructor(place: PartsPlace) {
    this.#place = place;
  }

  get sawCall(): boolean {
    return this.#calls > 0;
  }

  get hasSpoken(): boolean {
    return this.#count > 0;
  }

  /** The last text, if there is one. */
  get lastText(): DecodedText | undefined {
    return this.texts.at(-1);
  }

  read(part: JsonObject, events: ReplyEvent[]): void {
    const { text, functionCall, inlineData, thought, thoughtSignature, ...others } = part;
    const signature = readSignature(thoughtSignature);
    const isThought = thought === true;
    if (isObject(functionCall)) this.#call(functionCall, signature, events);
    else if (isObject(inlineData)) this.#media(part, inlineData, isThought, signature, events);
    else if (typeof text === 'string') this.#text(isThought ? 'reasoning' : 'text', text, signature, events);
    else if (Object.keys(others).length > 0) this.#native(part, events);
    else if (signature) this.#lateSignature(isThought ? 'reasoning' : 'text', signature, events);
  }

  /** Opens an empty text, for sources without a text. */
  openText(events: ReplyEvent[]): void {
    this.#begin({ type: 'text' }, events);
  }

  /** Ends the open part. */
  close(events: ReplyEvent[]): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    if (open.args) this.#delta(open, open.args.json(), events);
    if (open.audio) this.#delta(open, open.audio.end(), events);
    events.push({ type: 'part-end', choice: this.#place.choice, part: open.number });
  }

  #begin(opens: PartOpening, events: ReplyEvent[]): OpenPart {
    this.close(events);
    const open: OpenPart = { number: this.#count++, type: opens.type, isSigned: false, isOver: false };
    this.#open = open;
    events.push({ type: 'part-start', choice: this.#place.choice, part: open.number, opens });
    if (opens.type === 'text') this.texts.push({ part: open.number, text: '' });
    return open;
  }

  #delta(open: OpenPart, delta: string, events: ReplyEvent[]): void {
    if (delta === '') return;
    events.push({ type: 'part-delta', choice: this.#place.choice, part: open.number, delta });
  }

  #addSignature(open: OpenPart, signature: ReasoningSignature | undefined, events: ReplyEvent[]): void {
    if (!signature) return;
    open.isSigned = true;
    events.push({ type: 'part-signature', choice: this.#place.choice, part: open.number, signature });
  }

  #text(
    type: 'text' | 'reasoning',
    text: string,
    signature: ReasoningSignature | undefined,
    events: ReplyEvent[],
  ): void {
    if (text === '') {
      if (signature) this.#lateSignature(type, signature, events);
      return;
    }
    let open = this.#open;
    const goesOn = open?.type === type && !open.isOver && !(signature && open.isSigned);
    if (!open || !goesOn) open = this.#begin({ type }, events);
    this.#delta(open, text, events);
    if (type === 'text' && this.lastText) this.lastText.text = grown(this.lastText.text, text);
    this.#addSignature(open, signature, events);
    // The signature of reasoning ends its part; that of a text may come with its first piece.
    if (signature && type === 'reasoning') open.isOver = true;
  }

  /**
   * A signature in a part of its own belongs to the part before it. One with empty reasoning belongs only to reasoning.
   */
  #lateSignature(type: 'text' | 'reasoning', signature: ReasoningSignature, events: ReplyEvent[]): void {
    let open = this.#open;
    const isOwner = open && !open.isSigned && open.type !== 'native' && (type === 'text' || open.type === 'reasoning');
    if (!open || !isOwner) open = this.#begin({ type }, events);
    this.#addSignature(open, signature, events);
    open.isOver = true;
  }

  #call(call: JsonObject, signature: ReasoningSignature | undefined, events: ReplyEvent[]): void {
    const { name, id, args, partialArgs, willContinue } = call;
    if (typeof name !== 'string' || name === '') {
      this.#open?.args?.add(partialArgs);
      return;
    }
    const tool = this.#place.tools.get(name);
    const opens = { type: 'tool-call' as const, id: this.#idOf(id, name), name: tool?.name ?? name };
    const open = this.#begin(tool?.isCustom ? { ...opens, custom: true } : opens, events);
    if (willContinue === true || partialArgs !== undefined) {
      open.args = new PartialArgs();
      open.args.add(partialArgs);
    } else {
      const json = JSON.stringify(args ?? {});
      this.#delta(open, tool?.isCustom ? unwrapFreeText(json) : json, events);
    }
    this.#addSignature(open, signature, events);
  }

  /** Generates an id if the provider omitted it or used it twice. */
  #idOf(id: unknown, name: string): string {
    const index = this.#calls++;
    const isFit = typeof id === 'string' && id !== '' && !this.#ids.has(id);
    const known = isFit ? id : mintCallId(this.#place.turn, this.#place.choice, index, name);
    this.#ids.add(known);
    return known;
  }

  #media(
    part: JsonObject,
    data: JsonObject,
    isThought: boolean,
    signature: ReasoningSignature | undefined,
    events: ReplyEvent[],
  ): void {
    const { mimeType, data: base64 } = data;
    const isImage = typeof mimeType === 'string' && mimeType.startsWith('image/');
    const isAudio = typeof mimeType === 'string' && mimeType.startsWith('audio/');
    // An image among the thoughts is a draft, not part of the answer.
    if (isThought || typeof base64 !== 'string' || !(isImage || isAudio)) {
      this.#native(part, events);
      return;
    }
    if (isAudio) {
      this.#audio(mimeType, base64, signature, events);
      return;
    }
    this.images++;
    const open = this.#begin({ type: 'image', mimeType }, events);
    this.#delta(open, base64, events);
    this.#addSignature(open, signature, events);
  }

  /** All audio of a reply has one type, so the pieces form one part. */
  #audio(mimeType: string, base64: string, signature: ReasoningSignature | undefined, events: ReplyEvent[]): void {
    let open = this.#open;
    if (!open?.audio || open.mimeType !== mimeType || open.isSigned) {
      const { turn, choice } = this.#place;
      const id = mintCallId(turn, choice, this.#count, mimeType).replace('call_', 'audio_');
      open = this.#begin({ type: 'audio', id, mimeType }, events);
      open.mimeType = mimeType;
      open.audio = new Base64Join();
    }
    this.#delta(open, open.audio?.add(base64) ?? '', events);
    this.#addSignature(open, signature, events);
  }

  #native(part: JsonObject, events: ReplyEvent[]): void {
    this.#begin({ type: 'native', dialect: GEMINI, item: part }, events);
  }
}
