/** The benchmark's upstream, a process of its own: whole replies at once and streams at a set pace, for next to no CPU. */
import type { Socket } from 'bun';
import { messageCutter } from './http-messages.ts';
import { MODEL, type Pace, readPace, TIME_MARK } from './workload.ts';

interface Connection {
  feed(bytes: Buffer): void;
  /** What the socket did not take yet. */
  pending: Buffer[];
  open: boolean;
}

interface Stream {
  socket: Socket<Connection>;
  pace: Pace;
  left: number;
  wantsUsage: boolean;
}

const USAGE = {
  prompt_tokens: 210,
  completion_tokens: 24,
  total_tokens: 234,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
const ABOUT = { created: 1_760_000_000, model: MODEL, service_tier: 'default', system_fingerprint: 'fp_44709d6fcb' };
const WHOLE = wholeReply();
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n';

function wholeReply(): Buffer {
  const content = 'The northern way is shorter: nine minutes against twelve, by the town map of last year.';
  const body = JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    ...ABOUT,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** One server-sent event as one HTTP chunk. */
function event(data: string): string {
  const text = `data: ${data}\n\n`;
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function chunk(delta: object, finish: string | null, usage?: object): string {
  const choices = usage ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return event(
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion.chunk',
      ...ABOUT,
      choices,
      ...(usage && { usage }),
    }),
  );
}

const ROLE = chunk({ role: 'assistant', content: '', refusal: null }, null);
const [BEFORE_TIME = '', AFTER_TIME = ''] = chunk({ content: 'at 0000000000000' }, null).split('0000000000000');
const LAST = chunk({}, 'stop');
const LAST_USAGE = chunk({}, null, USAGE);
const TERMINATOR = `${event('[DONE]')}0\r\n\r\n`;
if (!BEFORE_TIME.endsWith(TIME_MARK)) throw new Error('the time mark is not where the load generator looks for it');

const timedChunk = (now: number): string => BEFORE_TIME + now + AFTER_TIME;

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

/** Streams by the millisecond at which their next chunk is due: a ring, looked at once a millisecond. */
const SLOTS = 1024;
const slots: Stream[][] = Array.from({ length: SLOTS }, () => []);
let lookedAt = Date.now();

function schedule(stream: Stream, due: number): void {
  slots[due % SLOTS]?.push(stream);
}

setInterval(() => {
  const now = Date.now();
  const bytes = Buffer.from(timedChunk(now));
  for (; lookedAt < now; lookedAt++) {
    const index = (lookedAt + 1) % SLOTS;
    const due = slots[index] ?? [];
    if (due.length === 0) continue;
    slots[index] = [];
    for (const stream of due) advance(stream, bytes, lookedAt + 1);
  }
}, 1);

function advance(stream: Stream, bytes: Buffer, due: number): void {
  const { socket, pace, wantsUsage } = stream;
  if (!socket.data.open) return;
  if (stream.left > 0) {
    stream.left--;
    send(socket, bytes);
    schedule(stream, due + pace.everyMs);
  } else {
    send(socket, Buffer.from(LAST + (wantsUsage ? LAST_USAGE : '') + TERMINATOR));
  }
}

function answer(socket: Socket<Connection>, body: string): void {
  const pace = readPace(body);
  if (!pace) {
    send(socket, WHOLE);
    return;
  }
  const now = Date.now();
  send(socket, Buffer.from(STREAM_HEAD + ROLE + timedChunk(now)));
  const wantsUsage = body.includes('"include_usage":true');
  schedule({ socket, pace, left: pace.chunks - 1, wantsUsage }, Math.max(now, lookedAt) + pace.everyMs);
}

const server = Bun.listen<Connection>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      let body = '';
      const feed = messageCutter({
        head: () => {
          body = '';
        },
        body: (bytes) => {
          body += bytes.toString('latin1');
        },
        end: () => answer(socket, body),
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
      // a peer that broke off: the load generator counts it
    },
  },
});

console.log(server.port);
