/** Tries a call's targets one after another until one answers: nothing has gone to the client yet. */
import type { Call } from '../canonical/call.ts';
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Frame, Reader } from '../dialects/dialect.ts';
import { boundedReader } from '../dialects/shared/bounded-reader.ts';
import { errorInCallersWords } from '../dialects/shared/caller-words.ts';
import { readThrough } from '../dialects/wire/framing.ts';
import type { TaskForm } from '../providers/provider.ts';
import { Cancellation } from '../transport/cancellation.ts';
import type { ByteTaker, Exchange } from '../transport/exchange.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { outgoingFor } from './outgoing.ts';
import { followTask } from './prepare/follow-task.ts';
import { adapted } from './prepare/image-calls.ts';
import { inPieces, joinPieces } from './prepare/pieces.ts';
import { imagesAsAsked } from './prepare/reply-images.ts';
import { makerOf } from './prepare/save-conversation.ts';
import { spokenReply } from './prepare/speech-calls.ts';
import { withUploadsFor } from './prepare/uploaded-images.ts';
import { publicError } from './redaction.ts';
import { withProofs } from './signatures.ts';
import { type TargetRoute, urlsTaken, wayTo, withCredential } from './target-route.ts';
import { type FrameTaker, type Upstream, WholeUpstream } from './upstream.ts';

/** Upstream errors larger than this say nothing more. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Of a stream before anything it means: comments that keep it open are some bytes each few seconds. */
const MAX_EMPTY_BYTES = 1024 * 1024;

/** Resolves with the first target that answers. Throws the error the client should see when none does. */
export async function attempt(deps: GatewayDeps, context: CallContext): Promise<Upstream> {
  const errors: GatewayError[] = [];
  for (const target of context.targets) {
    const tried = [deps.catalog.credential(target, deps.now())];
    // A credential that the provider does not accept, or limits, is not the target's failure while there is another.
    for (let credential = tried[0], isOver = false; !isOver; ) {
      context.attempts++;
      try {
        const answer = await tryTarget(deps, context, target, credential);
        const upstream = context.model.kind === 'image' ? imagesAsAsked(deps, answer, context.call) : answer;
        deps.catalog.observe(target, { ok: true }, deps.now(), credential);
        return upstream;
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        const error = publicError(deps, context, thrown);
        if (context.cancellation.cancelled) throw error;
        // What an upstream has failed at costs nothing, also should the client leave behind the next.
        context.cancellation.sent = false;
        credential = deps.catalog.another(target, tried, error, deps.now());
        if (!error.retryable) throw error;
        errors.push(error);
        isOver = credential === undefined;
        tried.push(credential);
      }
    }
  }
  throw worthTelling(errors);
}

/** What none of several failures hides, a provider's before what one of them cannot do: a rate limit only where every target was limited, then with the soonest end. */
function worthTelling(errors: readonly GatewayError[]): GatewayError {
  const others = errors.filter((error) => error.code !== 'rate_limited');
  const last = others.findLast((error) => error.code !== 'invalid_request') ?? others.at(-1);
  if (last) return last;
  return errors.reduce((a, b) => ((b.retryAfterSeconds ?? Infinity) < (a.retryAfterSeconds ?? Infinity) ? b : a));
}

function tryTarget(
  deps: GatewayDeps,
  context: CallContext,
  choice: ModelTarget,
  credential: string | undefined,
): Promise<Upstream> {
  const way = withCredential(wayTo(deps, context.call, context.dialect, choice, context.model), choice, credential);
  context.target = choice;
  context.upstreamDialect = way.dialect.name;
  context.warnings = [];
  context.maker = makerOf(way.dialect, choice.provider);
  if (context.call.kind === 'chat' && context.call.thread) context.call.thread.maker = context.maker;
  const call = withMedia(context, way);
  return call instanceof Promise ? call.then((held) => ask(deps, context, way, held)) : ask(deps, context, way, call);
}

/** The call with what it names by address and the files it came with as this target takes them; a promise where they have to be read. */
function withMedia(context: CallContext, way: TargetRoute): Call | Promise<Call> {
  return context.media || context.call.kind === 'image' ? readMedia(context, way) : context.call;
}

async function readMedia({ media, call }: CallContext, way: TargetRoute): Promise<Call> {
  const given = media ? await media.inlineFor(urlsTaken(way)) : call;
  return given.kind === 'image' ? withUploadsFor(way, given) : given;
}

