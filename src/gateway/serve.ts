/** One call from the edge to its answer: authenticate, read, admit, attempt, relay, settle. */
import type { Caller } from '../access/access.ts';
import type { Admitted } from '../access/limits.ts';
import type { Load } from '../access/work-bounds.ts';
import type { ChatCall } from '../canonical/call.ts';
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { PlacedSet } from '../canonical/placed-set.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Answer } from '../http1/answer.ts';
import type { Client } from '../http1/client-request.ts';
import type { Capture } from '../telemetry/captures/capture.ts';
import { CallTrace } from '../telemetry/events.ts';
import { admission, begin, boundCall } from './admit/admit.ts';
import { explain } from './admit/explain.ts';
import { answered } from './attempt/attempt.ts';
import { type CallContext, conclude, type PendingCall } from './call-context.ts';
import { captureOf } from './capture-of.ts';
import { abortCall, CLIENT_GONE_STATUS, limitDrain } from './client-gone.ts';
import type { Gateway, Incoming } from './gateway.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { loadConversation } from './prepare/load-conversation.ts';
import { admitCached } from './prepare/reply-cache.ts';
import { readRequest, takeWishes } from './prepare/take-wishes.ts';
import { IdleStreams } from './relay/idle-streams.ts';
import { limitHeaders, providerName, replyOf, settleReply, writeReply } from './relay/relay-reply.ts';
import { StreamRelay } from './relay/relay-stream.ts';

