/** Writes a chat client's bytes: passes frames of this format on, and writes frames of other formats. */
import { bytesEqualAt, textIn } from '../../../canonical/bytes.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { Reply } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { isQuoted, memberSpan, patchMembers, pickMembers, quotedText, spliceBytes } from '../../wire/json.ts';
import { OPENAI_CHAT } from '../names.ts';
import { encodeJson, JsonWriter } from '../reply/json-writer.ts';
import { COMMENT, ReplyLosses, type ReplySupport, warningComment } from '../reply/losses.ts';
import { chatUsage, writeCompletion } from './completion.ts';
import { ChatFrame, PlainFrame } from './read-reply.ts';
import { ChunkBuilder } from './write-stream.ts';

/** What the format can express in a reply. */
const REPLY_SUPPORT: ReplySupport = {
  dialect: OPENAI_CHAT,
  without: {},
  logprobs: ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'native'],
  shows: ({ url }) => url !== undefined,
  extras: ['service_tier', 'system_fingerprint'],
  oneTextSignature: true,
  severalChoices: true,
  stopSequence: true,
  explains: ['refusal', 'content-filter'],
};

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
/** Members of a chunk that identify the reply. */
const NAMING = new Set(['id', 'created']);
/** An empty usage member in the spellings of providers. The unescaped quotes cannot occur inside a text. */
const NO_USAGE = [encoder.encode(',"usage":null'), encoder.encode(', "usage": null')];
const DONE = encoder.encode('data: [DONE]\n\n');

export function createWriter(call: ChatCall): Writer {
  return call.stream ? new ChatStreamWriter(call) : new ChatNonStreamingWriter(call);
}

class ChatStreamWriter implements Writer {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #call: ChatCall;
  readonly #script: ChunkBuilder;
  readonly #mark: ChunkRewriter;
  readonly #losses = new ReplyLosses(REPLY_SUPPORT);
  #done = false;
  #lastPassed: ChatFrame | undefined;

  constructor(call: ChatCall) {
    this.#call = call;
    this.#script = new ChunkBuilder(call);
    this.#mark = new ChunkRewriter(call.model, call.wantsUsage === true);
  }

  get warnings(): readonly string[] {
    return this.#losses.warnings;
  }

  write(frame: Frame): Uint8Array {
    this.#losses.see(frame.events);
    let text = '';
    for (const event of frame.events) text += this.#script.chunksOf(event);
    return text === '' ? NO_BYTES : encoder.encode(text);
  }

  pass(frame: Frame): Uint8Array {
    if (!(frame instanceof ChatFrame) || frame.kind === 'whole') return this.write(frame);
    switch (frame.kind) {
      case 'blank':
        return frame.bytes;
      case 'useless':
        return NO_BYTES;
      case 'usage':
        return this.#call.wantsUsage ? this.#passChunk(frame) : NO_BYTES;
      case 'chunk':
        return this.#passChunk(frame);
      case 'done': {
        this.#done = true;
        const said = this.#mark.events(frame.normalized ?? []) + this.#script.usageChunk();
        return said === '' && !frame.normalized ? frame.bytes : encoder.encode(`${said}data: [DONE]\n\n`);
      }
      default:
        return frame.kind satisfies never;
    }
  }

  #passChunk(frame: ChatFrame): Uint8Array {
    this.#lastPassed = frame;
    const used = this.#call.countsAlone && usageIn(frame);
    if (used) return this.#withCounts(frame, used);
    if (frame.normalized) return encoder.encode(this.#mark.events(frame.normalized));
    return this.#mark.inEvent(frame);
  }

  #withCounts({ bytes, jsonStart, normalized }: ChatFrame, used: Usage): Uint8Array {
    const said = normalized ?? [JSON.parse(textIn(bytes, jsonStart, bytes.length)) as JsonObject];
    const usage = chatUsage(used, this.#call);
    const told = said.map((chunk) => (isObject(chunk.usage) ? { ...chunk, usage } : chunk));
    return encoder.encode(this.#mark.events(told));
  }

  bill(usage: Usage): void {
    const last = this.#lastPassed;
    this.#script.bill(
      usage,
      last && (last.normalized?.[0] ?? pickMembers(last.bytes.subarray(last.jsonStart), NAMING)),
    );
  }

  end(): Uint8Array {
    if (this.#done) return NO_BYTES;
    this.#done = true;
    const last = this.#script.usageChunk() + warningComment(this.warnings);
    return last === '' ? DONE : encoder.encode(`${last}data: [DONE]\n\n`);
  }

  fail(error: GatewayError): Uint8Array {
    return encoder.encode(`data: ${JSON.stringify({ error: openaiErrorObject(error) })}\n\n`);
  }

  keepAlive(): Uint8Array {
    return COMMENT;
  }
}

class ChatNonStreamingWriter extends JsonWriter {
  constructor(call: ChatCall) {
    super(call, REPLY_SUPPORT);
  }

