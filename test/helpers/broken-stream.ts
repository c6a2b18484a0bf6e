/** Streams whose connection breaks at their end, as some formats signal errors. */
import { connect } from 'node:net';

/** All bytes of a response, its head included: the runtime's `fetch` may lose what came right before a connection broke. */
export function rawTextOf(
  url: string,
  { path, headers, body }: { path: string; headers: { [name: string]: string }; body: string },
): Promise<string> {
  const { hostname, port } = new URL(url);
  const lines = Object.entries({ host: hostname, 'content-length': String(Buffer.byteLength(body)), ...headers });
  const head = [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return new Promise((resolve) => {
    const socket = connect(
      Number(port),
      hostname,
      () => void socket.write(`${head}\r\nconnection: close\r\n\r\n${body}`),
    );
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => void pieces.push(piece));
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(pieces).toString()));
  });
}

/** Reads everything of a stream even if its connection breaks at the end. */
export async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch {
    // The text itself states that the stream failed.
  }
  return Buffer.concat(chunks).toString();
}
