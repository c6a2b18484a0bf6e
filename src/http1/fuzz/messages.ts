/**
 * Generates messages for the fuzzer: mostly valid, with errors where HTTP parsers are known to differ. The same seed gives the same
 * messages.
 */

export type Random = () => number;

/** Random numbers in [0, 1), determined by the seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
/** Usually an element of the first list, otherwise of the second. */
const mostly = <T>(random: Random, usual: readonly T[], odd: readonly T[], oddness = 0.12): T =>
  pick(random, random() < oddness ? odd : usual);

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'];
const ODD_METHODS = ['get', 'G ET', '', 'POST\t', 'PRI', 'FOO', 'CONNECT', 'P(ST', 'GÉT'];
const TARGETS = ['/', '/a', '/a?b=c', '/a/b%20c', '/%61', '/a?x=%2e', 'http://x/a', '*'];
const ODD_TARGETS = [
  'a',
  '',
  '/a b',
  '/a\tb',
  '/é',
  '/a#b',
  'http://',
  'ftp://x/a',
  '//x/a',
  '/\x7f',
  '/\0',
  'x:80',
  '/a\\b',
  '/"',
];
const VERSIONS = ['HTTP/1.1'];
const ODD_VERSIONS = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/11',
  'HTTP/1.',
  '',
];
const HEADERS = [
  'X-A: 1',
  'x-b:2',
  'Accept: */*',
  'x-c:\t c \t',
  'Connection: keep-alive',
  'Expect: 100-continue',
  'x-a: 2',
  'x-e:',
];
const ODD_HEADERS = [
  'Connection: close',
  'Connection: x, close',
  'Connection: upgrade',
  'Upgrade: h2c',
  'Host: y',
  'Host:',
  'host: x:y',
  'host: a b',
  'Content-Length: 3',
  'Content-Length: 0',
  'Content-Length: +3',
  'Content-Length: 3, 3',
  'Content-Length: 3,4',
  'Content-Length: 03',
  'Content-Length: -1',
  'Content-Length: 0x3',
  'Content-Length:',
  'Content-Length: 3 ',
  'Content-Length: 99999999999999999999',
  'Content_Length: 3',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: CHUNKED',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\vchunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding:',
  'Transfer-Encoding : chunked',
  ' folded: 1',
  '\tfolded',
  'x y: 1',
  'x-a : 1',
  ': none',
  'novalue',
  'x-a: a\0b',
  'x-a: a\rb',
  'x-a: \x7f',
  'x-é: 1',
  'x-a: é',
  'x-(: 1',
  'x-a: \x0b',
  'Trailer: x-t',
  'x-a: a\nX-b: b',
];
const SIZES = ['1', '3', 'a', '5', '0003'];
const ODD_SIZES = [
  '',
  '0x3',
  '-1',
  '+3',
  ' 3',
  '3 ',
  'g',
  'fffffffffffffffff',
  '1;a',
  '3;a=b',
  '3;a="b\\""',
  '3 ;a',
  '3;\r',
  '3\n',
  '00000000000003',
  '3;a\tb',
  '3;\x01',
];
const TRAILERS = ['', '', '', 'x-t: 1\r\n'];
const ODD_TRAILERS = [
  'x-t\r\n',
  ' x: 1\r\n',
  'x-t : 1\r\n',
  'x-t: a\0\r\n',
  'Content-Length: 3\r\n',
  'x-t: 1\n',
  ': 1\r\n',
];
const ODD_BYTES = [
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '\0',
  ':',
  ',',
  ';',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
  '0',
  '-',
  '+',
  'a',
];

function chunked(random: Random): string {
  let body = '';
  for (let count = Math.floor(random() * 3); count >= 0; count--) {
    const size = mostly(random, SIZES, ODD_SIZES, 0.08);
    const length = Number.parseInt(size, 16);
    const data = 'x'.repeat(Number.isNaN(length) || length < 0 || length > 100 ? 3 : length);
    body += `${size}\r\n${random() < 0.04 ? `${data}y` : data}${mostly(random, ['\r\n'], ['\n', '', '\r', '\r\n\r\n'], 0.04)}`;
  }
  return `${body}${mostly(random, ['0', '0', '000'], ['0;a=b', '-0', '0x0', ''], 0.05)}\r\n${mostly(random, TRAILERS, ODD_TRAILERS, 0.08)}\r\n`;
}

/** The other lines of the head, and a body that usually fits them. */
function rest(random: Random, lines: string[]): string {
  for (let count = Math.floor(random() * 3); count > 0; count--) lines.push(mostly(random, HEADERS, ODD_HEADERS, 0.25));
  let body = '';
  const kind = random();
  if (kind < 0.3) {
    const length = Math.floor(random() * 6);
    lines.push(`Content-Length: ${random() < 0.06 ? length + 1 : length}`);
    body = 'b'.repeat(length);
  } else if (kind < 0.6) {
    lines.push('Transfer-Encoding: chunked');
    body = chunked(random);
  } else if (kind < 0.65)
    body = pick(random, ['abc', '3\r\nabc\r\n0\r\n\r\n', '\r\n', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n']);
  const last = lines.splice(1).sort(() => random() - 0.5);
  return `${[lines[0], ...last].join('\r\n')}\r\n\r\n${body}`;
}

/** Changes, drops, duplicates or inserts some bytes. */
function mutated(random: Random, text: string): string {
  let changed = text;
  for (let count = random() < 0.35 ? 1 + Math.floor(random() * 2) : 0; count > 0; count--) {
    const at = Math.floor(random() * changed.length);
    const way = random();
    const [before, after] = [changed.slice(0, at), changed.slice(at)];
    if (way < 0.4) changed = before + pick(random, ODD_BYTES) + after;
    else if (way < 0.6) changed = before + after.slice(1);
    else if (way < 0.8) changed = before + pick(random, ODD_BYTES) + after.slice(1);
    else changed = before + after.slice(0, 12) + after;
  }
  return changed;
}

export function makeRequest(random: Random): string {
  const one = () => {
    const line = `${mostly(random, METHODS, ODD_METHODS, 0.05)} ${mostly(random, TARGETS, ODD_TARGETS)} ${mostly(random, VERSIONS, ODD_VERSIONS, 0.08)}`;
    return rest(random, random() < 0.04 ? [line] : [line, 'Host: x']);
  };
  const text = (random() < 0.04 ? '\r\n' : '') + one() + (random() < 0.25 ? one() : '');
  return mutated(random, text);
}

const STATUSES = ['200 OK', '200', '404 Not Found', '500 ', '204 No Content', '304 Not Modified', '201 \xe9'];
const ODD_STATUSES = [
  '100 Continue',
  '101 Switching',
  '199 x',
  '000 x',
  '20 OK',
  '2000 OK',
  '2x0 OK',
  ' 200 OK',
  '200\tOK',
  '999 x',
  '-200 OK',
  '103 Early',
];

export interface ReplyCase {
  text: string;
  method: string;
  closes: boolean;
}

export function makeReply(random: Random): ReplyCase {
  const status = mostly(random, STATUSES, ODD_STATUSES, 0.1);
  const line = `${mostly(random, ['HTTP/1.1'], ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'ICY', 'HTTP/1.1 '], 0.06)} ${status}`;
  const interim =
    random() < 0.06
      ? pick(random, ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'])
      : '';
  const text = mutated(random, interim + rest(random, [line]));
  return { text, method: mostly(random, ['POST', 'GET'], ['HEAD']), closes: random() < 0.5 };
}
