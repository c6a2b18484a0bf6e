/** A local upstream with scripted answers, also faulty ones, and a journal of requests: raw sockets. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Answer, planAnswer, type Step } from './answer.ts';
import { type RawRequest, requestsOf } from './http-request.ts';

/** A received request, and how its answer ended. */
export interface JournalEntry {
  method: string;
  path: string;
  headers: { [name: string]: string };
  /** The body as JSON, or `undefined`. */
  body: { [member: string]: unknown } | undefined;
  /** For a form, one character per byte. */
  form?: string;
  atMs: number;
  /** The peer disconnected before the answer was complete. */
  aborted: boolean;
  /** Bytes of the answer that the system accepted, headers included. */
  sentBytes: number;
  /** When the answer was complete or broken by either side; absent while in progress. */
  endedMs?: number;
}

export interface ScriptedUpstream {
  /** `http://127.0.0.1:port`. Each path prefix has its own queue of answers. */
  readonly url: string;
  /** Appends answers to the queue of a prefix (`/openai`). */
  script(prefix: string, ...answers: Answer[]): void;
  /** Computes answers of a prefix from their requests; scripted answers are used first. */
  decide(prefix: string, answerTo: (request: JournalEntry) => Answer): void;
  /** The requests of a prefix in order. */
  journal(prefix: string): JournalEntry[];
  /** The number of unused answers. */
  unused(prefix: string): number;
  /** Clears answers and journal of a prefix. */
  forget(prefix: string): void;
  close(): Promise<void>;
}

/** Starts on a free port. By HTTP: `PUT /_script` with answers by prefix, `GET /_journal`, `DELETE /_script`. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const queues = new Map<string, Answer[]>();
  const deciders = new Map<string, (request: JournalEntry) => Answer>();
  const entries: JournalEntry[] = [];
  const sockets = new Set<Socket>();

  function script(prefix: string, ...answers: Answer[]): void {
    queues.set(prefix, [...(queues.get(prefix) ?? []), ...answers]);
  }
  function nextAnswer(entry: JournalEntry): Answer {
    const { path } = entry;
    const first = longest(queues, path)?.[0];
    if (!first) return longest(deciders, path)?.(entry) ?? unscripted(path);
    if (!first.repeat) longest(queues, path)?.shift();
    return first;
  }
  function control(request: RawRequest): Answer {
    if (request.path === '/_journal') return { json: entries };
    if (request.method === 'DELETE') queues.clear();
    else {
      const scripts = JSON.parse(Buffer.from(request.body).toString()) as { [prefix: string]: Answer[] };
      for (const [prefix, answers] of Object.entries(scripts)) script(prefix, ...answers);
    }
    return { json: { ok: true } };
  }

  async function converse(socket: Socket): Promise<void> {
    const next = requestsOf(socket);
    for (;;) {
      const request = await next();
      if (!request) break;
      const controlled = request.path.startsWith('/_');
      const entry = toEntry(request);
      if (!controlled) entries.push(entry);
      const plan = planAnswer(controlled ? control(request) : nextAnswer(entry));
      const end = await perform(plan.steps, socket, entry);
      entry.aborted = end === 'gone';
      entry.endedMs = Date.now();
      if (end !== 'sent' || !plan.reusable) break;
    }
    socket.end();
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    void converse(socket);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    script,
    decide: (prefix, answerTo) => void deciders.set(prefix, answerTo),
    journal: (prefix) => entries.filter((entry) => entry.path.startsWith(prefix)),
    unused: (prefix) => queues.get(prefix)?.filter((answer) => !answer.repeat).length ?? 0,
    forget(prefix) {
      queues.delete(prefix);
      for (let at = entries.length - 1; at >= 0; at--) if (entries[at]?.path.startsWith(prefix)) entries.splice(at, 1);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The value of the longest prefix of the path. */
function longest<T>(of: ReadonlyMap<string, T>, path: string): T | undefined {
  const prefix = [...of.keys()].filter((key) => path.startsWith(key)).sort((a, b) => b.length - a.length)[0];
  return prefix === undefined ? undefined : of.get(prefix);
}

function unscripted(path: string): Answer {
  return { status: 599, json: { error: { message: `nothing is scripted for ${path}`, type: 'unscripted' } } };
}

/** A local URL where nothing listens. */
export async function refusingUrl(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return `http://127.0.0.1:${port}`;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function toEntry(request: RawRequest): JournalEntry {
  const { method, path, headers } = request;
  const isForm = headers['content-type']?.startsWith('multipart/') === true;
  const form = isForm ? { form: Buffer.from(request.body).toString('latin1') } : {};
  return { method, path, headers, body: asJson(request.body), ...form, atMs: Date.now(), aborted: false, sentBytes: 0 };
}

function asJson(body: Uint8Array): { [member: string]: unknown } | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

/** `sent`: complete; `broken`: broken by the script; `gone`: the peer disconnected. */
async function perform(
  steps: readonly Step[],
  socket: Socket,
  entry: JournalEntry,
): Promise<'sent' | 'broken' | 'gone'> {
  let gone = socket.destroyed;
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = () => {
      gone = true;
      resolve();
    };
  });
  for (const event of ['end', 'close', 'error']) socket.once(event, leave);
  try {
    for (const step of steps) {
      if (gone) return 'gone';
      switch (step.type) {
        case 'send':
          if (!socket.write(step.bytes)) await Promise.race([left, onceDrained(socket)]);
          if (gone) return 'gone';
          entry.sentBytes += step.bytes.length;
          await new Promise<void>((resolve) => setImmediate(resolve));
          break;
        case 'wait':
          await Promise.race([left, Bun.sleep(step.ms)]);
          break;
        case 'cut':
          socket.end();
          return 'broken';
        case 'reset':
          socket.resetAndDestroy();
          return 'broken';
        case 'silence':
          await left;
          break;
        default:
          step satisfies never;
      }
    }
    return 'sent';
  } finally {
    for (const event of ['end', 'close', 'error']) socket.off(event, leave);
  }
}

function onceDrained(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', () => resolve()));
}
