/** A client that sends a request and never reads the answer. */
import { connect, type Socket } from 'node:net';
import type { Stage } from './scene.ts';

/** The answer stays in the buffers of the system and of the gateway until the socket is destroyed. */
export function askWithoutReading({ at, caller }: Stage, path: string, request: object): Socket {
  const { hostname, port } = new URL(at.baseURL);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => {});
  const body = JSON.stringify(request);
  const head = `host: x\r\nauthorization: Bearer ${caller.key}\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  return socket;
}
