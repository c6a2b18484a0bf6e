/** Reads requests from a raw socket, for a server that misbehaves on purpose. */
import type { Socket } from 'node:net';

export interface RawRequest {
  method: string;
  path: string;
  headers: { [name: string]: string };
  body: Uint8Array;
}

/** The requests of one connection in order; `undefined` when the peer has closed it. */
export function requestsOf(socket: Socket): () => Promise<RawRequest | undefined> {
  let buffer: Buffer = Buffer.alloc(0);
  /** What came since `buffer` was last looked at: a long body is joined once, not with each of its pieces. */
  let pieces: Buffer[] = [];
  let pending = 0;
  let over = false;
  let wake = () => {};
  socket.on('data', (chunk: Buffer) => {
    pieces.push(chunk);
    pending += chunk.length;
    wake();
  });
  const available = () => buffer.length + pending;
  function joined(): Buffer {
    if (pieces.length > 0) buffer = Buffer.concat([buffer, ...pieces]);
    pieces = [];
    pending = 0;
    return buffer;
  }
  const end = () => {
    over = true;
    wake();
  };
  socket.on('end', end);
  socket.on('close', end);
  socket.on('error', end);

  async function until(found: () => number): Promise<number> {
    for (;;) {
      const at = found();
      if (at >= 0 || over) return at;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  function take(length: number): Buffer {
    const taken = joined().subarray(0, length);
    buffer = buffer.subarray(length);
    return taken;
  }
  async function takeLine(): Promise<string | undefined> {
    const at = await until(() => joined().indexOf('\r\n'));
    return at < 0
      ? undefined
      : take(at + 2)
          .toString()
          .trim();
  }
  async function takeChunks(): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    for (;;) {
      const line = await takeLine();
      if (line === undefined) return undefined;
      const length = Number.parseInt(line, 16);
      if ((await until(() => (available() >= length + 2 ? 0 : -1))) < 0) return undefined;
      chunks.push(take(length));
      take(2);
      if (length === 0) return Buffer.concat(chunks);
    }
  }

  return async () => {
    const headEnd = await until(() => joined().indexOf('\r\n\r\n'));
    if (headEnd < 0) return undefined;
    const [first = '', ...lines] = take(headEnd + 4)
      .toString()
      .trim()
      .split('\r\n');
    const [method = '', path = ''] = first.split(' ');
    const headers: { [name: string]: string } = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    if (headers['transfer-encoding'] === 'chunked') {
      const body = await takeChunks();
      return body && { method, path, headers, body };
    }
    const length = Number(headers['content-length'] ?? 0);
    if ((await until(() => (available() >= length ? 0 : -1))) < 0) return undefined;
    return { method, path, headers, body: take(length) };
  };
}
