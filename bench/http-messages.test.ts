import { expect, test } from 'bun:test';
import { messageCutter } from './http-messages.ts';

const WIRE =
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' +
  'HTTP/1.1 204 No Content\r\nx-a: b\r\n\r\n' +
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na;x=y\r\n0123456789\r\n0\r\nx-trailer: 1\r\n\r\n' +
  'POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nok';

function cut(size: number): string[] {
  const messages: string[] = [];
  let body = '';
  const feed = messageCutter({
    head: () => {},
    body: (bytes) => {
      body += bytes.toString();
    },
    end: () => {
      messages.push(body);
      body = '';
    },
  });
  const bytes = Buffer.from(WIRE);
  for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size));
  return messages;
}

test('the messages do not depend on how the bytes are split', () => {
  for (const size of [1, 2, 3, 7, 50, WIRE.length]) {
    expect(cut(size)).toEqual(['hello', '', 'abc0123456789', 'ok']);
  }
});
