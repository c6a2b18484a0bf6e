import { describe, expect, test } from 'bun:test';
import { GET, open, SHORT, serve, source, troubles } from '../../test/helpers/raw-client.ts';
import type { Answer, ByteSink, ByteSource } from './answer.ts';

describe('streamed responses', () => {
  const streamed = (body: ByteSource, headers = {}): Answer => ({ status: 200, headers, body });

  test('use chunks; for HTTP/1.0 the close of the connection; for HEAD no body', async () => {
    const log: string[] = [];
    const server = serve(() => streamed(source(['hello', 'world'], log)));
    const line = await open(server);
    line.say(GET);
    const chunks = 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n5\nworld\n0\n\n';
    expect(await line.ends('0\n\n')).toBe(chunks);
    line.say('HEAD / HTTP/1.1\nhost: x\n\n');
    expect(await line.until((seen) => seen.length > chunks.length)).toBe(
      `${chunks}HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n`,
    );
    expect(log).toEqual(['cancelled']);
    const old = await open(server);
    old.say('GET / HTTP/1.0\n\n');
    expect(await old.closed()).toBe('HTTP/1.1 200 OK\nconnection: close\n\nhelloworld');
    line.socket.destroy();
  });

  test('with content-length have exactly this many bytes, or are visibly incomplete', async () => {
    const headers = { 'content-length': '8' };
    const whole = await open(serve(() => streamed(source(['abcd', 'efgh']), headers)));
    whole.say(GET);
    expect(await whole.ends('efgh')).toBe('HTTP/1.1 200 OK\ncontent-length: 8\n\nabcdefgh');
    for (const pieces of [['abcd'], ['abcd', 'efghi']]) {
      const line = await open(serve(() => streamed(source(pieces), headers)));
      line.say(GET);
      expect(await line.closed()).toBe('HTTP/1.1 200 OK\ncontent-length: 8\n\nabcd');
    }
    whole.socket.destroy();
  });

  test.each(['fail!', 'throw!'])('that fail (%s) have no end', async (how) => {
    const line = await open(serve(() => streamed(source(['hello', how]))));
    line.say(GET);
    expect(await line.closed()).toBe('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n');
    expect(troubles.splice(0)).toEqual(how === 'throw!' ? ['A connection failed. broken'] : []);
  });

  test('that fail are delivered up to the failure to a slow client; over HTTP/1.0 the connection is reset', async () => {
    const piece = Buffer.alloc(8 << 20, 'x');
    let failed = () => {};
    const server = serve(() =>
      streamed({
        start(sink) {
          sink.write(piece);
          sink.fail();
          failed();
        },
        resume() {},
        cancel() {},
      }),
    );
    async function fetched(request: string) {
      const hasFailed = new Promise<void>((resolve) => {
        failed = resolve;
      });
      const { socket } = await open(server);
      socket.pause();
      let length = 0;
      let wasReset = false;
      const closed = new Promise((resolve) => socket.on('close', resolve));
      socket.on('error', () => {
        wasReset = true;
      });
      socket.on('data', (bytes: Buffer) => {
        length += bytes.length;
      });
      socket.write(request.replaceAll('\n', '\r\n'));
      await hasFailed;
      socket.resume();
      await closed;
      return { length, wasReset };
    }
    const chunked = await fetched(GET);
    expect(chunked.length).toBeGreaterThan(piece.length);
    expect(chunked.wasReset).toBe(false);
    const old = await fetched('GET / HTTP/1.0\n\n');
    expect(old.length < piece.length || old.wasReset).toBe(true);
  });

  test('a client that does not read pauses the source, and gets everything in the end', async () => {
    const piece = Buffer.alloc(1 << 20, 'x');
    // More than the largest receive buffer of a kernel.
    const PIECES = 64;
    let brought = 0;
    let isTaken = true;
    const server = serve(() => {
      const inner = source(Array.from({ length: PIECES }, () => piece));
      return streamed({
        ...inner,
        start(sink) {
          const write = (bytes: Uint8Array) => {
            brought++;
            isTaken = sink.write(bytes);
            return isTaken;
          };
          inner.start({ write, end: () => sink.end(), fail: () => sink.fail() });
        },
      });
    });
    const { socket } = await open(server);
    socket.pause();
    socket.write(GET.replaceAll('\n', '\r\n'));
    for (let still = 0; still < 30 && brought < PIECES; still = isTaken ? 0 : still + 1) await Bun.sleep(10);
    expect(brought).toBeLessThan(PIECES - 8);
    let length = 0;
    let end = '';
    socket.on('data', (bytes) => {
      length += bytes.length;
      end = bytes.toString('latin1').slice(-5);
    });
    socket.resume();
    for (const by = performance.now() + 30_000; end !== '0\r\n\r\n' && performance.now() < by; ) await Bun.sleep(4);
    expect(length).toBeGreaterThan(PIECES << 20);
    expect(end).toBe('0\r\n\r\n');
    socket.destroy();
  });

  test('pieces of any size, sent to several slow clients at once, arrive complete and in order', async () => {
    // Around the sizes that are sent in one piece, and far above.
    const sizes = [1, 17, 4000, 65_500, 65_527, 65_528, 65_529, 65_536, 65_537, 300_000];
    const bodies = ['a', 'b', 'c'].map((name) =>
      Array.from({ length: 60 }, (_, n) =>
        Buffer.from(`${name}${n}.`.repeat(100_000)).subarray(0, sizes[n % sizes.length]),
      ),
    );
    const lengths = bodies.map((pieces) => pieces.reduce((sum, { length }) => sum + length, 0));
    const server = serve(({ target }) => {
      const which = Number(target.slice(1));
      return streamed(source(bodies[which]!), which === 2 ? { 'content-length': String(lengths[which]) } : {});
    });
    async function fetched(which: number): Promise<Buffer> {
      const { socket } = await open(server);
      const seen: Buffer[] = [];
      socket.on('data', (bytes: Buffer) => {
        seen.push(bytes);
        if (seen.length % 5 > 0) return;
        socket.pause();
        setTimeout(() => socket.resume(), 1);
      });
      socket.write(`GET /${which} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      await new Promise((resolve) => socket.on('end', resolve));
      const all = Buffer.concat(seen);
      return all.subarray(all.indexOf('\r\n\r\n') + 4);
    }
    const seen = await Promise.all([0, 1, 2].map(fetched));
    const framed = (pieces: Buffer[]) =>
      pieces.flatMap((piece) => [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
    for (const which of [0, 1]) {
      const wanted = Buffer.concat([...framed(bodies[which]!), Buffer.from('0\r\n\r\n')]);
      expect(seen[which]?.equals(wanted)).toBe(true);
    }
    expect(seen[2]?.equals(Buffer.concat(bodies[2]!))).toBe(true);
  });

  test('a client that disconnects is noticed before and during the response', async () => {
    const log: string[] = [];
    const entered = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const unneeded = Promise.withResolvers<void>();
    const before = await open(
      serve(async (request) => {
        request.onLeave = () => {
          log.push('left');
          left.resolve();
        };
        entered.resolve();
        await left.promise;
        log.push(request.hasLeft ? 'gone' : 'there');
        return streamed({ ...source(['too late'], log), cancel: unneeded.resolve });
      }),
    );
    before.say(GET);
    await entered.promise;
    before.socket.destroy();
    await unneeded.promise;
    expect(log).toEqual(['left', 'gone']);

    const cancelled = Promise.withResolvers<void>();
    const within = await open(
      serve(() =>
        streamed({ start: (sink) => void sink.write(Buffer.from('x')), resume() {}, cancel: cancelled.resolve }),
      ),
    );
    within.say(GET);
    await within.ends('1\nx\n');
    within.socket.destroy();
    await cancelled.promise;
  });

  test('a client that stops reading is disconnected and its source cancelled', async () => {
    const log: string[] = [];
    const piece = Buffer.alloc(1 << 20, 'x');
    const ended = source(['ended'], log);
    const sources = [source(Array<Buffer>(64).fill(piece), log), { ...ended, resume() {} }];
    sources[1]!.start = (sink) => {
      sink.write(Buffer.alloc(32 << 20));
      setImmediate(() => sink.end());
    };
    const stalled = serve(() => streamed(sources.shift()!), SHORT);
    for (const _ of [1, 2]) {
      const { socket } = await open(stalled);
      socket.pause();
      socket.write(GET.replaceAll('\n', '\r\n'));
    }
    while (sources.length > 0) await Bun.sleep(1);
    await Promise.race([stalled.stop(), Bun.sleep(20_000).then(() => log.push('still there'))]);
    expect(log).toEqual(['cancelled']);
  });

  test('a source that writes after its end does not affect the next response', async () => {
    const after = (how: (sink: ByteSink) => Promise<void>): ByteSource => ({
      start: (sink) => void how(sink).catch((thrown) => sink.fail(thrown)),
      resume() {},
      cancel() {},
    });
    const answers = [
      after(async (sink) => {
        sink.end(Buffer.from('1'));
        await Bun.sleep(30);
      }),
      after(async (sink) => {
        sink.end(Buffer.from('2'));
        await Bun.sleep(30);
        throw new Error('too late to matter');
      }),
      after(async (sink) => {
        await Bun.sleep(80);
        sink.end(Buffer.from('3'));
      }),
    ];
    const line = await open(serve(() => streamed(answers.shift()!)));
    line.say(GET.repeat(3));
    const one = (n: number) => `HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n1\n${n}\n0\n\n`;
    expect(await line.until((seen) => seen.includes('1\n3\n0\n\n'))).toBe(one(1) + one(2) + one(3));
    line.socket.destroy();
  });

  test('204 and 304 have no body headers', async () => {
    for (const status of [204, 304]) {
      const line = await open(serve(() => ({ status, headers: { a: 'b' }, body: undefined })));
      line.say(GET);
      expect(await line.ends('\n\n')).toEndWith('\na: b\n\n');
      line.socket.destroy();
    }
  });

  test('internal failures close their own connection only, and the operator gets an error', async () => {
    const failing = serve(async (request) => {
      if (request.target === '/reject') throw new Error('reject');
      if (request.target === '/start') return streamed({ ...source([]), start: fail });
      if (request.target === '/bring') return streamed(source(['throw!']));
      request.onLeave = fail;
      return streamed(source(['x', 'fail!']));
    });
    for (const target of ['/reject', '/start', '/bring', '/leave']) {
      const line = await open(failing);
      line.say(`GET ${target} HTTP/1.1\nhost: x\n\n`);
      await line.closed();
    }
    expect(troubles.splice(0)).toEqual([
      'A connection failed. reject',
      'A connection failed. on purpose',
      'A connection failed. broken',
      'The clean-up after a client disconnected has failed. on purpose',
    ]);
  });

  function fail(): never {
    throw new Error('on purpose');
  }

  test('a header with invalid characters is an internal failure, not a second header', async () => {
    const log: string[] = [];
    const line = await open(serve(() => streamed(source(['secret'], log), { 'x-a': 'b\r\nx-c: d' })));
    line.say(GET);
    const seen = await line.closed();
    expect(seen).toStartWith('HTTP/1.1 500 ');
    expect(seen).not.toContain('x-c');
    expect(log).toEqual(['cancelled']);
    expect(troubles.splice(0)).toEqual(['An answer could not be sent. the header x-a cannot be sent']);
  });

  test('a head that is too long is an internal failure', async () => {
    const log: string[] = [];
    const long = { 'x-a': 'b'.repeat(140_000) };
    const line = await open(serve(() => streamed(source(['secret'], log), long)));
    line.say(GET);
    expect(await line.closed()).toStartWith('HTTP/1.1 500 ');
    expect(log).toEqual(['cancelled']);
    expect(troubles.splice(0)).toEqual([
      'An answer could not be sent. the head of the message is longer than 131072 bytes',
    ]);
  });
});
