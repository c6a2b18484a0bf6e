import { edenGC, fullGC, heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { answered, echo, GET, open, readAll, serve, text } from '../../test/helpers/raw-client.ts';

const CHUNKS = 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n';

describe('requests', () => {
  const server = serve(echo);
  const cases: [name: string, request: string, body: string][] = [
    ['without a body', 'GET /a?b=c HTTP/1.1\nHost: x\n\n', 'GET /a?b=c - '],
    ['of stated length', 'POST / HTTP/1.1\nhost: x\nContent-Length: 5\nX-One:  two \n\nhello', 'POST / two hello'],
    ['a header twice', 'POST / HTTP/1.1\nhost: x\nx-one: a\nx-ones: b\nX-ONE: c\n\n', 'POST / a, c '],
    [
      'in chunks, with an extension and trailers',
      'POST / HTTP/1.1\nhost: x\ntransfer-encoding: Chunked\n\n5;a=b\nhello\n00A\n, world!!!\n0\nx: y\n\n',
      'POST / - hello, world!!!',
    ],
    ['an empty line before it', '\n\nGET / HTTP/1.1\nhost: x\n\n', 'GET / - '],
    ['as for a proxy', 'GET http://x:1/a?b HTTP/1.1\nhost: x:1\n\n', 'GET /a?b - '],
    ['as it was typed', 'GET /mod\xc3\xa8le?q=\xff#here HTTP/1.1\nhost: x\n\n', 'GET /mod%C3%A8le?q=%FF - '],
    ['a length twice', 'POST / HTTP/1.1\nhost: x\ncontent-length: 2\ncontent-length: 2\n\nhi', 'POST / - hi'],
    [
      'blanks after a chunk size',
      'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n2 ;a\nhi\n0 \n\n',
      'POST / - hi',
    ],
    ['who expects what it need not', 'GET / HTTP/1.1\nhost: x\nexpect: 100-continue\n\n', 'GET / - '],
    ['a host of numbers and a port', 'GET / HTTP/1.1\nhost: [::1]:8080\n\n', 'GET / - '],
    ['a host of nothing', 'GET / HTTP/1.1\nhost:\n\n', 'GET / - '],
    ['as for a proxy, no path', 'GET http://x HTTP/1.1\nhost: x\n\n', 'GET / - '],
  ];
  test.each(cases)('%s is parsed, in one piece and byte by byte', async (_name, request, body) => {
    const line = await open(server);
    line.say(request);
    expect(await line.ends(body)).toBe(answered(body));
    for (const byte of request.replaceAll('\n', '\r\n')) {
      line.socket.write(byte, 'latin1');
      await Bun.sleep(0);
    }
    expect(await line.until((seen) => seen.endsWith(body) && seen.length > answered(body).length)).toBe(
      answered(body) + answered(body),
    );
    line.socket.destroy();
  });

  test('a thousand pipelined requests are answered in order', async () => {
    const line = await open(server);
    const numbers = Array.from({ length: 1000 }, (_, index) => index);
    line.say(numbers.map((n) => `POST /${n} HTTP/1.1\nhost: x\ncontent-length: 1\n\n!`).join(''));
    const all = await line.ends('POST /999 - !');
    expect(all).toBe(numbers.map((n) => answered(`POST /${n} - !`)).join(''));
    line.socket.destroy();
  });

  test("a body of eight megabytes arrives completely, at the reader's speed", async () => {
    const mine = serve(async (request) => {
      await Bun.sleep(50);
      return echo(request);
    });
    const body = Buffer.alloc(8 << 20, 'abcdefg');
    const response = await fetch(`http://127.0.0.1:${mine.port}/`, { method: 'POST', body });
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.concat([Buffer.from('POST / - '), body]))).toBe(
      true,
    );
  });

  test('a client that expects 100 Continue gets it once, and only if its body is read', async () => {
    const head = 'POST / HTTP/1.1\nhost: x\nexpect: 100-continue\ncontent-length: 5\n\n';
    const line = await open(server);
    line.say(head);
    expect(await line.ends('\n\n')).toBe('HTTP/1.1 100 Continue\n\n');
    line.say('hel');
    await Bun.sleep(10);
    line.say('lo');
    expect(await line.ends('hello')).toBe(`HTTP/1.1 100 Continue\n\n${answered('POST / - hello')}`);
    line.socket.destroy();
    const unwanted = await open(serve(() => text('no')));
    unwanted.say(head);
    expect(await unwanted.closed()).toBe(answered('no', 'connection: close\n'));
  });

  test('after an unread body the connection continues if the body is small, and closes if it is large', async () => {
    const line = await open(serve(() => text('no')));
    line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\n');
    await line.ends('no');
    line.say(`hello${GET}`);
    expect(await line.until((seen) => seen.length > answered('no').length)).toBe(answered('no') + answered('no'));
    line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 500000\n\n');
    line.socket.write('x'.repeat(400_000));
    expect(await line.closed()).toEndWith(answered('no', 'connection: close\n'));
  });
});