  override pass(frame: Frame): Uint8Array {
    if (frame instanceof PlainFrame) return this.#passPlain(frame);
    if (!(frame instanceof ChatFrame) || frame.kind !== 'whole') return this.write(frame);
    this.passed = true;
    const [normalized] = frame.normalized ?? [];
    const used = this.billed ?? (this.call.countsAlone && usageIn(frame));
    const usage = used && chatUsage(used, this.call);
    if (usage)
      return patchMembers(normalized ? encodeJson(normalized) : frame.bytes, { model: this.call.model, usage });
    if (!normalized) return named(frame.bytes, this.call.model);
    return encodeJson('model' in normalized ? { ...normalized, model: this.call.model } : normalized);
  }

  #passPlain(frame: PlainFrame): Uint8Array {
    this.passed = true;
    const { bytes, model } = frame;
    const used = this.billed ?? (this.call.countsAlone && usageIn(frame));
    if (used) return patchMembers(bytes, { model: this.call.model, usage: chatUsage(used, this.call) });
    if (isQuoted(bytes, model, this.call.model)) return bytes;
    return spliceBytes(bytes, model.start, model.end, quotedText(this.call.model));
  }

  protected override body(reply: Reply): JsonObject {
    return writeCompletion(reply, this.call);
  }

  protected override errorBody(error: GatewayError): object {
    return { error: openaiErrorObject(error) };
  }
}

function usageIn({ events }: Frame): Usage | undefined {
  for (const event of events) if (event.type === 'usage') return event.usage;
  return undefined;
}

/** Replaces the model name in a non-streaming reply. */
function named(bytes: Uint8Array, model: string): Uint8Array {
  const span = memberSpan(bytes, 'model');
  if (!span || isQuoted(bytes, span, model)) return bytes;
  return spliceBytes(bytes, span.start, span.end, encoder.encode(JSON.stringify(model)));
}

/** Replaces the model name in a chunk, and removes `usage: null` unless the client asked for usage. */
class ChunkRewriter {
  readonly #name: string;
  readonly #quoted: Uint8Array;
  readonly #wantsUsage: boolean;
  // Chunks of a stream have the same bytes up to the model name. Comparing them with the last chunk usually avoids a
  // search.
  #head: Uint8Array = NO_BYTES;
  #newHead: Uint8Array = NO_BYTES;
  // They also have the same bytes after the empty usage; this is that ending, and how much of it to remove.
  #tail: Uint8Array = NO_BYTES;
  #cut = 0;

  constructor(name: string, wantsUsage: boolean) {
    this.#name = name;
    this.#quoted = encoder.encode(JSON.stringify(name));
    this.#wantsUsage = wantsUsage;
  }

  inEvent({ bytes, jsonStart, hasNullUsage }: ChatFrame): Uint8Array {
    const named = this.#named(bytes, jsonStart);
    if (this.#wantsUsage || !hasNullUsage) return named;
    const { length } = this.#tail;
    const at = named.length - length;
    if (length > 0 && bytesEqualAt(named, at, this.#tail)) return spliceBytes(named, at, at + this.#cut, NO_BYTES);
    const text = Buffer.from(named.buffer, named.byteOffset, named.length);
    for (const nothing of NO_USAGE) {
      const found = text.indexOf(nothing);
      if (found < 0) continue;
      this.#tail = named.slice(found);
      this.#cut = nothing.length;
      return spliceBytes(named, found, found + nothing.length, NO_BYTES);
    }
    return named;
  }

  #named(bytes: Uint8Array, jsonStart: number): Uint8Array {
    if (this.#head.length === 0 || !bytesEqualAt(bytes, 0, this.#head)) {
      const span = memberSpan(bytes, 'model', jsonStart);
      if (!span) return bytes;
      this.#head = bytes.slice(0, span.end);
      this.#newHead = spliceBytes(this.#head, span.start, span.end, this.#quoted);
      if (isSame(this.#head, this.#newHead)) this.#newHead = this.#head;
    }
    if (this.#newHead === this.#head) return bytes;
    return spliceBytes(bytes, 0, this.#head.length, this.#newHead);
  }

  events(payloads: readonly JsonObject[]): string {
    let text = '';
    for (const payload of payloads) {
      const named: JsonObject = 'model' in payload ? { ...payload, model: this.#name } : { ...payload };
      if (!this.#wantsUsage && named.usage === null) delete named.usage;
      text += `data: ${JSON.stringify(named)}\n\n`;
    }
    return text;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && bytesEqualAt(a, 0, b);
}
