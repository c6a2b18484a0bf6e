import { describe, expect, test } from 'bun:test';
import { answered, echo, GET, open, readAll, SHORT, serve, text } from '../../test/raw-client.ts';

describe('connections', () => {
  const server = serve(echo);
  test('connection: close, and HTTP/1.0, end with the answer', async () => {
    for (const request of ['GET / HTTP/1.1\nhost: x\nconnection: Close\n\n', 'GET / HTTP/1.0\n\n']) {
      const line = await open(server);
      line.say(request);
      expect(await line.closed()).toBe(answered('GET / - ', 'connection: close\n'));
    }
  });

  test('HEAD is told the length and no body', async () => {
    const line = await open(server);
    line.say('HEAD / HTTP/1.1\nhost: x\n\n');
    expect(await line.ends('\n\n')).toBe('HTTP/1.1 200 OK\nx-is: text\ncontent-length: 9\n\n');
    line.socket.destroy();
  });

  test('the address of the other end', async () => {
    const line = await open(serve(({ address }) => text(address)));
    line.say(GET);
    expect(await line.ends('127.0.0.1')).toBe(answered('127.0.0.1'));
    line.socket.destroy();
  });

  test('a stop ends idle connections at once and the others with their answer', async () => {
    let release = () => {};
    const waited = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stopping = serve(async () => {
      await waited;
      return text('done');
    });
    const idle = await open(stopping);
    const busy = await open(stopping);
    busy.say(GET);
    await Bun.sleep(20);
    const stopped = stopping.stop();
    await idle.closed();
    release();
    expect(await busy.closed()).toBe(answered('done', 'connection: close\n'));
    await stopped;
  });

  test('a stop ends a connection whose last request left part of its body unsent', async () => {
    const stopping = serve(() => text('no'));
    const line = await open(stopping);
    line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\n');
    await line.ends('no');
    line.say('he');
    await Bun.sleep(20);
    const begun = performance.now();
    await stopping.stop();
    expect(performance.now() - begun).toBeLessThan(500);
    await line.closed();
  });

  test('what a slow client has not fetched yet outlives the connection', async () => {
    const body = 'x'.repeat(500_000);
    const server = serve(() => text(body), SHORT);
    const last = await open(server);
    const idle = await open(server);
    for (const { socket } of [last, idle]) socket.pause();
    last.say('GET / HTTP/1.0\n\n');
    idle.say(GET);
    await Bun.sleep(600);
    for (const { socket } of [last, idle]) socket.resume();
    expect(await last.closed()).toBe(answered(body, 'connection: close\n'));
    expect(await idle.closed()).toBe(answered(body));
  });

  test('who says that it will send no more has left', async () => {
    const log: string[] = [];
    const server = serve(async (request) => {
      request.onLeave = () => log.push('left');
      await Bun.sleep(50);
      log.push(`${request.hasLeft} "${request.address}"`);
      return text('late');
    });
    const line = await open(server);
    line.socket.end('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await line.closed()).toBe('');
    await Bun.sleep(80);
    expect(log).toEqual(['left', 'true ""']);
  });

  test('patience: an idle connection, half a head, half a body, an answer nobody takes', async () => {
    const patient = serve(echo, SHORT);
    const idle = await open(patient);
    expect(await idle.closed()).toBe('');
    const head = await open(patient);
    head.say('GET / HTTP/1.1\nho');
    expect(await head.closed()).toStartWith('HTTP/1.1 408 Request Timeout\n');
    const slow = serve((request) => readAll(request).then(text, ({ status }) => text(String(status))), SHORT);
    const body = await open(slow);
    body.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\nhel');
    expect(await body.closed()).toBe(answered('408', 'connection: close\n'));
    const deaf = await open(serve(() => ({ status: 200, headers: {}, body: Buffer.alloc(32 << 20) }), SHORT));
    deaf.socket.pause();
    deaf.say(GET);
    await Bun.sleep(600);
    deaf.socket.resume();
    expect((await deaf.closed()).length).toBeLessThan(32 << 20);
  });
});