describe('the start of the next request', () => {
  const BIG = 'x'.repeat(16 << 20);

  test('a body that arrives during its response is not read as a request', async () => {
    const line = await open(serve(({ target }) => text(target === '/big' ? BIG : target)));
    line.socket.pause();
    let length = 0;
    line.socket.on('data', (bytes) => {
      length += bytes.length;
    });
    const body = 'GET /smuggled HTTP/1.1\nhost: x\n\n';
    line.say(`POST /big HTTP/1.1\nhost: x\ncontent-length: ${2 * (body.length + 3)}\n\n`);
    await Bun.sleep(50);
    line.say(body);
    await Bun.sleep(50);
    line.socket.resume();
    for (const end = performance.now() + 30_000; length < BIG.length && performance.now() < end; ) await Bun.sleep(10);
    line.say(`${body}GET /next HTTP/1.1\nhost: x\n\n`);
    expect((await line.ends('/next')).slice(answered(BIG).length)).toBe(answered('/next'));
    line.socket.destroy();
  });

  test('an unread body does not block the connection', async () => {
    const line = await open(serve(() => Bun.sleep(100).then(() => text('no'))));
    line.say(`POST / HTTP/1.1\nhost: x\ncontent-length: 400000\n\n${'x'.repeat(400_000)}`);
    await line.ends('no');
    line.say(GET);
    expect(await line.until((seen, closed) => closed || seen.length > answered('no').length)).toBe(
      answered('no') + answered('no'),
    );
    line.socket.destroy();
  });

  test('a body after an invalid one is not parsed as a request', async () => {
    const line = await open(
      serve(async (request) => {
        await Bun.sleep(60);
        return readAll(request).then(text, ({ status }) => text(String(status)));
      }),
    );
    line.say('POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n2\nhi\n');
    await Bun.sleep(20);
    line.say('zz\n');
    await Bun.sleep(20);
    line.say(`2\nho\n0\n\n${GET}`);
    expect(await line.closed()).toBe(answered('400', 'connection: close\n'));
  });
});

