/** The floor of a proxy on this runtime: bytes from the client's socket to the upstream's and back, nothing parsed, checked or recorded. */
import type { Socket } from 'bun';

interface Client {
  upstream: Socket<Socket<Client>> | undefined;
  /** What came before the upstream was connected. */
  early: Buffer[];
}

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const hostname = '127.0.0.1';

Bun.listen<Client>({
  hostname,
  port: port ?? 0,
  socket: {
    open(client) {
      client.setNoDelay(true);
      client.data = { upstream: undefined, early: [] };
      Bun.connect<Socket<Client>>({
        hostname,
        port: upstreamPort ?? 0,
        data: client,
        socket: {
          open(upstream) {
            upstream.setNoDelay(true);
            client.data.upstream = upstream;
            for (const bytes of client.data.early.splice(0)) upstream.write(bytes);
          },
          data: (upstream, bytes) => void upstream.data.write(bytes),
          close: (upstream) => void upstream.data.end(),
          error: (upstream) => void upstream.data.end(),
        },
      }).catch(() => client.end());
    },
    data(client, bytes) {
      if (client.data.upstream) client.data.upstream.write(bytes);
      else client.data.early.push(Buffer.from(bytes));
    },
    close: (client) => void client.data.upstream?.end(),
    error: (client) => void client.data.upstream?.end(),
  },
});
