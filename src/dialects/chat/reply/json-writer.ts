/** Writes a non-streaming reply: from the events of another format, or by passing the provider's body on. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type Reply } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { joinBytes, patchMembers } from '../../wire/json.ts';
import { ReplyLosses, type ReplySupport } from './losses.ts';

const NO_BYTES = new Uint8Array(0);
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();

export abstract class JsonWriter implements Writer {
  readonly contentType = 'application/json';
  protected readonly call: ChatCall;
  readonly #support: ReplySupport;
  #reply: Reply | undefined;
  #losses: ReplyLosses | undefined;
  protected billed: Usage | undefined;
  /** Set once a frame was passed on; nothing is written then. */
  protected passed = false;

  constructor(call: ChatCall, support: ReplySupport) {
    this.call = call;
    this.#support = support;
  }

  get warnings(): readonly string[] {
    return this.#losses?.warnings ?? NO_WARNINGS;
  }

  write(frame: Frame): Uint8Array {
    this.#reply ??= emptyReply();
    this.#losses ??= new ReplyLosses(this.#support);
    this.#losses.see(frame.events);
    for (const event of frame.events) addEvent(this.#reply, event);
    return NO_BYTES;
  }

  bill(usage: Usage): void {
    this.billed = usage;
  }

  end(): Uint8Array {
    if (this.passed) return this.passedEnd();
    const reply = this.#reply ?? emptyReply();
    if (this.billed) reply.usage = this.billed;
    return encodeJson(this.body(reply));
  }

  fail(error: GatewayError): Uint8Array {
    return encodeJson(this.errorBody(error));
  }

  keepAlive(): Uint8Array {
    return NO_BYTES;
  }

  /** The bytes that end a reply that was passed on. */
  protected passedEnd(): Uint8Array {
    return NO_BYTES;
  }

  abstract pass(frame: Frame): Uint8Array;
  protected abstract body(reply: Reply): object;
  protected abstract errorBody(error: GatewayError): object;
}

/** A writer that passes frames on as they arrive, rewritten for the client. */
export abstract class PassingJsonWriter extends JsonWriter {
  readonly #pieces: Uint8Array[] = [];

  override pass(frame: Frame): Uint8Array {
    this.passed = true;
    this.#pieces.push(this.rewritten(frame));
    return NO_BYTES;
  }

  protected override passedEnd(): Uint8Array {
    const bytes = joinBytes(this.#pieces);
    return this.billed ? patchMembers(bytes, { usage: this.usage(this.billed) }) : bytes;
  }

  /** The frame with the client's name of the model. */
  protected abstract rewritten(frame: Frame): Uint8Array;
  protected abstract usage(usage: Usage): JsonObject;
}

export function encodeJson(body: object): Uint8Array {
  return encoder.encode(JSON.stringify(body));
}