describe('invalid requests', () => {
  const server = serve(echo);
  const cases: [name: string, request: string, status?: number][] = [
    ['no HTTP', 'hello\n\n'],
    ['another version', 'GET / HTTP/2.0\nhost: x\n\n'],
    ['a space in the target', 'GET /a b HTTP/1.1\nhost: x\n\n'],
    ['a host with a path', 'GET / HTTP/1.1\nhost: x/y?\n\n'],
    ['a host with a user', 'GET / HTTP/1.1\nhost: good@evil\n\n'],
    ['a NUL in a value', 'GET / HTTP/1.1\nhost: x\nx: a\0b\n\n'],
    ['a control character in a value', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: \vchunked\n\n0\n\n'],
    ['a carriage return in a value', 'GET / HTTP/1.1\nhost: x\nx: a\rb: c\n\n'],
    ['a blank that is none', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding:\xa0chunked\n\n0\n\n'],
    ['a length behind a blank that is none', 'POST / HTTP/1.1\nhost: x\ncontent-length: 3,\xa03\n\nabc'],
    ['chunks twice', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked, chunked\n\n0\n\n'],
    [
      'chunks on two lines',
      'POST / HTTP/1.1\nhost: x\nte: x\ntransfer-encoding: x\ntransfer-encoding: chunked\n\n0\n\n',
    ],
    ['words after a chunk size', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n1 2\na\n0\n\n'],
    ['a carriage return in an extension', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n1;\r2\na\n0\n\n'],
    ['a chunk larger than numbers', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\nffffffffffffffff1\na'],
    ['a negative chunk', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n-1\na'],
    ['a target that is no path', 'GET admin/v1 HTTP/1.1\nhost: x\n\n'],
    ['a target of another scheme', 'GET ftp://x/admin HTTP/1.1\nhost: x\n\n'],
    ['a star as the target', 'GET * HTTP/1.1\nhost: x\n\n'],
    ['a trailer that is none', `${CHUNKS}0\nno header\n\n`],
    ['a trailer that is folded', `${CHUNKS}0\na: b\n c\n\n`],
    ['a length in a trailer', `${CHUNKS}0\ncontent-length: 3\n\n`],
    ['a control character in an extension', `${CHUNKS}1;\x01\na\n0\n\n`],
    ['a method beyond ASCII', 'G\xc9T /a HTTP/1.1\nhost: x\n\n'],
    ['a NUL in a trailer', `${CHUNKS}0\na: \0\n\n`],
    ['extensions without end', `${CHUNKS}${`1;${'x'.repeat(1000)}\na\n`.repeat(20)}0\n\n`],
    ['TLS', '\x16\x03\x01\x02\0\x01'],
    ['no host', 'GET / HTTP/1.1\n\n'],
    ['two hosts', 'GET / HTTP/1.1\nhost: x\nhost: y\n\n'],
    ['a folded line', 'GET / HTTP/1.1\nhost: x\nx: 1\n  2\n\n'],
    ['a space before the colon', 'GET / HTTP/1.1\nhost: x\nx : 1\n\n'],
    ['a length and chunks', 'POST / HTTP/1.1\nhost: x\ncontent-length: 3\ntransfer-encoding: chunked\n\n0\n\n'],
    ['two lengths', 'POST / HTTP/1.1\nhost: x\ncontent-length: 3\ncontent-length: 4\n\nabc'],
    ['a length that is none', 'POST / HTTP/1.1\nhost: x\ncontent-length: +3\n\nabc'],
    ['another transfer-encoding', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: gzip, chunked\n\n0\n\n'],
    ['chunks of HTTP/1.0', 'POST / HTTP/1.0\nhost: x\ntransfer-encoding: chunked\n\n0\n\n'],
    ['a chunk without a size', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\nxyz\n'],
    ['a chunk longer than its size', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n1\nabc\n0\n\n'],
    ['a head without end', `GET / HTTP/1.1\nhost: x\n${'x: 1\n'.repeat(20_000)}`, 431],
  ];
  test.each(cases)('%s is refused', async (_name, request, status = 400) => {
    const line = await open(server);
    line.say(request);
    const seen = await line.closed();
    expect(seen).toStartWith(`HTTP/1.1 ${status} `);
    expect(seen).toContain('connection: close');
    expect(seen).toContain('This is not a valid HTTP request: ');
  });

  test('bare line ends after an answered request are refused', async () => {
    const line = await open(server);
    line.say(GET);
    await line.ends('GET /a - ');
    line.socket.write('GET / HTTP/1.1\nhost: x\n\nGET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await line.closed()).toContain('HTTP/1.1 400 Bad Request\n');
  });
});

test('connections that have closed do not survive the next collection of young objects', async () => {
  const server = serve(echo);
  const sockets = () => heapStats().objectTypeCounts.TCPSocket ?? 0;
  const visit = async () => {
    const line = await open(server);
    line.say('GET / HTTP/1.1\nhost: x\nconnection: close\n\n');
    await line.closed();
  };
  const visits = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: 20 }, visit));
  };
  await visits(5);
  fullGC();
  const before = sockets();
  await visits(15);
  edenGC();
  expect(sockets() - before).toBeLessThan(150);
});
