/** Finds a free port for tests. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * A port for a server that is started next. The system gives it to nobody who asks for any port for the next minute: a connection that its
 * listener closed first remains there as TIME_WAIT, which keeps no server from binding this very port.
 */
export async function freePort(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.resume();
  await once(client, 'close');
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
