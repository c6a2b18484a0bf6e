import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { hasOpenssl, makeCertificate } from '../../test/helpers/certificate.ts';
import { echo, source, text } from '../../test/helpers/raw-client.ts';
import { PATIENCE } from './client-connection.ts';
import { node } from './fuzz/node-peer.ts';
import { type Certificate, listen } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-tls-'));
const troubles: string[] = [];
const servers: { kill(): void }[] = [];
afterAll(() => {
  for (const server of servers) server.kill();
  rmSync(folder, { recursive: true });
});

function serve(tls: Certificate, answer: Parameters<typeof listen>[0]['answer'] = echo, timeouts = PATIENCE) {
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    shared: false,
    answer,
    refuse: ({ status, message }) => ({ status, headers: {}, body: message }),
    reportError: (sentence) => void troubles.push(sentence),
    timeouts,
    tls,
  });
  servers.push(server);
  return server;
}

async function open(port: number, ca: string): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca });
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN;

/** Sends the text and resolves with everything received when it ends so. */
function ask(socket: TLSSocket, words: string, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    socket.on('data', (bytes) => {
      seen += bytes;
      if (seen.endsWith(end)) resolve(seen);
    });
    socket.on('close', () => reject(new Error(`closed after ${seen}`)));
    socket.write(words);
  });
}

describe.skipIf(!hasOpenssl || !node)('a TLS port', () => {
  test('serves requests, kept connections, large bodies and streams', async () => {
    const made = makeCertificate(folder, 'one');
    const { port } = serve(made);
    const url = `https://127.0.0.1:${port}`;
    const tls = { ca: made.cert };
    expect(await (await fetch(`${url}/a?b`, { tls })).text()).toBe('GET /a?b - ');
    const body = 'x'.repeat(5_000_000);
    expect(await (await fetch(url, { tls, method: 'POST', body })).text()).toBe(`POST / - ${body}`);
    const streaming = serve(made, () => ({ status: 200, headers: {}, body: source(['a', 'b'.repeat(300_000), 'c']) }));
    expect(await (await fetch(`https://127.0.0.1:${streaming.port}`, { tls })).text()).toHaveLength(300_002);
    const socket = await open(port, made.cert);
    expect(await ask(socket, 'GET /1 HTTP/1.1\r\nhost: x\r\n\r\n', 'GET /1 - ')).toStartWith('HTTP/1.1 200');
    expect(await ask(socket, 'GET /2 HTTP/1.1\r\nhost: x\r\n\r\n', 'GET /2 - ')).toStartWith('HTTP/1.1 200');
    socket.destroy();
  });

  test('uses a renewed certificate for new connections, and continues open ones', async () => {
    const first = makeCertificate(folder, 'first');
    const release = Promise.withResolvers<void>();
    const server = serve(first, async ({ target }) => {
      if (target === '/slow') await release.promise;
      return text(target);
    });
    const kept = await open(server.port, first.cert);
    expect(nameOf(kept)).toBe('first');
    const slow = ask(kept, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n', '/slow');
    const second = makeCertificate(folder, 'second');
    const before = server.port;
    server.renew(second);
    expect(server.port).toBe(before);
    await Bun.sleep(20);
    for (let again = 0; again < 20; again++) {
      const fresh = await open(server.port, second.cert);
      expect(nameOf(fresh)).toBe('second');
      fresh.destroy();
    }
    release.resolve();
    expect(await slow).toStartWith('HTTP/1.1 200');
    expect(await ask(kept, 'GET /next HTTP/1.1\r\nhost: x\r\n\r\n', '/next')).toStartWith('HTTP/1.1 200');
    kept.destroy();
    // A key that does not fit changes nothing.
    expect(() => server.renew({ cert: second.cert, key: first.key })).toThrow();
    const fresh = await open(server.port, second.cert);
    expect(nameOf(fresh)).toBe('second');
    fresh.destroy();
  });

  test('loses no connection when the certificate is renewed often', async () => {
    const made = [makeCertificate(folder, 'a'), makeCertificate(folder, 'b')];
    const server = serve(made[0]!);
    const renewing = setInterval(() => server.renew(made[Math.random() < 0.5 ? 0 : 1]!), 1);
    const requests = Array.from({ length: 300 }, async (_, place) => {
      await Bun.sleep(place);
      const url = `https://127.0.0.1:${server.port}/${place}`;
      const response = await fetch(url, { tls: { rejectUnauthorized: false }, headers: { connection: 'close' } });
      return response.text();
    });
    expect(await Promise.all(requests)).toEqual(requests.map((_, place) => `GET /${place} - `));
    clearInterval(renewing);
  });

  test("supports pauses, a refusal during the body, and the peer's address", async () => {
    const made = makeCertificate(folder, 'one');
    const { port } = serve(made, async (request) => {
      if (request.target === '/address') return text(request.address);
      if (request.target === '/no') return { status: 413, headers: {}, body: 'no' };
      await Bun.sleep(100);
      return echo(request);
    });
    const tls = { ca: made.cert };
    const url = `https://127.0.0.1:${port}`;
    expect(await (await fetch(`${url}/address`, { tls })).text()).toBe('127.0.0.1');
    const body = 'x'.repeat(3_000_000);
    expect(await (await fetch(url, { tls, method: 'POST', body })).text()).toBe(`POST / - ${body}`);
    const refused = await fetch(`${url}/no`, { tls, method: 'POST', body: 'x'.repeat(20_000_000) });
    expect([refused.status, await refused.text()]).toEqual([413, 'no']);
  });

  test('closes a connection whose client does not answer the end', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const made = makeCertificate(folder, 'one');
    let answered = 0;
    const answer = () => {
      answered++;
      return text('x');
    };
    const { port } = serve(made, answer, { ...PATIENCE, idleMs: 200, lingerMs: 200 });
    const before = descriptors();
    // The client reads nothing, so it does not see the end.
    const program = `const { connect } = require('node:tls');
      const o = { port: ${port}, host: '127.0.0.1', rejectUnauthorized: false };
      for (let n = 0; n < 10; n++) connect(o, function () {
        this.write('GET / HTTP/1.1\\r\\nhost: x\\r\\n' + (n % 2 ? 'connection: close\\r\\n' : '') + '\\r\\n');
      }).on('error', () => {});
      setTimeout(() => {}, 60000);`;
    const client = Bun.spawn([node!, '-e', program], { stdout: 'ignore' });
    const until = async (holds: () => boolean) => {
      for (const end = performance.now() + 25_000; !holds() && performance.now() < end; ) await Bun.sleep(20);
      expect(holds()).toBe(true);
    };
    await until(() => answered === 10);
    await until(() => descriptors() <= before + 1);
    client.kill();
    await client.exited;
  }, 60_000);

  test('closes a client without TLS, and others are not affected', async () => {
    const { port } = serve(makeCertificate(folder, 'one'));
    const plain = connectPlain(port, '127.0.0.1');
    plain.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    plain.resume();
    await new Promise((resolve) => plain.on('close', resolve));
    expect(troubles).toEqual([]);
  });

  test('refuses a port that another program uses', () => {
    const made = makeCertificate(folder, 'one');
    const { port } = serve(made);
    const taken = () =>
      listen({
        hostname: '127.0.0.1',
        port,
        shared: false,
        answer: echo,
        refuse: () => text(''),
        reportError: () => {},
        tls: made,
      });
    expect(taken).toThrow();
  });
});
