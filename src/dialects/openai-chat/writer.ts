/** Turns frames into a chat client's bytes: its own format's pass, every other's are written anew. */
import { standsAt } from '../../canonical/bytes.ts';
import type { ChatCall } from '../../canonical/call.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import type { JsonObject } from '../../canonical/json.ts';
import { addEvent, emptyReply, type Reply } from '../../canonical/reply.ts';
import type { Frame, Writer } from '../dialect.ts';
import { openaiErrorObject } from '../error-bodies.ts';
import { isQuoted, memberSpan, spliceBytes } from '../json.ts';
import { ReplyLosses, warningComment } from '../reply-losses.ts';
import { ChunkScript } from './chunk-script.ts';
import { writeCompletion } from './completion.ts';
import { ChatFrame } from './reader.ts';
import { REPLY_ROOM } from './reply-room.ts';

const NO_BYTES = new Uint8Array(0);
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();
const DONE = encoder.encode('data: [DONE]\n\n');
const KEEP_ALIVE = encoder.encode(': ka\n\n');

export function createWriter(call: ChatCall): Writer {
  return call.stream ? new StreamWriter(call) : new WholeWriter(call);
}

class StreamWriter implements Writer {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #call: ChatCall;
  readonly #script: ChunkScript;
  readonly #model: ModelName;
  readonly #losses = new ReplyLosses(REPLY_ROOM);
  #done = false;

  constructor(call: ChatCall) {
    this.#call = call;
    this.#script = new ChunkScript(call);
    this.#model = new ModelName(call.model);
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
      case 'done':
        this.#done = true;
        return frame.mended ? encoder.encode(`${this.#model.events(frame.mended)}data: [DONE]\n\n`) : frame.bytes;
      default:
        return frame.kind satisfies never;
    }
  }

  #passChunk(frame: ChatFrame): Uint8Array {
    if (frame.mended) return encoder.encode(this.#model.events(frame.mended));
    return this.#model.inEvent(frame.bytes, frame.jsonStart);
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
    return KEEP_ALIVE;
  }
}

class WholeWriter implements Writer {
  readonly contentType = 'application/json';
  readonly #call: ChatCall;
  /** What is written anew. */
  #reply: Reply | undefined;
  #losses: ReplyLosses | undefined;
  #passed = false;

  constructor(call: ChatCall) {
    this.#call = call;
  }

  get warnings(): readonly string[] {
    return this.#losses?.warnings ?? NO_WARNINGS;
  }

  write(frame: Frame): Uint8Array {
    this.#reply ??= emptyReply();
    this.#losses ??= new ReplyLosses(REPLY_ROOM);
    this.#losses.see(frame.events);
    for (const event of frame.events) addEvent(this.#reply, event);
    return NO_BYTES;
  }

  pass(frame: Frame): Uint8Array {
    if (!(frame instanceof ChatFrame) || frame.kind !== 'whole') return this.write(frame);
    this.#passed = true;
    const [mended] = frame.mended ?? [];
    if (!mended) return named(frame.bytes, this.#call.model);
    return encoder.encode(JSON.stringify('model' in mended ? { ...mended, model: this.#call.model } : mended));
  }

  end(): Uint8Array {
    if (this.#passed) return NO_BYTES;
    return encoder.encode(JSON.stringify(writeCompletion(this.#reply ?? emptyReply(), this.#call)));
  }

  fail(error: GatewayError): Uint8Array {
    return encoder.encode(JSON.stringify({ error: openaiErrorObject(error) }));
  }

  keepAlive(): Uint8Array {
    return NO_BYTES;
  }
}

/** A whole reply with the public name where the vendor's stands. */
function named(bytes: Uint8Array, model: string): Uint8Array {
  const span = memberSpan(bytes, 'model');
  if (!span || isQuoted(bytes, span, model)) return bytes;
  return spliceBytes(bytes, span.start, span.end, encoder.encode(JSON.stringify(model)));
}

/** Puts the public name where the vendor's stands. */
class ModelName {
  readonly #name: string;
  readonly #quoted: Uint8Array;
  // The chunks of a stream begin alike up to the model's name, so the last beginning mostly saves the search.
  #head: Uint8Array = NO_BYTES;
  #newHead: Uint8Array = NO_BYTES;

  constructor(name: string) {
    this.#name = name;
    this.#quoted = encoder.encode(JSON.stringify(name));
  }

  inEvent(bytes: Uint8Array, jsonStart: number): Uint8Array {
    if (this.#head.length === 0 || !standsAt(bytes, 0, this.#head)) {
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
      const named = 'model' in payload ? { ...payload, model: this.#name } : payload;
      text += `data: ${JSON.stringify(named)}\n\n`;
    }
    return text;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && standsAt(a, 0, b);
}
