/** Writes a chat client's bytes: passes frames of this format on, and writes frames of other formats. */
import { textIn } from '../../../canonical/bytes.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { Reply } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { memberSpan, patchMembers, pickMembers, withText } from '../../wire/json.ts';
import { OPENAI_CHAT } from '../names.ts';
import { encodeJson, JsonWriter } from '../reply/json-writer.ts';
import { COMMENT, ReplyLosses, type ReplySupport, warningComment } from '../reply/losses.ts';
import { type Example, LikeFrame } from '../reply/repeat-event.ts';
import { ChunkRewriter } from './chunk-rewriter.ts';
import { chatUsage, writeCompletion } from './completion.ts';
import { ChatFrame } from './read-reply.ts';
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
  /** Of the last frame that was passed on; of one like an example the example, so that no frame is kept. */
  #lastPassed: ChatFrame | Example | undefined;

  constructor(call: ChatCall) {
    this.#call = call;
    this.#script = new ChunkBuilder(call);
    this.#mark = new ChunkRewriter(call.model, call.wantsUsage === true);
  }

  get warnings(): readonly string[] {
    return this.#losses.warnings;
  }

  write(frame: Frame): Uint8Array {
    const { like } = frame;
    const chunk = like ? this.#script.chunkLike(like, frame.text ?? '') : '';
    if (chunk !== '') return encoder.encode(chunk);
    this.#losses.see(frame.events);
    let text = '';
    for (const event of frame.events) text += this.#script.chunksOf(event);
    return text === '' ? NO_BYTES : encoder.encode(text);
  }

  pass(frame: Frame): Uint8Array {
    if (frame instanceof LikeFrame) {
      this.#lastPassed = frame.like;
      return this.#mark.inLike(frame);
    }
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
        const chunks = this.#mark.events(frame.normalized ?? []) + this.#script.usageChunk();
        return chunks === '' && !frame.normalized ? frame.bytes : encoder.encode(`${chunks}data: [DONE]\n\n`);
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
    const chunks = normalized ?? [JSON.parse(textIn(bytes, jsonStart, bytes.length)) as JsonObject];
    const usage = chatUsage(used, this.#call);
    const rewritten = chunks.map((chunk) => (isObject(chunk.usage) ? { ...chunk, usage } : chunk));
    return encoder.encode(this.#mark.events(rewritten));
  }

  bill(usage: Usage): void {
    this.#script.bill(usage, this.#lastPassed && namingIn(this.#lastPassed));
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

  protected override body(reply: Reply): JsonObject {
    return writeCompletion(reply, this.call);
  }

  protected override errorBody(error: GatewayError): object {
    return { error: openaiErrorObject(error) };
  }
}

/** The members that name the reply, of one of its chunks. */
function namingIn(frame: ChatFrame | Example): JsonObject {
  if (!(frame instanceof ChatFrame))
    return pickMembers(Buffer.concat([frame.before, frame.after]).subarray(frame.jsonStart), NAMING);
  return frame.normalized?.[0] ?? pickMembers(frame.bytes.subarray(frame.jsonStart), NAMING);
}

function usageIn({ events }: Frame): Usage | undefined {
  for (const event of events) if (event.type === 'usage') return event.usage;
  return undefined;
}

/** Replaces the model name in a non-streaming reply. */
function named(bytes: Uint8Array, model: string): Uint8Array {
  const span = memberSpan(bytes, 'model');
  return span ? withText(bytes, span, model) : bytes;
}
