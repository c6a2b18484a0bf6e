/** The built-in provider for tests: runs in this process, serves every chat format, and needs no key, network or model. */
import type { ChatCall, ImageCall, SpeechCall, TranscriptionCall } from '../canonical/call.ts';
import { asGatewayError, type ErrorCode, GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { isObject, type JsonObject } from '../canonical/json.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import { yieldToLoop } from '../canonical/yield-to-loop.ts';
import type { Dialect, WireRequest } from '../dialects/dialect.ts';
import { dialectNamed } from '../dialects/index.ts';
import { parseBody } from '../dialects/shared/request-body.ts';
import { answerChat, answerCompletion, type SandboxAnswer } from './answer.ts';
import { lastPrompt } from './conversation.ts';
import { readDirectives } from './directives.ts';
import { EMBED_MODEL, embedReply, readEmbed } from './embed.ts';
import { IMAGE_MODEL } from './image.ts';
import { sandboxImageEvents } from './image-events.ts';
import { MODERATION_MODEL, moderationReply, readModeration } from './moderation.ts';
import { type ReplyHead, replyEvents } from './reply-events.ts';
import { RERANK_MODEL, readRerank, rerankReply } from './rerank.ts';
import { audioEvents, audioOf, SPEECH_MODEL } from './speech.ts';
import { checkStrictly } from './strict.ts';
import { TRANSCRIPTION_MODEL, transcriptOf } from './transcript.ts';
import { answerVideo, isVideoPath, VIDEO_MODEL } from './video.ts';

export interface SandboxOptions {
  /** Resolves after that time; rejects when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Pause before each piece of a stream except the first. */
  tokenMs?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Answers a request as a provider would. Stops when the request's signal aborts. */
export type Sandbox = (request: Request) => Promise<Response>;

/** Models for chat. */
const CHAT_MODELS = ['sandbox-chat', 'sandbox-reasoner', IMAGE_MODEL] as const;

/** The models for each kind of call. */
const MODELS = { chat: CHAT_MODELS, image: [IMAGE_MODEL], speech: [SPEECH_MODEL] } as const;

const DEFAULT_TOKEN_MS = 20;
const NO_BYTES = new Uint8Array();

/**
 * An upstream without a provider. The same request gets the same reply; docs/guides/testing.md describes what a prompt can request. Errors are
 * responses in the format of the path.
 *
 * @example
 * const sandbox = createSandbox({ tokenMs: 0 });
 * const body = JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] });
 * const response = await sandbox(new Request('http://sandbox.invalid/v1/chat/completions', { method: 'POST', body }));
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { sleep = sleepUnlessAborted, tokenMs = DEFAULT_TOKEN_MS, now = Date.now } = options;

  async function answer(request: Request, route: SandboxRoute): Promise<Response> {
    if (request.method !== 'POST') throw new GatewayError('method_not_allowed', 'The sandbox takes POST here.');
    const body = new Uint8Array(await request.arrayBuffer());
    const query = new URL(request.url).searchParams;
    const planned = route.tell({ body, headers: request.headers, path: route.path, query }, Math.floor(now() / 1000));
    const { delayMs, failStatus, paceMs = tokenMs, cut } = readDirectives(planned.prompt);
    if (delayMs !== undefined) await sleep(delayMs, request.signal);
    if (failStatus !== undefined) throw directedFailure(failStatus);
    const headers = { 'content-type': planned.contentType, 'x-request-id': `req_${planned.key}` };
    if (planned.stream) {
      const pieces = planned.pieces(cut ? planned.groups() / 2 : undefined);
      const stream = paced(pieces, (signal) => sleep(paceMs, signal), request.signal, cut);
      return new Response(stream, { headers: { ...headers, 'cache-control': 'no-cache' } });
    }
    const whole = await gather(planned.pieces(), request.signal);
    if (!cut) return new Response(whole, { headers });
    const half = [whole.subarray(0, whole.length / 2)].values();
    return new Response(
      paced(half, () => Promise.resolve(), request.signal, true),
      { headers },
    );
  }

  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/v1/models' && request.method === 'GET') return Response.json(modelList());
    if (isVideoPath(pathname)) return answerVideo(request, now());
    const route = routeOf(pathname);
    if (!route) return Response.json({ error: { message: `The sandbox serves no ${pathname}.` } }, { status: 404 });
    try {
      return await answer(request, route);
    } catch (thrown) {
      if (request.signal.aborted) throw thrown;
      const reply = route.dialect.writeError(asGatewayError(thrown), 'sandbox');
      return new Response(reply.body, reply);
    }
  };
}

/** A reply to a valid request. It is generated while it is read. */
interface SandboxReply {
  prompt: string;
  key: string;
  contentType: string;
  stream: boolean;
  /**
   * The bytes of the reply, generated as they are read; some pieces are empty. With `most`, only that many groups of events, and no end.
   */
  pieces(most?: number): Iterator<Uint8Array>;
  /** The number of groups of events. */
  groups(): number;
}

interface SandboxRoute {
  /** The format of errors. */
  dialect: Dialect;
  path: { [name: string]: string };
  tell(request: WireRequest, created: number): SandboxReply;
}

/** The paths of each format, as its provider has them. */
const PATHS: { readonly [path: string]: string } = {
  '/v1/chat/completions': 'openai-chat',
  '/v1/completions': 'openai-completions',
  '/v1/responses': 'openai-responses',
  '/v1/messages': 'anthropic-messages',
  '/v1/images/generations': 'openai-images',
  '/v1/images/edits': 'openai-images',
  '/v1/audio/speech': 'openai-speech',
  '/v1/audio/transcriptions': 'openai-transcriptions',
  '/v1/audio/translations': 'openai-transcriptions',
};
const GOOGLE_PATH = /^\/v1(?:beta)?\/models\/(.+):(\w+)$/;
/** Responses that are not streamed. */
const WHOLE: {
  readonly [path: string]: (body: JsonObject, key: string) => { prompt: string; reply: () => Iterable<string> };
} = {
  '/v1/embeddings': (body) => {
    const asked = readEmbed(body);
    return { prompt: asked.texts.join(' '), reply: () => embedReply(asked) };
  },
  '/v1/rerank': (body, key) => {
    const asked = readRerank(body);
    return { prompt: asked.query, reply: () => [JSON.stringify(rerankReply(asked, key))] };
  },
  '/v1/moderations': (body, key) => {
    const asked = readModeration(body);
    return { prompt: asked.texts.join(' '), reply: () => [JSON.stringify(moderationReply(asked, key))] };
  },
};

function routeOf(pathname: string): SandboxRoute | undefined {
  const [, model, action] = GOOGLE_PATH.exec(pathname) ?? [];
  const path =
    model !== undefined && action !== undefined
      ? { model: decodeURIComponent(model), action }
      : { action: pathname.slice(pathname.lastIndexOf('/') + 1) };
  const whole = WHOLE[pathname];
  const dialect = dialectNamed(model !== undefined ? 'gemini' : (PATHS[pathname] ?? 'openai-chat'));
  if (!dialect || !(whole || model !== undefined || pathname in PATHS)) return undefined;
  if (!whole) return { dialect, path, tell: (request, created) => answered(dialect, request, created) };
  return {
    dialect,
    path,
    tell({ body }) {
      const parsed = parseBody(body);
      if (!isObject(parsed)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
      const key = newId('');
      const { prompt, reply } = whole(parsed, key);
      return { prompt, key, contentType: 'application/json', stream: false, ...piecesOf(reply) };
    },
  };
}

/** A non-streaming reply from its text. */
function piecesOf(reply: () => Iterable<string>): Pick<SandboxReply, 'pieces' | 'groups'> {
  return {
    *pieces() {
      for (const text of reply()) yield Buffer.from(text);
    },
    groups: () => 1,
  };
}

/** Id prefixes of the formats' own providers. */
const ID_BEGINNINGS: { readonly [dialect: string]: string } = {
  'openai-chat': 'chatcmpl-',
  'openai-completions': 'cmpl-',
  'openai-responses': 'resp_',
  'anthropic-messages': 'msg_',
};

function answered(dialect: Dialect, request: WireRequest, createdSeconds: number): SandboxReply {
  const call = dialect.readCall(request);
  if (call.kind === 'chat') checkStrictly(dialect.name, parseBody(request.body));
  if (call.kind === 'transcription') return heard(call);
  if (call.kind !== 'chat' && call.kind !== 'image' && call.kind !== 'speech')
    throw new GatewayError('not_found', 'The sandbox supports chat, image and speech requests on this path.');
  const models = MODELS[call.kind];
  if (!models.some((name) => name === call.model))
    throw new GatewayError('model_not_found', `The model \`${call.model}\` does not exist.`, { param: 'model' });
  call.receivedSeconds = createdSeconds;
  const key = newId('');
  const id = (ID_BEGINNINGS[call.origin.dialect] ?? '') + key;
  const eventsOf = () => eventsFor(call, { key, id, createdSeconds });
  const { events, contentType } = eventsOf();
  const writer = dialect.writer(call);
  return {
    prompt: promptOf(call),
    key,
    contentType: contentType ?? writer.contentType,
    stream: call.stream,
    *pieces(most = Number.POSITIVE_INFINITY) {
      let left = Math.floor(most);
      for (const group of events) {
        if (left-- === 0) return;
        yield writer.write({ bytes: NO_BYTES, events: group });
      }
      yield writer.end();
    },
    groups() {
      let count = 0;
      for (const _ of eventsOf().events) count++;
      return count;
    },
  };
}

function heard(call: TranscriptionCall): SandboxReply {
  if (call.model !== TRANSCRIPTION_MODEL)
    throw new GatewayError('model_not_found', `The model \`${call.model}\` does not exist.`, { param: 'model' });
  const prompt = call.fields.find(([name]) => name === 'prompt')?.[1] ?? '';
  const text = transcriptOf(call);
  const contentType = text.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8';
  return { prompt, key: newId(''), contentType, stream: false, ...piecesOf(() => [text]) };
}

function promptOf(call: ChatCall | ImageCall | SpeechCall): string {
  if (call.kind === 'image') return call.prompt;
  if (call.kind === 'speech') return call.input;
  return call.completion ? promptsOf(call).join(' ') : lastPrompt(call);
}

/** The reply's events, generated as they are read. Invalid calls throw at once. */
function eventsFor(
  call: ChatCall | ImageCall | SpeechCall,
  head: ReplyHead,
): { events: Iterable<ReplyEvent[]>; contentType?: string } {
  if (call.kind === 'image') return { events: sandboxImageEvents(call, head) };
  if (call.kind === 'chat') return { events: replyEvents({ call, ...head, answers: answersTo(call, head.key) }) };
  const audio = audioOf(call);
  return { events: audioEvents(call, audio), ...(call.mute && { contentType: audio.mimeType }) };
}

const MOST_CHOICES = 128;

function answersTo(call: ChatCall, key: string): SandboxAnswer[] {
  const { n = 1 } = call.sampling;
  const prompts = call.completion ? promptsOf(call) : [];
  if (n > MOST_CHOICES || n * prompts.length > MOST_CHOICES) {
    const sentence = `\`n\` must be an integer from 1 to ${MOST_CHOICES}, over all prompts.`;
    throw new GatewayError('invalid_request', sentence, { param: 'n' });
  }
  const times = <T>(one: (choice: number) => T): T[] => Array.from({ length: n }, (_, choice) => one(choice));
  if (!call.completion) return times((choice) => answerChat(call, choice, key));
  return prompts.flatMap((prompt) => times((choice) => answerCompletion(call, prompt, choice)));
}

/** The sandbox cannot decode token ids; its answer states that. */
function promptsOf({ completion }: ChatCall): string[] {
  return (completion?.prompts ?? []).map((one) => (typeof one === 'string' ? one : `(${one.length} token ids)`));
}

function modelList(): JsonObject {
  return {
    object: 'list',
    data: [
      ...CHAT_MODELS,
      EMBED_MODEL,
      RERANK_MODEL,
      SPEECH_MODEL,
      TRANSCRIPTION_MODEL,
      MODERATION_MODEL,
      VIDEO_MODEL,
    ].map((id) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'sandbox',
    })),
  };
}

const CODES: { readonly [status: number]: ErrorCode } = {
  401: 'invalid_api_key',
  402: 'insufficient_balance',
  403: 'model_not_allowed',
  404: 'not_found',
  413: 'request_too_large',
  429: 'rate_limited',
  503: 'upstream_unavailable',
  504: 'upstream_timeout',
  529: 'upstream_unavailable',
};

function directedFailure(status: number): GatewayError {
  if (status < 400 || status > 599)
    return new GatewayError('invalid_request', 'The status after `[[fail` must be from 400 to 599.');
  const code = CODES[status] ?? (status < 500 ? 'invalid_request' : 'internal_error');
  const sentence = `The sandbox failed with ${status}, as the prompt asked.`;
  return new GatewayError(code, sentence, { status, ...(status === 429 && { retryAfterSeconds: 1 }) });
}

/** The maximum time that the event loop is blocked. */
const SLICE_MS = 10;

/** Joins all pieces, with pauses that let other requests run. */
async function gather(pieces: Iterator<Uint8Array>, aborted: AbortSignal): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let began = performance.now();
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    if (next.value.length > 0) parts.push(next.value);
    if (performance.now() - began < SLICE_MS) continue;
    await yieldToLoop();
    aborted.throwIfAborted();
    began = performance.now();
  }
  return Buffer.concat(parts);
}

/**
 * Emits the pieces with a pause before each except the first. Each is generated when the reader asks for it. `breaksOff`: ends with an
 * error.
 */
function paced(
  pieces: Iterator<Uint8Array>,
  pause: (signal: AbortSignal) => Promise<void>,
  aborted: AbortSignal,
  breaksOff: boolean,
): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, aborted]);
  let isFirst = true;
  const nextPiece = () => {
    let next = pieces.next();
    while (!next.done && next.value.length === 0) next = pieces.next();
    return next;
  };
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const next = nextPiece();
        if (next.done) {
          if (breaksOff) controller.error(new Error('The sandbox broke the connection, as the prompt asked.'));
          else controller.close();
          return;
        }
        if (!isFirst) await pause(signal);
        isFirst = false;
        controller.enqueue(next.value);
      } catch (thrown) {
        // A reader that disconnected needs no error; an aborted request does.
        if (!left.signal.aborted) controller.error(thrown);
      }
    },
    cancel() {
      left.abort();
      pieces.return?.();
    },
  };
  // Nothing is generated before it is read.
  return new ReadableStream(source, { highWaterMark: 0 });
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
