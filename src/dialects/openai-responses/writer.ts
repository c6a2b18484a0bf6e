/** Turns frames into a Responses client's bytes: its own format's pass, every other's are written anew. */
import type { ChatCall } from '../../canonical/call.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { Frame, Writer } from '../dialect.ts';
import { openaiErrorObject } from '../error-bodies.ts';
import { ReplyLosses, warningComment } from '../reply-losses.ts';
import { ResponseFrame } from './reader.ts';
import { ReplyMark } from './reply-mark.ts';
import { REPLY_ROOM } from './reply-room.ts';
import { ResponseScript } from './response-script.ts';

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(': ka\n\n');

export function createWriter(call: ChatCall): Writer {
  return call.stream ? new StreamWriter(call) : new WholeWriter(call);
}

class StreamWriter implements Writer {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #script: ResponseScript;
  readonly #mark: ReplyMark;
  readonly #losses = new ReplyLosses(REPLY_ROOM);
  /** Events written and not yet handed out. */
  #text = '';
  #sequence = 0;
  /** The last response object that was passed on: what a failure is told about. */
  #passed: JsonObject | undefined;
  #passes = false;
  #kept: JsonObject | undefined;

  constructor(call: ChatCall) {
    this.#mark = new ReplyMark(call);
    this.#script = new ResponseScript(call, (type, members) => this.#emit(type, members));
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
    if (isObject(response)) this.#passed = response;
    if (frame.jsonStart >= 0)
      return isObject(response) ? this.#mark.inEvent(frame.bytes, frame.jsonStart) : frame.bytes;
    const payload = isObject(response) ? { ...frame.payload, response: this.#mark.inObject(response) } : frame.payload;
    return encoder.encode(eventText(payload));
  }

  end(): Uint8Array {
    if (this.#passes) {
      this.#kept = this.#passed && this.#mark.inObject(this.#passed);
      return NO_BYTES;
    }
    const response = this.#script.complete();
    this.#kept = response;
    this.#text += warningComment(this.warnings);
    const word = response.status === 'incomplete' || response.status === 'failed' ? response.status : 'completed';
    this.#emit(`response.${word}`, { response });
    return this.#handOut();
  }

  /** Some libraries know only the one event, some only the other. */
  fail(error: GatewayError): Uint8Array {
    const { code, message, param, type } = openaiErrorObject(error);
    if (this.#passed) {
      this.#kept = { ...this.#mark.inObject(this.#passed), status: 'failed', error: { code, message } };
    } else if (this.#script.hasBegun) {
      this.#kept = this.#script.broken({ code, message });
    }
    if (this.#kept) this.#emit('response.failed', { response: this.#kept });
    this.#emit('error', { code, message, param, error: { type, code, message, param } });
    return this.#handOut();
  }

  keepAlive(): Uint8Array {
    return KEEP_ALIVE;
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

class WholeWriter implements Writer {
  readonly contentType = 'application/json';
  readonly #script: ResponseScript;
  readonly #mark: ReplyMark;
  readonly #losses = new ReplyLosses(REPLY_ROOM);
  #kept: JsonObject | undefined;
  #passed = false;

  constructor(call: ChatCall) {
    this.#mark = new ReplyMark(call);
    this.#script = new ResponseScript(call, () => {});
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
    this.#kept = this.#mark.inObject(frame.payload);
    return this.#mark.inWhole(frame.bytes);
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

function eventText(payload: JsonObject): string {
  return `event: ${String(payload.type)}\ndata: ${JSON.stringify(payload)}\n\n`;
}
