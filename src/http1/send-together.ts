/** Sends the parts of a message with one system call through one shared buffer: a buffer for each message costs more than copying. */
import type { Socket } from 'bun';
import { writeLatin1 } from './bytes.ts';

/** Larger messages are sent part by part. */
const SHARED_BYTES = 64 * 1024;

const shared = Buffer.allocUnsafeSlow(SHARED_BYTES);

/** `before` and `after` have one byte per character. Returns what the socket did not accept, as a copy if it may change. */
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
  const written = Math.max(0, socket.write(shared, 0, length));
  return written < length ? Buffer.from(shared.subarray(written, length)) : undefined;
}

/** Writing a few characters one by one is faster than a native call. */
const FEW = 16;

function put(text: string, at: number): void {
  const { length } = text;
  if (length > FEW) writeLatin1(shared, text, at);
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
