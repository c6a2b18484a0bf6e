import { describe, expect, test } from 'bun:test';
import { MalformedMessage } from './message-reader.ts';
import { ReplyReader } from './reply-reader.ts';

/** The result of reading these arrivals, as text. */
function read(arrivals: readonly Buffer[], { method = 'POST', closes = false } = {}): string {
  let output = '';
  const reader = new ReplyReader({
    head: (status, headers) => {
      output += `${status} ${[...headers.toHeaders()].flat().join('|')}\n`;
    },
    body: (bytes) => {
      output += bytes.toString();
    },
    end: (reusable, idleMs) => {
      output += `\nend ${reusable ? 'kept' : 'closed'}${idleMs === undefined ? '' : ` ${idleMs}`}`;
    },
  });
  reader.expect(method);
  for (const bytes of arrivals) reader.read(bytes);
  const isCut = closes && !reader.close();
  return isCut ? `${output}\ncut` : output;
}

const crlf = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1');
const oneByOne = (bytes: Buffer) => [...bytes].map((byte) => Buffer.from([byte]));

describe('replies', () => {
  const cases: [name: string, reply: string, expected: string, options?: object][] = [
    ['a stated length', 'HTTP/1.1 200 OK\ncontent-length: 5\n\nhello', '200 content-length|5\nhello\nend kept'],
    ['no body', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n', '200 content-length|0\n\nend kept'],
    [
      'chunks, an extension, trailers',
      'HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n5;a=b\nhello\n00A \n, world!!!\n0\nx: y\n\n',
      '200 transfer-encoding|Chunked\nhello, world!!!\nend kept',
    ],
    ['204', 'HTTP/1.1 204 No Content\n\n', '204 \n\nend kept'],
    ['304 with a length', 'HTTP/1.1 304 Not Modified\ncontent-length: 9\n\n', '304 content-length|9\n\nend kept'],
    ['HEAD', 'HTTP/1.1 200 OK\ncontent-length: 9\n\n', '200 content-length|9\n\nend kept', { method: 'HEAD' }],
    [
      'interim replies',
      'HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nlink: x\n\nHTTP/1.1 200\ncontent-length: 2\n\nok',
      '200 content-length|2\nok\nend kept',
    ],
    [
      'a body until the close',
      'HTTP/1.1 200 OK\nx: 1\n\nall of this',
      '200 x|1\nall of this\nend closed',
      { closes: true },
    ],
    ['the same length twice', 'HTTP/1.1 200 OK\ncontent-length: 2, 2\n\nok', '200 content-length|2, 2\nok\nend kept'],
    [
      'a length beside chunks: the connection is not kept',
      'HTTP/1.1 200 OK\ncontent-length: 7\ntransfer-encoding: chunked\n\n2\nok\n0\n\n',
      '200 content-length|7|transfer-encoding|chunked\nok\nend closed',
    ],
    [
      'connection: close',
      'HTTP/1.1 200 OK\nconnection: Close\ncontent-length: 2\n\nok',
      '200 connection|Close|content-length|2\nok\nend closed',
    ],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\ncontent-length: 2\n\nok', '200 content-length|2\nok\nend closed'],
    [
      'how long it is kept',
      'HTTP/1.1 200 OK\nkeep-alive: timeout=5, max=9\ncontent-length: 2\n\nok',
      '200 content-length|2|keep-alive|timeout=5, max=9\nok\nend kept 5000',
    ],
  ];
  test.each(cases)('%s is parsed, in one piece and byte by byte', (_, reply, expected, options = {}) => {
    const bytes = crlf(reply);
    expect(read([bytes], options)).toBe(expected);
    expect(read(oneByOne(bytes), options)).toBe(expected);
    for (let at = 1; at < bytes.length; at++)
      expect(read([bytes.subarray(0, at), bytes.subarray(at)], options)).toBe(expected);
  });
});

describe('invalid replies', () => {
  const HEAD = 'HTTP/1.1 200 OK\n';
  const CHUNKED = `${HEAD}transfer-encoding: chunked\n\n`;
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\n\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\n\n'],
    ['HTTP/2 in clear', 'HTTP/2.0 200 OK\n\n'],
    ['a changed protocol', 'HTTP/1.1 101 Switching Protocols\n\n'],
    ['a header without a colon', `${HEAD}nothing\n\n`],
    ['a header without a name', `${HEAD}: x\n\n`],
    ['a name with a space', `${HEAD}content-length : 5\n\nhello`],
    ['a folded line', `${HEAD}x: 1\n folded\n\n`],
    ['a zero byte', `${HEAD}x: \0\n\n`],
    ['a length that is no number', `${HEAD}content-length: 5x\n\nhello`],
    ['a negative length', `${HEAD}content-length: -5\n\nhello`],
    ['two lengths', `${HEAD}content-length: 5\ncontent-length: 6\n\nhello`],
    ['another transfer-encoding', `${HEAD}transfer-encoding: gzip, chunked\n\n`],
    ['a chunk without a size', `${CHUNKED}\nhello`],
    ['a size that is no number', `${CHUNKED}xyz\nhello`],
    ['a size that is too large', `${CHUNKED}1000000000000\nhello`],
    ['a negative size', `${CHUNKED}-5\nhello`],
    ['a chunk longer than its size', `${CHUNKED}5\nhello, world\n`],
    ['a zero byte in an interim reply', `HTTP/1.1 103 Early Hints\nx: \0\n\n${HEAD}content-length: 0\n\n`],
    ['a length in a trailer', `${CHUNKED}0\ncontent-length: 5\n\n`],
    ['bytes after the end', `${HEAD}content-length: 2\n\nokHTTP/1.1 200 OK\n\n`],
  ])('%s is refused', (_, reply) => {
    expect(() => read([crlf(reply)])).toThrow(MalformedMessage);
    expect(() => read(oneByOne(crlf(reply)))).toThrow(MalformedMessage);
  });

  test('bare line feeds', () => {
    expect(() => read([Buffer.from('HTTP/1.1 200 OK\r\nx: 1\ny: 2\r\n\r\n')])).toThrow(MalformedMessage);
    expect(() => read([crlf(CHUNKED), Buffer.from('5\nhello\n')])).toThrow(MalformedMessage);
    for (const end of ['\n', '\r', '\0'])
      expect(() => read([Buffer.from(`HTTP/1.1 200 OK${end}x: y\r\ncontent-length: 0\r\n\r\n`)])).toThrow(
        MalformedMessage,
      );
  });

  test('an endless head, endless interim replies, size lines and trailers are refused', () => {
    const flood = (start: string, more: string) => () =>
      read([crlf(start), ...Array.from({ length: 20_000 }, () => crlf(more))]);
    expect(flood(HEAD, 'x: 1\n')).toThrow(MalformedMessage);
    expect(flood('', 'HTTP/1.1 100 Continue\n\n')).toThrow(MalformedMessage);
    expect(flood(CHUNKED, '0')).toThrow(MalformedMessage);
    expect(flood(`${CHUNKED}5;`, 'x=y;')).toThrow(MalformedMessage);
    expect(flood(`${CHUNKED}0\n`, 'x: 1\n')).toThrow(MalformedMessage);
  });

  test('a connection that ends within a reply', () => {
    expect(read([crlf(`${HEAD}content-length: 5\n\nhell`)], { closes: true })).toEndWith('cut');
    for (const part of ['', '5', '5\nhel', '5\nhello\n', '0\n']) {
      expect(read([crlf(CHUNKED + part)], { closes: true })).toEndWith('cut');
    }
    expect(read([crlf('HTTP/1.1 200')], { closes: true })).toEndWith('cut');
  });
});
