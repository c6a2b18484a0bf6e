/** Writes a Responses client's bytes: passes frames of this format on, and writes frames of other formats. */
import { textIn } from '../../../canonical/bytes.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { COMMENT, ReplyLosses, type ReplySupport, warningComment } from '../reply/losses.ts';
import { writeAnnotation } from './citations.ts';
import { ResponseFrame } from './read-reply.ts';
import { ReplyRewriter } from './reply-rewriter.ts';
import { ResponseBuilder } from './write-stream.ts';

/** What the format can express in a reply. */
const REPLY_SUPPORT: ReplySupport = {
  dialect: OPENAI_RESPONSES,
  without: { audio: 'was sent as its transcript: the format has no audio' },
  logprobs: ['text'],
  shows: (citation) => writeAnnotation(citation) !== undefined,
  extras: ['service_tier'],
  oneTextSignature: false,
  severalChoices: false,
  stopSequence: false,
  explains: ['refusal', 'content-filter', 'broken-call'],
};

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();

export function createWriter(call: ChatCall): Writer {
  return call.stream ? new ResponsesStreamWriter(call) : new ResponsesNonStreamingWriter(call);
}

class ResponsesStreamWriter implements Writer {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #script: ResponseBuilder;
  readonly #mark: ReplyRewriter;
  readonly #losses = new ReplyLosses(REPLY_SUPPORT);
  /** Events that are written and not returned yet. */
  #text = '';
  #sequence = 0;
  /** The last response object that was passed on. An error event repeats it. */
  #passed: JsonObject | undefined;
  /** The usage of that response, if it is known. */
  #usage: Usage | undefined;
  #billed: Usage | undefined;
  #passes = false;
  #kept: JsonObject | undefined;

  constructor(call: ChatCall) {
    this.#mark = new ReplyRewriter(call);
    this.#script = new ResponseBuilder(call, (type, members) => this.#emit(type, members));
  }

  get warnings(): readonly string[] {
    return this.#losses.warnings;
  }

  write(frame: Frame): Uint8Array {
    this.#losses.see(frame.events);
    for (const event of frame.events) this.#script.take(event);
    return this.#handOut();
  }

  pass(frame: Frame): Uint8Array {
    if (!(frame instanceof ResponseFrame) || frame.kind === 'whole') return this.write(frame);
    if (frame.kind === 'useless') return NO_BYTES;
    this.#passes = true;
    if (frame.kind === 'blank') return frame.bytes;
    const { response, sequence_number: sequence } = frame.payload;
    if (typeof sequence === 'number') this.#sequence = sequence + 1;
    if (!isObject(response)) return frame.jsonStart >= 0 ? frame.bytes : eventAnew(frame);
    const usage = usageIn(frame, this.#billed);
    this.#passed = response;
    this.#usage = usage;
    if (frame.jsonStart >= 0) return this.#mark.inEvent(frame.bytes, frame.jsonStart, response, usage);
    return eventAnew(frame, { ...frame.payload, response: this.#mark.inObject(response, usage) });
  }

  bill(usage: Usage): void {
    this.#billed = usage;
    this.#script.bill(usage);
  }

  end(): Uint8Array {
    if (this.#passes) {
      this.#kept = this.#passed && this.#mark.inObject(this.#passed, this.#usage);
      return NO_BYTES;
    }
    const response = this.#script.complete();
    this.#kept = response;
    this.#text += warningComment(this.warnings);
    const word = response.status === 'incomplete' || response.status === 'failed' ? response.status : 'completed';
    this.#emit(`response.${word}`, { response });
    return this.#handOut();
  }

  /** Writes two events: each library knows only one of them. */
  fail(error: GatewayError): Uint8Array {
    const { code, message, param, type } = openaiErrorObject(error);
    if (this.#passed) {
      this.#kept = { ...this.#mark.inObject(this.#passed, this.#usage), status: 'failed', error: { code, message } };
    } else this.#kept = this.#script.broken({ code, message });
    if (this.#kept) this.#emit('response.failed', { response: this.#kept });
    this.#emit('error', { code, message, param, error: { type, code, message, param } });
    return this.#handOut();
  }

  keepAlive(): Uint8Array {
    return COMMENT;
  }

  kept(): JsonObject | undefined {
    return this.#kept;
  }

  #emit(type: string, members: JsonObject): void {
    this.#text += eventText({ type, sequence_number: this.#sequence++, ...members });
  }

  #handOut(): Uint8Array {
    if (this.#text === '') return NO_BYTES;
    const bytes = encoder.encode(this.#text);
    this.#text = '';
    return bytes;
  }
}

class ResponsesNonStreamingWriter implements Writer {
  readonly contentType = 'application/json';
  readonly #script: ResponseBuilder;
  readonly #mark: ReplyRewriter;
  readonly #losses = new ReplyLosses(REPLY_SUPPORT);
  #kept: JsonObject | undefined;
  #billed: Usage | undefined;
  #passed = false;

  constructor(call: ChatCall) {
    this.#mark = new ReplyRewriter(call);
    this.#script = new ResponseBuilder(call, () => {});
  }

  get warnings(): readonly string[] {
    return this.#losses.warnings;
  }

  write(frame: Frame): Uint8Array {
    this.#losses.see(frame.events);
    for (const event of frame.events) this.#script.take(event);
    return NO_BYTES;
  }

  pass(frame: Frame): Uint8Array {
    if (!(frame instanceof ResponseFrame) || frame.kind !== 'whole') return this.write(frame);
    this.#passed = true;
    const usage = usageIn(frame, this.#billed);
    this.#kept = this.#mark.inObject(frame.payload, usage);
    return this.#mark.inWhole(frame.bytes, frame.payload, usage);
  }

  bill(usage: Usage): void {
    this.#billed = usage;
    this.#script.bill(usage);
  }

  end(): Uint8Array {
    if (this.#passed) return NO_BYTES;
    this.#kept = this.#script.complete();
    return encoder.encode(JSON.stringify(this.#kept));
  }

  fail(error: GatewayError): Uint8Array {
    return encoder.encode(JSON.stringify({ error: openaiErrorObject(error) }));
  }

  keepAlive(): Uint8Array {
    return NO_BYTES;
  }

  kept(): JsonObject | undefined {
    return this.#kept;
  }
}

/** The usage that the provider reported, or the charged usage. */
function usageIn({ events }: ResponseFrame, billed: Usage | undefined): Usage | undefined {
  if (billed) return billed;
  for (const event of events) if (event.type === 'usage') return event.usage;
  return undefined;
}

/** Writes an event with its name. Some streams have no event names, and the libraries do not accept a mixture. */
function eventAnew({ bytes, payload: own }: ResponseFrame, payload = own): Uint8Array {
  const isNamed = bytes.length === 0 || /^event:/m.test(textIn(bytes, 0, bytes.length));
  return encoder.encode(isNamed ? eventText(payload) : `data: ${JSON.stringify(payload)}\n\n`);
}

function eventText(payload: JsonObject): string {
  return `event: ${String(payload.type)}\ndata: ${JSON.stringify(payload)}\n\n`;
}
