/** Sends the parts of a message in one system call, through one buffer for all messages: a buffer each costs more than the copying. */
import type { Socket } from 'bun';

/** Parts that are longer together go out one after another. */
const ROOM_BYTES = 64 * 1024;

const room = Buffer.allocUnsafeSlow(ROOM_BYTES);

/** `before` and `after` are one byte a character. What the socket does not take is returned, as a copy where it may change. */
export function sendTogether(
  socket: Socket<unknown>,
  before: string,
  bytes: Uint8Array,
  after: string,
): Uint8Array | undefined {
  const end = before.length + bytes.length;
  const length = end + after.length;
  if (length > ROOM_BYTES) return sendApart(socket, before, bytes, after);
  if (before !== '') room.write(before, 0, 'latin1');
  room.set(bytes, before.length);
  if (after !== '') room.write(after, end, 'latin1');
  const written = Math.max(0, socket.write(room, 0, length));
  return written < length ? Buffer.from(room.subarray(written, length)) : undefined;
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
