/** For tests of the server: servers with one answer, and a client that sends and shows raw bytes. */
import { afterAll } from 'bun:test';
import { connect, type Socket } from 'node:net';
import type { Answer, ByteSink, ByteSource } from '../../src/http1/answer.ts';
import type { Timeouts } from '../../src/http1/client-connection.ts';
import type { ClientRequest } from '../../src/http1/client-request.ts';
import type { RequestFault } from '../../src/http1/request-fault.ts';
import { listen, type Server } from '../../src/http1/server.ts';

const servers: Server[] = [];
/** What was reported to the operator. */
export const troubles: string[] = [];
/** Test files may share this module: the servers and reports of one are no part of the next. */
let file = Bun.main;
function endOthers(): void {
  for (const server of servers.splice(0)) server.kill();
}
afterAll(endOthers);

type Answering = (request: ClientRequest) => Answer | Promise<Answer>;

/** The first one is longer: on a busy machine a request may arrive long after its connection. */
export const SHORT: Timeouts = {
  idleMs: 1000,
  headMs: 150,
  silenceMs: 150,
  bodyMs: 60_000,
  bodyBytesPerSecond: 0,
  bodyGraceMs: 0,
  flushMs: 150,
  lingerMs: 150,
  lingerWholeMs: 1000,
};

export function serve(answer: Answering, timeouts?: Timeouts): Server {
  if (file !== Bun.main) {
    file = Bun.main;
    endOthers();
    troubles.length = 0;
  }
  const startedBy = file;
  const refuse = ({ status, message }: RequestFault): Answer => ({ status, headers: {}, body: message });
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    shared: false,
    answer,
    refuse,
    reportError(sentence, cause) {
      if (startedBy === file) troubles.push(`${sentence} ${cause instanceof Error ? cause.message : cause}`);
    },
    ...(timeouts && { timeouts }),
  });
  servers.push(server);
  return server;
}

export const text = (body: string): Answer => ({ status: 200, headers: { 'x-is': 'text' }, body });

export async function readAll({ body }: ClientRequest): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await body.read(); piece; piece = await body.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Answers with the request and its body. */
export const echo: Answering = async (request) => {
  const { method, target, headers } = request;
  return text(`${method} ${target} ${headers.get('x-one') ?? '-'} ${await readAll(request)}`);
};

/** A raw client. `seen`: everything received, without the changing date. */
export async function open({ port }: Server) {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  let seen = '';
  let isClosed = false;
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  await new Promise<void>((resolve) => socket.on('connect', () => resolve()));
  return {
    socket,
    say: (words: string) => void socket.write(Buffer.from(words.replaceAll('\n', '\r\n'), 'latin1')),
    get seen() {
      return seen.replace(/date: [^\r]*\r\n/g, '').replaceAll('\r\n', '\n');
    },
    /** Resolves with what was received when the condition holds, within two seconds. */
    async until(holds: (seen: string, isClosed: boolean) => boolean): Promise<string> {
      for (const end = performance.now() + 15_000; performance.now() < end; ) {
        if (holds(this.seen, isClosed)) return this.seen;
        await Bun.sleep(2);
      }
      throw new Error(`never came: ${JSON.stringify(this.seen.slice(0, 2000))}, ${isClosed ? 'closed' : 'open'}`);
    },
    closed() {
      return this.until((_, closed) => closed);
    },
    ends(with_: string) {
      return this.until((all) => all.endsWith(with_));
    },
  };
}

export const GET = 'GET /a HTTP/1.1\nhost: x\n\n';
export const answered = (body: string, more = '') =>
  `HTTP/1.1 200 OK\nx-is: text\ncontent-length: ${body.length}\n${more}\n${body}`;

/** A source of these pieces; each is written when the previous one was accepted. */
export function source(pieces: readonly (string | Uint8Array)[], log: string[] = []): ByteSource {
  const left = [...pieces];
  let sink: ByteSink;
  async function bring(): Promise<void> {
    try {
      for (let isTaken = true; isTaken; ) {
        await Bun.sleep(0);
        const piece = left.shift();
        if (piece === undefined) return sink.end();
        if (piece === 'fail!') return sink.fail();
        if (piece === 'throw!') throw new Error('broken');
        isTaken = sink.write(Buffer.from(piece as string));
      }
    } catch (thrown) {
      sink.fail(thrown);
    }
  }
  return {
    start(given) {
      sink = given;
      void bring();
    },
    resume: () => void bring(),
    cancel: () => void log.push('cancelled'),
  };
}
