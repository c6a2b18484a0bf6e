/** The vendor that ships: an upstream in this process that speaks OpenAI's formats, with no key, no network and no model. */
import { isObject, type JsonObject } from '../canonical/json.ts';
import { type Answer, answerChat, answerCompletion, lastPrompt } from './answer.ts';
import { type Asked, keyOf, readChat, readCompletion, SANDBOX_MODELS } from './asked.ts';
import { chatChunks, wholeChat } from './chat-reply.ts';
import { completionChunks, wholeCompletion } from './completion-reply.ts';
import { type Directives, readDirectives } from './directives.ts';
import { EMBED_MODEL, embedReply, readEmbed } from './embed.ts';
import { Refusal, refusalReply } from './refusal.ts';
import { RERANK_MODEL, readRerank, rerankReply } from './rerank.ts';

export interface SandboxOptions {
  /** Resolves after that time; rejects as soon as the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Pause before each chunk of a stream but the first. */
  tokenMs?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Answers one request as a vendor would; stops at once when the request's signal aborts. */
export type Sandbox = (request: Request) => Promise<Response>;

/** A reply before it has a form: both forms of it, of which one is taken. */
interface Reply {
  asked: Pick<Asked, 'key' | 'stream'>;
  directives: Directives;
  whole(): JsonObject;
  chunks(): Iterable<JsonObject>;
}

const DEFAULT_TOKEN_MS = 20;

export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { sleep = sleepUnlessAborted, tokenMs = DEFAULT_TOKEN_MS, now = Date.now } = options;

  async function answer(request: Request): Promise<Response> {
    const route = routeOf(request);
    if (route === 'models') return Response.json(modelList());
    const { asked, directives, whole, chunks } = route(await readBody(request), Math.floor(now() / 1000));
    if (directives.delayMs !== undefined) await sleep(directives.delayMs, request.signal);
    if (directives.failStatus !== undefined) throw toldToFail(directives.failStatus);
    const headers = { 'x-request-id': `req_${asked.key}` };
    if (!asked.stream) {
      const text = JSON.stringify(whole());
      const body = directives.cut ? brokenOff(text.slice(0, text.length / 2)) : text;
      return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } });
    }
    const events = [...eventsOf(chunks())];
    const sent = directives.cut ? events.slice(0, events.length / 2) : events;
    const body = paced(sent, (signal) => sleep(tokenMs, signal), request.signal, directives.cut);
    return new Response(body, {
      headers: { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
    });
  }

  return async (request) => {
    try {
      return await answer(request);
    } catch (thrown) {
      if (thrown instanceof Refusal) return refusalReply(thrown);
      throw thrown;
    }
  };
}

type Route = (body: JsonObject, created: number) => Reply;

function routeOf(request: Request): Route | 'models' {
  const { pathname } = new URL(request.url);
  if (pathname === '/v1/models' && request.method === 'GET') return 'models';
  const route = ROUTES[pathname];
  if (!route) throw new Refusal(404, `The sandbox serves no ${pathname}.`);
  if (request.method !== 'POST') throw new Refusal(405, `${pathname} takes POST.`);
  return route;
}

const ROUTES: { readonly [path: string]: Route } = {
  '/v1/chat/completions': (body, created) => {
    const asked = readChat(body);
    const answers = Array.from({ length: asked.choices }, (_, choice) => answerChat(asked, choice));
    return {
      asked,
      directives: readDirectives(lastPrompt(asked)),
      whole: () => wholeChat(asked, answers, created),
      chunks: () => chatChunks(asked, answers, created),
    };
  },
  '/v1/completions': (body, created) => {
    const asked = readCompletion(body);
    const answers: Answer[] = asked.prompts.flatMap((prompt) =>
      Array.from({ length: asked.choices }, (_, choice) => answerCompletion(asked, prompt, choice)),
    );
    return {
      asked,
      directives: readDirectives(asked.prompts.join(' ')),
      whole: () => wholeCompletion(asked, answers, created),
      chunks: () => completionChunks(asked, answers, created),
    };
  },
  '/v1/embeddings': (body) => {
    const asked = readEmbed(body);
    return whole(body, asked.texts.join(' '), () => embedReply(asked));
  },
  '/v1/rerank': (body) => {
    const asked = readRerank(body);
    return whole(body, asked.query, (key) => rerankReply(asked, key));
  },
};

/** A reply that no stream has. */
function whole(body: JsonObject, prompt: string, reply: (key: string) => JsonObject): Reply {
  const key = keyOf(body);
  return {
    asked: { key, stream: false },
    directives: readDirectives(prompt),
    whole: () => reply(key),
    chunks: () => [],
  };
}

async function readBody(request: Request): Promise<JsonObject> {
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
  if (!isObject(body)) throw new Refusal(400, 'The body must be a JSON object.');
  return body;
}

function modelList(): JsonObject {
  return {
    object: 'list',
    data: [...SANDBOX_MODELS, EMBED_MODEL, RERANK_MODEL].map((id) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'sandbox',
    })),
  };
}

function toldToFail(status: number): Refusal {
  if (status < 400 || status > 599) return new Refusal(400, 'The status after `[[fail` must be from 400 to 599.');
  return new Refusal(status, `The sandbox failed with ${status}, as the prompt told it to.`);
}

function* eventsOf(chunks: Iterable<JsonObject>): Generator<string> {
  for (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
  yield 'data: [DONE]\n\n';
}

const encoder = new TextEncoder();

/** The pieces one after another with a pause before each but the first; `breaksOff`: an error stands in place of the end. */
function paced(
  pieces: readonly string[],
  pause: (signal: AbortSignal) => Promise<void>,
  aborted: AbortSignal,
  breaksOff: boolean,
): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, aborted]);
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = pieces[next];
      if (piece === undefined) {
        if (breaksOff) controller.error(new Error('The sandbox broke off, as the prompt told it to.'));
        else controller.close();
        return;
      }
      try {
        if (next > 0) await pause(signal);
        next++;
        controller.enqueue(encoder.encode(piece));
      } catch (thrown) {
        // A reader that left needs no error; an aborted request does.
        if (!left.signal.aborted) controller.error(thrown);
      }
    },
    cancel() {
      left.abort();
    },
  });
}

function brokenOff(text: string): ReadableStream<Uint8Array> {
  return paced([text], () => Promise.resolve(), new AbortController().signal, true);
}

function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