/** Asks the target in its own words, with the proofs it gave. */
function ask(deps: GatewayDeps, context: CallContext, straight: TargetRoute, held: Call): Promise<Upstream> {
  const { call, losses } = adapted(held, straight.kind);
  const way = losses.length > 0 ? { ...straight, losses } : straight;
  const proven = withProofs(deps, context, way, call, context.maker ?? '');
  if (proven instanceof Promise) return proven.then((one) => askInPieces(deps, context, way, one));
  return askInPieces(deps, context, way, proven);
}

function askInPieces(deps: GatewayDeps, context: CallContext, way: TargetRoute, call: Call): Promise<Upstream> {
  const calls = inPieces(call, way, way.dialect.name === context.dialect.name);
  const [only] = calls;
  if (only && calls.length === 1) return begin(deps, context, way, only, context.cancellation);
  return askAll(deps, context, way, calls);
}

async function askAll(
  deps: GatewayDeps,
  context: CallContext,
  way: TargetRoute,
  calls: readonly Call[],
): Promise<Upstream> {
  const branches = new Cancellation(context.cancellation);
  context.cancellation.add(branches);
  context.sendings = sharesInput(calls) ? calls.length : 1;
  try {
    return joinPieces(calls, await beginAll(calls, (call) => begin(deps, context, way, call, branches)), context.meter);
  } catch (thrown) {
    branches.cancel();
    throw thrown;
  }
}

/** Choices of one prompt are asked for with the very same messages. */
function sharesInput([first, ...others]: readonly Call[]): boolean {
  return first?.kind === 'chat' && others.every((one) => one.kind === 'chat' && one.messages === first.messages);
}

/** How many of a call's pieces are under way at once, where each comes back whole. */
const PIECES_AT_ONCE = 8;

/** Streams begin together, since they are read together; what comes whole is asked for a few at a time. */
async function beginAll(calls: readonly Call[], beginOne: (call: Call) => Promise<Upstream>): Promise<Upstream[]> {
  if (calls[0]?.stream) return Promise.all(calls.map(beginOne));
  const upstreams: Upstream[] = [];
  const left = calls.entries();
  const work = async () => {
    for (const [index, call] of left) upstreams[index] = await beginOne(call);
  };
  await Promise.all(Array.from({ length: PIECES_AT_ONCE }, work));
  return upstreams;
}

/** Sends one upstream call and waits until it has begun to answer. */
async function begin(
  deps: GatewayDeps,
  context: CallContext,
  way: TargetRoute,
  call: Call,
  cancellation: Cancellation,
): Promise<Upstream> {
  const same = way.dialect.name === context.dialect.name && !isReworded(call, way);
  const made = outgoingFor(deps, context, way, call);
  const outgoing = made instanceof Promise ? await made : made;
  const task = way.provider.tasks?.[way.dialect.name];
  if (task) Object.assign(outgoing.headers, task.headers);
  context.sent = outgoing.headers;
  const limits = deps.settings.limits;
  const exchange = await deps.transport.send(outgoing, limits, context.startedMs + limits.wholeMs, cancellation);
  if (exchange.status >= 300) {
    const refusal = way.dialect.readError(exchange.status, exchange.headers, await errorBody(exchange));
    throw way.dialect.name === context.dialect.name ? refusal : errorInCallersWords(refusal, context.dialect.name);
  }
  const contentType = exchange.header('content-type') ?? '';
  const reader =
    call.kind === 'speech' && context.call.kind === 'chat'
      ? spokenReply(readerFor(way, call, contentType), call)
      : readerFor(way, call, contentType);
  if (task) return inOne(reader, await lastWord(deps, context, way, task, exchange, cancellation), same);
  if (call.stream) return peek(exchange, reader, same, contentType, deps.settings.maxReplyBytes);
  const reading = exchange.readAll(deps.settings.maxReplyBytes);
  const body = reading instanceof Promise ? await reading : reading;
  context.load.count(body.length);
  return inOne(reader, body, same);
}

/** The provider is asked for something else than the client reads: calls of functions, where the client's tools take free text. */
function isReworded(call: Call, { quirks }: TargetRoute): boolean {
  return (
    call.kind === 'chat' &&
    call.tools.length > 0 &&
    quirks.freeTextTools === 'function' &&
    call.tools.some(({ type }) => type === 'custom')
  );
}

