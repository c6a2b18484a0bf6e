/** Parses the same bytes with Node's server and client and compares the results. */
import type { Socket } from 'bun';
import { ClientConnection, type Keeper, PATIENCE } from '../client-connection.ts';
import type { ClientRequest } from '../client-request.ts';
import type { HeaderLines } from '../header-lines.ts';
import { MalformedMessage } from '../message-reader.ts';
import { ReplyReader } from '../reply-reader.ts';
import { RequestTurns } from '../request-turns.ts';
import type { Random, ReplyCase } from './messages.ts';

/** A message as one side parsed it. */
export interface ReadMessage {
  method?: string;
  target?: string;
  status?: number;
  /** Names and values alternately, as Node gives them. */
  headers: readonly string[];
  body: string;
  complete: boolean;
  /** The connection cannot be used for another message. */
  closes?: boolean;
}

/** The result of parsing: messages, and an error; without either, more bytes are needed. */
export interface Reading {
  messages: ReadMessage[];
  error?: string | undefined;
}

/** Header lines in Node's form. */
function rawHeaders(lines: HeaderLines): string[] {
  const text = (lines as unknown as { text: string }).text;
  return text
    .split('\r\n')
    .slice(1)
    .flatMap((line) => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).replace(/^[ \t]+|[ \t]+$/g, ''),
    ]);
}

/** Splits the bytes into up to four pieces: the result must not depend on it. */
function* pieces(bytes: Buffer, random: Random): Generator<Buffer> {
  const cuts = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * bytes.length)).sort(
    (a, b) => a - b,
  );
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (cut > at) yield Buffer.from(bytes.subarray(at, cut));
    at = cut;
  }
}

const TURNS = 4;
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export async function readRequests(bytes: Buffer, random: Random): Promise<Reading> {
  const found: Reading = { messages: [] };
  async function answer(request: ClientRequest) {
    const one: ReadMessage = {
      method: request.method,
      target: request.target,
      headers: rawHeaders(request.headers),
      body: '',
      complete: false,
      closes: !request.keepsConnection,
    };
    found.messages.push(one);
    try {
      for (let piece = await request.body.read(); piece; piece = await request.body.read())
        one.body += Buffer.from(piece).toString('latin1');
      one.complete = true;
    } catch (thrown) {
      found.error = (thrown as Error).message;
    }
    return { status: 200, headers: {}, body: '' };
  }
  const keeper: Keeper = {
    answer,
    refuse(fault) {
      found.error = fault.message;
      return { status: fault.status, headers: {}, body: '' };
    },
    reportError(sentence, cause) {
      throw new Error(`${sentence} ${String(cause)}`);
    },
    timeouts: PATIENCE,
    turns: new RequestTurns(),
    isStopping: false,
    lost() {},
  };
  const socket = {
    remoteAddress: '127.0.0.1',
    write: (all: Uint8Array, at = 0, length = all.length - at) => length,
    pause() {},
    resume() {},
    end() {},
    shutdown() {},
    terminate() {},
  };
  const connection = new ClientConnection(socket as unknown as Socket<ClientConnection>, keeper);
  for (const piece of pieces(bytes, random)) {
    connection.received(piece);
    await turns();
  }
  return found;
}

export function readReply({ text, method, closes }: ReplyCase, random: Random): Reading {
  const found: Reading = { messages: [] };
  let one: ReadMessage | undefined;
  const reader = new ReplyReader({
    head(status, headers) {
      one = { status, headers: rawHeaders(headers), body: '', complete: false };
      found.messages.push(one);
    },
    body(bytes) {
      if (one) one.body += Buffer.from(bytes).toString('latin1');
    },
    end() {
      if (one) one.complete = true;
    },
  });
  reader.expect(method);
  try {
    for (const piece of pieces(Buffer.from(text, 'latin1'), random)) reader.read(piece);
  } catch (thrown) {
    if (!(thrown instanceof MalformedMessage)) throw thrown;
    found.error = thrown.message;
  }
  if (closes && !found.error && !one?.complete && !reader.close()) found.error = 'it broke off';
  return found;
}

export interface Difference {
  kind: 'we refuse' | 'they refuse' | 'read differently';
  /** The error message of the side that refuses, or what differs. */
  what: string;
  /** The message as the other side parsed it. */
  message: ReadMessage;
}

/** The first difference. If one side waits for more and the other refuses, both have accepted nothing: that is no difference. */
export function differenceOf(ours: Reading, theirs: Reading): Difference | undefined {
  for (let place = 0; ; place++) {
    const [one, other] = [ours.messages[place], theirs.messages[place]];
    if (!one?.complete && !other?.complete) return undefined;
    if (!other?.complete) return { kind: 'they refuse', what: theirs.error ?? 'waits for more', message: one! };
    if (!one?.complete) return { kind: 'we refuse', what: ours.error ?? 'waits for more', message: other };
    const read = memberRead(one, other);
    if (read) return { kind: 'read differently', what: read, message: one };
    // Bytes after it are not parsed as a message by us, and Node drops them too.
    if (one.closes || one.status !== undefined) return undefined;
  }
}

function memberRead(one: ReadMessage, other: ReadMessage): string | undefined {
  for (const member of ['method', 'target', 'status', 'body', 'headers'] as const) {
    const their = member === 'target' && other.target !== undefined ? pathIn(other.target) : other[member];
    const our = one[member];
    if (!Bun.deepEquals(our, their)) return `${member}: ${JSON.stringify(our)} and ${JSON.stringify(their)}`;
  }
  return undefined;
}

/** Node keeps the target as sent; we drop an origin and a fragment. */
function pathIn(target: string): string {
  const path = target.replace(/#.*/, '').replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') || path === '*' ? path : `/${path}`;
}