export function createGateway(deps: GatewayDeps): Gateway {
  const underWay = new PlacedSet<CallContext>();
  /** Calls that are not admitted yet. */
  let entering = 0;
  /** The drain time of a stop is over: calls that are admitted after it are cancelled as well. */
  let isDrained = false;
  const idleStreams = new IdleStreams(deps.settings.keepAliveMs);

  async function serve(dialect: Dialect, incoming: Incoming): Promise<Answer> {
    const trace = new CallTrace(deps.events, incoming.requestId, deps.now(), dialect.name);
    const { at, startedMs } = trace;
    let context: CallContext | undefined;
    let release: (() => void) | undefined;
    let load: Load | undefined;
    let pace: Admitted | undefined;
    let capture: Capture | undefined;
    entering++;
    try {
      // Without a lease the database does not answer, and keys that are not cached could not be looked up.
      deps.ledger.requireLease();
      const known = deps.access.authenticate(incoming, at);
      const caller = known instanceof Promise ? await known : known;
      trace.sentBy(caller);
      load = deps.access.enter(caller, incoming.announcedBytes ?? 0);
      const arriving = incoming.read(load);
      const request = arriving instanceof Promise ? await arriving : arriving;
      ({ release } = request);
      const { call: original, models } = readRequest(dialect, request);
      const { headers } = request;
      const wished = takeWishes(original, models, request);
      const read = wished?.call ?? original;
      trace.asks(read, headers, request.hasOwnHeaders !== false);
      const call = read.kind === 'chat' && read.thread ? await recalled(dialect, read, caller, at) : read;
      boundCall(call);
      call.receivedSeconds = Math.floor(at / 1000);
      // Member by member: copying an object was measured to cost as much as reading the request.
      const pending: PendingCall = {
        id: incoming.requestId,
        at,
        startedMs,
        dialect,
        caller,
        trace,
        call,
        strict: request.hasOwnHeaders !== false && headers.get('x-modelport-strict') === 'true',
        release,
        load,
        requestedRouting: wished?.requestedRouting,
        headers,
      };
      if (caller.row.cacheSeconds === undefined) {
        const asked = admission(deps, pending);
        const admitted = asked instanceof Promise ? await asked : asked;
        ({ pace } = admitted);
        context = begin(admitted, await deps.ledger.hold(admitted.request), underWay);
      } else context = await admitCached(deps, pending, request, underWay);
      entered(context);
      const mode = caller.row.capture ?? context.model.capture;
      if (mode !== undefined) capture = captureOf(deps, context, mode, request.body);
      if (context.call.stream) return captured(capture, await answerStream(context, incoming.client));
      watchClient(context, incoming.client);
      const upstream = await answered(deps, context);
      const writing = writeReply(deps, context, upstream);
      const reply = writing instanceof Promise ? await writing : writing;
      const cost = await settleReply(deps, context, reply, incoming.client);
      return captured(capture, replyOf(deps, context, reply, cost));
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (!context) {
        entering--;
        pace?.end(0);
        release?.();
        load?.end();
        trace.refused(error);
      } else await fail(context, error, incoming.client.hasLeft);
      return captured(capture, refusal(dialect, incoming.requestId, error, context));
    }
  }

  function entered({ cancellation }: CallContext): void {
    entering--;
    if (isDrained) cancellation.cancel();
  }

  /** The error in the client's format. */
  function refusal(dialect: Dialect, id: string, error: GatewayError, context: CallContext | undefined): Answer {
    const reply = dialect.writeError(error, id);
    if (context) {
      reply.headers['x-modelport-attempts'] = String(context.attempts);
      const { target } = context;
      if (target && deps.settings.showProvider) reply.headers['x-modelport-provider'] = providerName(target.provider);
    }
    const limits = error.rateLimits ?? context?.pace.limits;
    if (limits) Object.assign(reply.headers, limitHeaders(dialect, limits, deps.now()));
    return reply;
  }

  const recalled = (dialect: Dialect, call: ChatCall, caller: Caller, at: number) =>
    loadConversation(deps.memory, deps.settings.maxRequestBytes, dialect, call, caller, at);

  async function answerStream(context: CallContext, client: Client): Promise<Answer> {
    let relay: StreamRelay | undefined;
    whenGone(client, () => (relay ? relay.cancel() : leave(context)));
    const starting = answered(deps, context);
    // Bare audio cannot report an error in the stream: its headers wait until a target has answered.
    const begun = context.call.mute ? await starting : await within(starting, deps.settings.keepAliveMs);
    relay = new StreamRelay(deps, context, begun ?? starting, idleStreams);
    const streamed = relay.answer();
    // The server will not read the stream: the relay itself reads the upstream to its end, if the model is configured with `drain`.
    if (client.hasLeft) relay.cancel();
    return streamed;
  }

  function watchClient(context: CallContext, client: Client): void {
    whenGone(client, () => leave(context));
  }

  /** The client has disconnected before its response started. */
  function leave(context: CallContext): void {
    if (context.model.onDisconnect === 'abort') abortCall(deps, context);
    else limitDrain(deps, context);
  }

  /** Settles a call that failed before its response started. */
  async function fail(context: CallContext, error: GatewayError, gone: boolean): Promise<void> {
    context.cancellation.cancel();
    const refused = error.code === 'upstream_refused' || error.status < 500;
    const outcome = gone ? 'aborted' : refused ? 'refused' : 'failed';
    try {
      await conclude(deps, context, { outcome, status: gone ? CLIENT_GONE_STATUS : error.status, error });
    } catch (thrown) {
      // The client gets the first error; the ledger retries the settlement.
      deps.reportError('A failed call could not be settled.', thrown);
    }
  }

  async function drain(boundMs: number): Promise<void> {
    const end = performance.now() + boundMs;
    while (underWay.size + entering > 0 && performance.now() < end) await Bun.sleep(20);
    isDrained = true;
    for (const context of underWay.all()) context.cancellation.cancel();
    while (underWay.size > 0 && performance.now() < end + SETTLING_MS) await Bun.sleep(20);
    // Calls whose client neither reads nor leaves are settled too.
    const error = new GatewayError('upstream_failed', 'The gateway is stopping.');
    const left = underWay.all().map((context) => conclude(deps, context, { outcome: 'broken', status: 200, error }));
    for (const settled of await Promise.allSettled(left)) {
      if (settled.status === 'rejected')
        deps.reportError('A call could not be settled before the stop.', settled.reason);
    }
    await deps.ledger.flush();
  }

  return {
    serve,
    explain: (dialect, caller, request) => explain(deps, dialect, caller, request),
    drain,
    get active() {
      return underWay.size + entering;
    },
  };
}

/** The answer, of which what is sent is captured. */
function captured(capture: Capture | undefined, answer: Answer): Answer {
  return capture ? capture.answer(answer) : answer;
}

function whenGone(client: Client, gone: () => void): void {
  if (client.hasLeft) gone();
  else client.onLeave = gone;
}

/** How long cancelled calls may take to settle. */
const SETTLING_MS = 1000;

/** The promise's value, or `undefined` where it takes longer than this. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
