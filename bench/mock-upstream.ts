/** The benchmark's upstream, a separate process: immediate non-streaming responses, and streams at a set rate, for little CPU time. */
import type { Socket } from 'bun';
import { messageCutter } from './http-messages.ts';
import { type Answers, CHAT_ANSWERS, MESSAGES_ANSWERS } from './mock-answers.ts';
import { MESSAGES_PATH, type Pace, readPace } from './workload.ts';

interface Connection {
  feed(bytes: Buffer): void;
  /** What the socket has not accepted yet. */
  pending: Buffer[];
  open: boolean;
}

interface Stream {
  socket: Socket<Connection>;
  answers: Answers;
  pace: Pace;
  left: number;
  wantsUsage: boolean;
}

function send(socket: Socket<Connection>, bytes: Buffer): void {
  const { data } = socket;
  if (!data.open) return;
  if (data.pending.length > 0) {
    data.pending.push(bytes);
    return;
  }
  const written = socket.write(bytes);
  if (written < bytes.length) data.pending.push(bytes.subarray(written));
}

function drain(socket: Socket<Connection>): void {
  const { pending } = socket.data;
  for (let first = pending.shift(); first; first = pending.shift()) {
    const written = socket.write(first);
    if (written < first.length) {
      pending.unshift(first.subarray(written));
      return;
    }
  }
}

/** Streams by the millisecond of their next chunk: a ring that is checked once per millisecond. */
const SLOTS = 1024;
const slots: Stream[][] = Array.from({ length: SLOTS }, () => []);
let lookedAt = Date.now();

function schedule(stream: Stream, due: number): void {
  slots[due % SLOTS]?.push(stream);
}

setInterval(() => {
  const now = Date.now();
  const chunks = new Map<Answers, Buffer>();
  for (; lookedAt < now; lookedAt++) {
    const index = (lookedAt + 1) % SLOTS;
    const due = slots[index] ?? [];
    if (due.length === 0) continue;
    slots[index] = [];
    for (const stream of due) {
      const bytes = chunks.get(stream.answers) ?? Buffer.from(stream.answers.timed(now));
      chunks.set(stream.answers, bytes);
      advance(stream, bytes, lookedAt + 1);
    }
  }
}, 1);

function advance(stream: Stream, bytes: Buffer, due: number): void {
  const { socket, answers, pace, wantsUsage } = stream;
  if (!socket.data.open) return;
  if (stream.left > 0) {
    stream.left--;
    send(socket, bytes);
    schedule(stream, due + pace.everyMs);
  } else {
    send(socket, Buffer.from(answers.end(wantsUsage)));
  }
}

function answer(socket: Socket<Connection>, answers: Answers, body: string): void {
  const pace = readPace(body);
  if (!pace) {
    send(socket, answers.whole);
    return;
  }
  const now = Date.now();
  send(socket, Buffer.from(answers.begin + answers.timed(now)));
  const wantsUsage = body.includes('"include_usage":true');
  schedule({ socket, answers, pace, left: pace.chunks - 1, wantsUsage }, Math.max(now, lookedAt) + pace.everyMs);
}

const server = Bun.listen<Connection>({
  hostname: process.argv[2] ?? '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      let body = '';
      let answers = CHAT_ANSWERS;
      const feed = messageCutter({
        head: (head) => {
          body = '';
          answers = head.startsWith(`POST ${MESSAGES_PATH} `) ? MESSAGES_ANSWERS : CHAT_ANSWERS;
        },
        body: (bytes) => {
          body += bytes.toString('latin1');
        },
        end: () => answer(socket, answers, body),
      });
      socket.data = { feed, pending: [], open: true };
      socket.setNoDelay(true);
    },
    data: (socket, bytes) => socket.data.feed(bytes),
    drain,
    close(socket) {
      socket.data.open = false;
    },
    error() {
      // a broken connection: the load generator counts it
    },
  },
});

console.log(server.port);
