/** Puts into a vendor's own response what is the gateway's to say: the public name of the model, and how the reply is kept. */
import type { ChatCall } from '../../canonical/call.ts';
import type { JsonObject } from '../../canonical/json.ts';
import { memberSpan, patchMembers, spliceBytes } from '../json.ts';
import { keptAs } from './response-object.ts';

const encoder = new TextEncoder();

export class ReplyMark {
  readonly #model: string;
  readonly #quotedModel: Uint8Array;
  /** What the reply says of how it is kept; `undefined`: the vendor's own words stand. */
  readonly #kept: JsonObject | undefined;

  constructor(call: ChatCall) {
    this.#model = call.model;
    this.#quotedModel = encoder.encode(JSON.stringify(call.model));
    const { thread } = call;
    if (thread?.replyId !== undefined) this.#kept = { id: thread.replyId, ...keptAs(call) };
    else if (thread?.isResumed) this.#kept = keptAs(call);
  }

  /** Of an event's bytes, whose JSON begins there. */
  inEvent(bytes: Uint8Array, jsonStart: number): Uint8Array {
    const response = memberSpan(bytes, 'response', jsonStart);
    if (!response) return bytes;
    if (!this.#kept) return this.#named(bytes, response.start);
    return spliceBytes(bytes, response.start, response.end, this.inWhole(bytes.subarray(response.start, response.end)));
  }

  inWhole(bytes: Uint8Array): Uint8Array {
    if (!this.#kept) return this.#named(bytes, 0);
    return patchMembers(bytes, { ...this.#kept, model: this.#model });
  }

  inObject(response: JsonObject): JsonObject {
    return { ...response, ...this.#kept, ...('model' in response && { model: this.#model }) };
  }

  #named(bytes: Uint8Array, from: number): Uint8Array {
    const span = memberSpan(bytes, 'model', from);
    const quoted = this.#quotedModel;
    if (!span || Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start).equals(quoted)) {
      return bytes;
    }
    return spliceBytes(bytes, span.start, span.end, quoted);
  }
}
