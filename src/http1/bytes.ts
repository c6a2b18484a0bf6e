/** Parts of bytes, as bytes and as text, and the parts of a message sent with one system call. */
import type { Socket } from 'bun';
import { TAB } from './ascii.ts';

/**
 * Up to this size a copy is cheaper than a view: for a view the runtime keeps an object for the underlying memory, which costs as much as
 * copying some kilobytes.
 */
const COPIED_BYTES = 8 * 1024;

/** The bytes from `from` up to but excluding `to`. Shares memory only if the slice is long. */
export function sliceBytes(bytes: Buffer, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from > COPIED_BYTES) return bytes.subarray(from, to);
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}

/** A Buffer as Node and Bun have it. Its types leave out the methods for one encoding, which do not read the encoding's name. */
interface Latin1Buffer extends Buffer {
  latin1Slice(from: number, to: number): string;
  latin1Write(text: string, at: number): number;
}

/** The text of these bytes, one character for each byte. */
export function latin1(bytes: Buffer, from: number, to: number): string {
  return (bytes as Latin1Buffer).latin1Slice(from, to);
}

/** The text of these bytes; `usual` itself if it is equal, which is cheaper than a new string. */
export function latin1Like(usual: string, bytes: Buffer, from: number, to: number): string {
  if (to - from !== usual.length) return latin1(bytes, from, to);
  for (let i = 0; i < usual.length; i++) if (bytes[from + i] !== usual.charCodeAt(i)) return latin1(bytes, from, to);
  return usual;
}

/** Larger messages are sent part by part. */
const SHARED_BYTES = 64 * 1024;

/** Twice what is accepted of a client: its headers may go on beside others. */
const MOST_HEAD_BYTES = 2 * SHARED_BYTES;

const shared = Buffer.allocUnsafeSlow(MOST_HEAD_BYTES) as Latin1Buffer;

/**
 * Sends the parts of a message with one system call, through one shared buffer: a buffer for each message costs more than copying. `before`
 * and `after` have one byte per character. Returns what the socket did not accept, as a copy if it may
 * change.
 */
export function sendTogether(
  socket: Socket<unknown>,
  before: string,
  bytes: Uint8Array,
  after: string,
): Uint8Array | undefined {
  const end = before.length + bytes.length;
  const length = end + after.length;
  if (length > SHARED_BYTES) return sendApart(socket, before, bytes, after);
  put(before, 0);
  shared.set(bytes, before.length);
  put(after, end);
  return sendShared(socket, length);
}

function sendShared(socket: Socket<unknown>, length: number): Uint8Array | undefined {
  const written = Math.max(0, socket.write(shared, 0, length));
  return written < length ? Buffer.from(shared.subarray(written, length)) : undefined;
}

/** Writing a few characters one by one is faster than a native call. */
const FEW = 16;

function put(text: string, at: number): void {
  const { length } = text;
  if (length > FEW) shared.latin1Write(text, at);
  else for (let i = 0; i < length; i++) shared[at + i] = text.charCodeAt(i);
}

function sendApart(socket: Socket<unknown>, before: string, bytes: Uint8Array, after: string): Uint8Array | undefined {
  const parts = [Buffer.from(before, 'latin1'), bytes, Buffer.from(after, 'latin1')].filter(({ length }) => length > 0);
  for (const [index, part] of parts.entries()) {
    const written = Math.max(0, socket.write(part));
    if (written === part.length) continue;
    const rest = part.subarray(written);
    return index === parts.length - 1 ? rest : Buffer.concat([rest, ...parts.slice(index + 1)]);
  }
  return undefined;
}

/** 1 for each byte that the value of a header may have. Any other could end it and start another header. */
const VALUE_BYTES = new Uint8Array(256).fill(1, 0x20, 0x7f).fill(1, 0x80);
VALUE_BYTES[TAB] = 1;

/** A head is longer than is sent to anybody. */
export class LongHead extends RangeError {
  constructor() {
    super(`the head of the message is longer than ${MOST_HEAD_BYTES} bytes`);
  }
}

/**
 * The head of a message, written where it is sent from: texts that are joined cost several times as much. There is one for all messages, so
 * nothing else is sent between `begin` and `send` or `text`.
 */
class MessageHead {
  private length = 0;

  begin(): void {
    this.length = 0;
  }

  /** Adds a text of the program's own. Throws LongHead. */
  add(text: string): void {
    const from = this.length;
    const { length } = text;
    if (from + length > MOST_HEAD_BYTES) throw new LongHead();
    for (let i = 0; i < length; i++) shared[from + i] = text.charCodeAt(i);
    this.length = from + length;
  }

  /** Adds the value of a header. Returns whether it has only bytes that a value may have. Throws LongHead. */
  addValue(value: string): boolean {
    const from = this.length;
    const { length } = value;
    if (from + length > MOST_HEAD_BYTES) throw new LongHead();
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (VALUE_BYTES[code] !== 1) return false;
      shared[from + i] = code;
    }
    this.length = from + length;
    return true;
  }

  /** For a message that is not sent at once. */
  text(): string {
    return latin1(shared, 0, this.length);
  }

  /** Sends it with this body. Returns what the socket did not accept. */
  send(socket: Socket<unknown>, body: Uint8Array): Uint8Array | undefined {
    const length = this.length + body.length;
    if (length > SHARED_BYTES) return sendApart(socket, this.text(), body, '');
    shared.set(body, this.length);
    return sendShared(socket, length);
  }
}

export const messageHead = new MessageHead();
