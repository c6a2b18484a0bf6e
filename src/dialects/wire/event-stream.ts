/**
 * Splits AWS's binary event stream into messages and verifies both checksums of each (AWS, "Event stream encoding").
 */
import { GatewayError } from '../../canonical/errors.ts';

export interface EventStreamMessage {
  /** The message's own bytes. All messages joined are the input. */
  readonly bytes: Uint8Array;
  /** The headers that are texts: the message type (`:message-type`) and the type of the event or exception. */
  readonly headers: { readonly [name: string]: string };
  readonly payload: Uint8Array;
}

/** The content type of such a stream. */
export const EVENT_STREAM_TYPE = 'application/vnd.amazon.eventstream';

// A message begins with two lengths and their checksum and ends with a checksum of everything. All numbers are
// big-endian.
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** AWS sends at most 16 MiB of payload and 128 KiB of headers. */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;
const TEXT = 7;
const BYTES = 6;
/** Lengths of fixed-size values, by header type. */
const FIXED: { readonly [type: number]: number } = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

const decoder = new TextDecoder();

export class EventStreamCutter {
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Nothing can be decoded before this many bytes have arrived. */
  #needed = PRELUDE_BYTES;
  #fault: GatewayError | undefined;

  /**
   * Returns the messages that `chunk` completes. For a damaged message it throws `upstream_failed`, after the messages
   * before it were returned.
   */
  read(chunk: Uint8Array): EventStreamMessage[] {
    if (this.#fault) throw this.#fault;
    this.#pieces.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return [];
    const messages: EventStreamMessage[] = [];
    const rest = this.#cut(this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces), messages);
    this.#pieces = [rest];
    this.#length = rest.length;
    if (this.#fault && messages.length === 0) throw this.#fault;
    return messages;
  }

  /** Call it after the last chunk. Throws `upstream_failed` if the input ends inside a message. */
  end(): void {
    if (this.#fault) throw this.#fault;
    if (this.#length > 0) throw damaged('it ends inside a message');
  }

  /** Adds the complete messages and returns the remaining bytes. */
  #cut(bytes: Uint8Array, messages: EventStreamMessage[]): Uint8Array {
    let rest = bytes;
    try {
      while (rest.length >= PRELUDE_BYTES) {
        const total = messageLength(rest);
        if (rest.length < total) {
          this.#needed = total;
          return rest;
        }
        messages.push(messageOf(rest.subarray(0, total)));
        rest = rest.subarray(total);
      }
    } catch (thrown) {
      this.#fault = thrown instanceof GatewayError ? thrown : damaged('a header cannot be read', thrown);
    }
    this.#needed = PRELUDE_BYTES;
    return rest;
  }
}

function messageLength(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  if (Bun.hash.crc32(bytes.subarray(0, 8)) !== view.getUint32(8)) throw damaged('the checksum of a prelude is wrong');
  const total = view.getUint32(0);
  const least = PRELUDE_BYTES + view.getUint32(4) + CHECKSUM_BYTES;
  if (total < least || total > MAX_MESSAGE_BYTES) throw damaged(`a message of ${total} bytes`);
  return total;
}

function messageOf(bytes: Uint8Array): EventStreamMessage {
  const view = viewOf(bytes);
  const end = bytes.length - CHECKSUM_BYTES;
  if (Bun.hash.crc32(bytes.subarray(0, end)) !== view.getUint32(end))
    throw damaged('the checksum of a message is wrong');
  const headersEnd = PRELUDE_BYTES + view.getUint32(4);
  return { bytes, headers: headersOf(bytes, view, headersEnd), payload: bytes.subarray(headersEnd, end) };
}

function headersOf(bytes: Uint8Array, view: DataView, end: number): { [name: string]: string } {
  const headers: { [name: string]: string } = {};
  let at = PRELUDE_BYTES;
  while (at < end) {
    const nameEnd = at + 1 + view.getUint8(at);
    const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
    const type = view.getUint8(nameEnd);
    const isSized = type === TEXT || type === BYTES;
    const valueAt = nameEnd + (isSized ? 3 : 1);
    const length = isSized ? view.getUint16(nameEnd + 1) : FIXED[type];
    if (length === undefined || valueAt + length > end) throw damaged('a header cannot be read');
    if (type === TEXT) headers[name] = decoder.decode(bytes.subarray(valueAt, valueAt + length));
    at = valueAt + length;
  }
  return headers;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function damaged(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_failed', "The model's reply was damaged on its way.", { cause: cause ?? what });
}
