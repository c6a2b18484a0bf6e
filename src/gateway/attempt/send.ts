/**
 * One attempt at one target, from the admitted call to an answer that has begun:
 *
 *   routeTo         provider, address, format, quirks
 *   runSteps        what some calls need first (`prepare/steps.ts`)
 *   buildRequest    the client's own bytes or a translation, adjusted by quirks; headers; signed
 *   transport.send  connects, sends, waits for the answer's head
 *   read-reply.ts   a non-streaming answer whole, a stream up to its first frame with content
 *
 * What throws here is an error of this target: `attempt.ts` decides whether another is tried.
 */
import type { Call } from '../../canonical/call.ts';
import type { ModelTarget } from '../../catalog/catalog.ts';
import type { Cancellation } from '../../transport/cancellation.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { finishTask } from '../prepare/follow-task.ts';
import { sendPieces } from '../prepare/pieces.ts';
import { deliverImages } from '../prepare/reply-images.ts';
import { expectsReasoning, signatureOwnerOf } from '../prepare/signatures.ts';
import { runSteps, TargetCall } from '../prepare/steps.ts';
import { routeTo, withCredential } from '../target-route.ts';
import { openReader, passesBytes, readStart, readStream, readWhole, refusalOf } from './read-reply.ts';
import { buildRequest } from './request.ts';
import type { Upstream } from './upstream.ts';

export function sendTo(
  deps: GatewayDeps,
  context: CallContext,
  choice: ModelTarget,
  credential: string | undefined,
): Promise<Upstream> {
  const route = withCredential(routeTo(deps, context.call, context.dialect, choice, context.model), choice, credential);
  context.target = choice;
  context.upstreamDialect = route.dialect.name;
  context.warnings = [];
  context.skippedEvents = 0;
  context.sendings = 1;
  context.signatureOwner = signatureOwnerOf(route.dialect, choice.provider);
  if (context.call.kind === 'chat' && context.call.thread) context.call.thread.owner = context.signatureOwner;
  const prepared = runSteps(new TargetCall(deps, context, route));
  return prepared instanceof Promise ? prepared.then(sendPrepared) : sendPrepared(prepared);
}

function sendPrepared(prepared: TargetCall): Promise<Upstream> {
  const { deps, context, call, pieces, route } = prepared;
  context.meter.thinks = expectsReasoning(call, route);
  const starting = pieces
    ? sendPieces(context, pieces, (piece, cancellation) => sendOne(prepared, piece, cancellation))
    : sendOne(prepared, call, context.cancellation);
  if (context.model.kind !== 'image') return starting;
  return starting.then((upstream) => deliverImages(deps, upstream, context.call));
}

/** Sends one request and waits until its answer has begun. */
async function sendOne(prepared: TargetCall, call: Call, cancellation: Cancellation): Promise<Upstream> {
  const { deps, context, route } = prepared;
  const { limits, maxReplyBytes } = deps.settings;
  const building = buildRequest(prepared, call);
  const request = building instanceof Promise ? await building : building;
  // After it was signed: what passes it on may change these headers.
  context.trace.span?.propagate(context.attempt, request.headers);
  context.sent = request.headers;
  const { attempt } = context;
  const answerMs = attempt?.limitMs;
  const bounded = answerMs === undefined ? limits : { ...limits, answerMs };
  const exchange = await deps.transport.send(request, bounded, context.startedMs + limits.wholeMs, cancellation);
  attempt?.saw(exchange);
  if (exchange.status >= 300) throw await refusalOf(prepared, exchange);
  const contentType = exchange.header('content-type') ?? '';
  const reader = openReader(prepared, call, contentType);
  const passes = passesBytes(prepared, call);
  const task = route.provider.tasks?.[route.dialect.name];
  if (task) return readWhole(reader, await finishTask(deps, context, route, task, exchange, cancellation), passes);
  if (call.stream && context.model.continuation === 'buffer')
    return readStream(exchange, reader, passes, maxReplyBytes, { load: context.load, began: () => attempt?.began() });
  if (call.stream) return readStart(exchange, reader, passes, contentType, maxReplyBytes);
  exchange.answered();
  const reading = exchange.readAll(maxReplyBytes);
  const body = reading instanceof Promise ? await reading : reading;
  context.load.count(body.length);
  return readWhole(reader, body, passes);
}