/** What comes of work that the provider has taken on. */
function lastWord(
  deps: GatewayDeps,
  context: CallContext,
  { provider, target }: TargetRoute,
  task: TaskForm,
  submitted: Exchange,
  cancellation: Cancellation,
): Promise<Uint8Array> {
  const { limits, maxReplyBytes } = deps.settings;
  const deadlineMs = context.startedMs + limits.wholeMs;
  return followTask(submitted, {
    next: (answer) => task.next(target, answer),
    async send(outgoing) {
      await provider.authorize(outgoing, target, deps.signing);
      return deps.transport.send(outgoing, limits, deadlineMs, cancellation);
    },
    maxBytes: maxReplyBytes,
    deadlineMs,
    cancellation,
  });
}

/** Reads the answer in its dialect, through the host's own envelope where it has one. */
function readerFor({ provider, dialect, quirks }: TargetRoute, call: Call, contentType: string): Reader {
  const framing = provider.framings?.[dialect.name];
  if (!framing?.holds(contentType)) return boundedReader(dialect.reader(call, contentType, quirks), call);
  return boundedReader(readThrough(framing.open(), dialect.reader(call, framing.inner, quirks)), call);
}

/** What came of a refusal's body: its status counts, whether or not the words arrive. */
async function errorBody(exchange: Exchange): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await exchange.read(); chunk && size < MAX_ERROR_BYTES; chunk = await exchange.read()) {
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch {
    // It broke off: what came before is all there is.
  }
  exchange.cancel();
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES);
}

/** Reads until the first frame that means something: an error there still leaves every other target to try. */
async function peek(
  exchange: Exchange,
  reader: Reader,
  same: boolean,
  contentType: string,
  maxBytes: number,
): Promise<Upstream> {
  let first: Frame[] = [];
  let ended = false;
  let hasMeaning = false;
  let readBytes = 0;
  let emptyBytes = 0;
  while (!ended && !hasMeaning) {
    const chunk = await exchange.read();
    ended = chunk === undefined;
    const frames = chunk ? reader.read(chunk) : reader.end();
    for (const frame of frames) {
      if (frame.events.length > 0) hasMeaning = true;
      else emptyBytes += frame.bytes.length;
    }
    first = first.length > 0 ? first.concat(frames) : frames;
    readBytes += chunk?.length ?? 0;
    if (!hasMeaning && !ended && (readBytes > maxBytes || emptyBytes > MAX_EMPTY_BYTES)) {
      exchange.cancel();
      throw new GatewayError('upstream_failed', 'The upstream sent too much that meant nothing before its answer.');
    }
  }
  throwFirstError(exchange, first);
  let pending: readonly Frame[] | undefined = first;
  const framesOf = (chunk: Uint8Array | undefined): readonly Frame[] => {
    if (chunk) return reader.read(chunk);
    ended = true;
    return reader.end();
  };
  return {
    same,
    contentType: reader.contentType ?? contentType,
    next() {
      if (!pending) return ended ? Promise.resolve(undefined) : exchange.read().then(framesOf);
      const frames = pending;
      pending = undefined;
      return Promise.resolve(frames);
    },
    pour(taker) {
      taker.frames(first);
      if (!ended) exchange.pour(framesTo(taker, reader));
      return exchange;
    },
  };
}

/** What the bytes mean goes on to `taker`; a failure of our own, at their end too, is told as one of the reply's. */
function framesTo(taker: FrameTaker, reader: Reader): ByteTaker {
  return {
    bytes(bytes) {
      try {
        taker.frames(reader.read(bytes));
      } catch (thrown) {
        taker.failed(asGatewayError(thrown));
      }
    },
    end() {
      try {
        taker.frames(reader.end());
      } catch (thrown) {
        taker.failed(asGatewayError(thrown));
      }
    },
    failed: (failure) => taker.failed(failure),
  };
}

/** A reply that is all there. */
function inOne(reader: Reader, body: Uint8Array, same: boolean): Upstream {
  const frames = reader.read(body);
  for (const frame of reader.end()) frames.push(frame);
  // Nothing of it has been delivered: an error anywhere in it leaves every other target to try.
  for (const frame of frames) for (const event of frame.events) if (event.type === 'error') throw event.error;
  return new WholeUpstream(frames, same);
}

/** An error before anything usable is a failed attempt, not a reply that broke off. */
function throwFirstError(exchange: Exchange, frames: readonly Frame[]): void {
  for (const frame of frames) {
    for (const event of frame.events) {
      if (event.type === 'error') {
        exchange.cancel();
        throw event.error;
      }
      if (event.type === 'part-delta' || event.type === 'choice-end') return;
    }
  }
}
