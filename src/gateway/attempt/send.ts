/**
 * One attempt at one target, from the admitted call to the start of its reply:
 *
 *   routeTo         provider, address, format, quirks
 *   runSteps        what some calls need first (`prepare/steps.ts`)
 *   buildRequest    the client's own bytes or a translation, adjusted by quirks; headers; signed
 *   transport.send  connects, sends, waits for the answer's head
 *   read-reply.ts   a complete non-streaming reply, or a stream up to its first frame with content
 *
 * What throws here is an error of this target: `attempt.ts` decides whether another is tried.
 */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { newId } from '../../canonical/id.ts';
import type { ModelTarget } from '../../catalog/catalog.ts';
import type { Dialect, LateBody, Written } from '../../dialects/dialect.ts';
import { errorInCallerNames, inCallerNames } from '../../dialects/shared/caller-names.ts';
import { patchMembers } from '../../dialects/wire/json.ts';
import { type Form, formType, streamForm } from '../../dialects/wire/multipart.ts';
import type { Outgoing } from '../../providers/outgoing.ts';
import type { Cancellation } from '../../transport/cancellation.ts';
import type { Exchange } from '../../transport/exchange.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { finishTask } from '../prepare/follow-task.ts';
import { sendPieces } from '../prepare/pieces.ts';
import { deliverImages } from '../prepare/reply-images.ts';
import { expectsReasoning, ownSignatures, runSteps, TargetCall } from '../prepare/steps.ts';
import { routeTo, type TargetRoute, withCredential } from '../target-route.ts';
import { openReader, passesBytes, readPlain, readStart, readStream, readWhole, refusalOf } from './read-reply.ts';
import type { Upstream } from './upstream.ts';

export function sendTo(
  deps: GatewayDeps,
  context: CallContext,
  choice: ModelTarget,
  credential: string | undefined,
): Promise<Upstream> {
  const usual = routeTo(deps, context.call, context.dialect, choice, context.model);
  const route = choice.credentials.length > 1 ? withCredential(usual, credential) : usual;
  context.target = choice;
  context.upstreamDialect = route.dialect.name;
  context.warnings = [];
  context.skippedEvents = 0;
  context.sendings = 1;
  context.signatureOwner = route.signatureOwner;
  if (context.call.kind === 'chat' && context.call.thread) context.call.thread.owner = context.signatureOwner;
  const prepared = runSteps(new TargetCall(deps, context, route));
  return prepared instanceof Promise ? prepared.then(sendPrepared) : sendPrepared(prepared);
}

function sendPrepared(prepared: TargetCall): Promise<Upstream> {
  const { context, call, pieces, route } = prepared;
  context.meter.thinks = expectsReasoning(call, route);
  const starting = pieces ? sendInPieces(prepared, pieces) : sendOne(prepared, call, context.cancellation);
  return context.model.kind === 'image' ? withImages(prepared, starting) : starting;
}

function sendInPieces(prepared: TargetCall, pieces: readonly Call[]): Promise<Upstream> {
  return sendPieces(prepared.context, pieces, (piece, cancellation) => sendOne(prepared, piece, cancellation));
}

async function withImages({ deps, context }: TargetCall, starting: Promise<Upstream>): Promise<Upstream> {
  return deliverImages(deps, await starting, context.call);
}

/** Sends one request and waits until its reply has started. */
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
  const task = route.provider.tasks?.[route.dialect.name];
  if (call.stream && !task) return startStream(prepared, call, exchange, contentType);
  let body: Uint8Array;
  if (task) body = await finishTask(deps, context, route, task, exchange, cancellation);
  else {
    exchange.answered();
    const reading = exchange.readAll(maxReplyBytes);
    body = reading instanceof Promise ? await reading : reading;
    context.load.count(body.length);
    const plain = readPlain(prepared, call, contentType, body);
    if (plain) return plain;
  }
  return readWhole(openReader(prepared, call, contentType), body, passesBytes(prepared, call));
}

function startStream(prepared: TargetCall, call: Call, exchange: Exchange, contentType: string): Promise<Upstream> {
  const { deps, context } = prepared;
  const { maxReplyBytes } = deps.settings;
  const reader = openReader(prepared, call, contentType);
  const passes = passesBytes(prepared, call);
  if (context.model.continuation !== 'buffer') return readStart(exchange, reader, passes, contentType, maxReplyBytes);
  const { attempt, load } = context;
  return readStream(exchange, reader, passes, maxReplyBytes, { load, began: () => attempt?.began() });
}

/** A promise only where encoding or signing takes a while. Throws `lossy_translation` where the caller wants no loss. */
export function buildRequest(prepared: TargetCall, call: Call): Outgoing | Promise<Outgoing> {
  const { deps, context, route, isSame } = prepared;
  const { provider, target, dialect } = route;
  const { body, form, late, warnings } = isOwn(prepared, call)
    ? bodyFor(call, route, context.dialect)
    : translated(ownSignatures(call, context.signatureOwner ?? ''), route);
  context.warnings = allLosses(prepared, call, warnings);
  if (context.strict && context.warnings.length > 0) {
    const sentence = `The model cannot express the whole request: ${context.warnings.join(' ')}`;
    throw new GatewayError('lossy_translation', sentence);
  }
  if (context.requestedRouting?.wishes?.requireParameters && context.warnings.length > 0) {
    const sentence = `No provider of the model takes the whole request (\`provider.require_parameters\`): ${context.warnings.join(' ')}`;
    throw new GatewayError('invalid_request', sentence, { param: 'provider.require_parameters', retryable: true });
  }
  const headers: { [name: string]: string } = {};
  if (isSame) for (const name in call.headers) headers[name] = call.headers[name]!;
  headers['content-type'] = 'application/json';
  headers['user-agent'] = 'modelport';
  headers['accept-encoding'] = 'identity';
  const task = provider.tasks?.[dialect.name];
  if (task) Object.assign(headers, task.headers);
  const request: Outgoing = { method: 'POST', url: provider.url(target, dialect.name, call), headers, body };
  if (form) putForm(request, form);
  if (late) return encodedLate(prepared, request, late);
  const signing = provider.authorize(request, target, deps.signing);
  return signing ? whenSigned(request, signing) : request;
}

async function whenSigned(request: Outgoing, signing: Promise<void>): Promise<Outgoing> {
  await signing;
  return request;
}

/** Whether the client's own bytes are sent. They are not where a step has replaced the call, or has changed its messages. */
function isOwn({ context, isSame }: TargetCall, call: Call): boolean {
  return isSame && call === context.call && !call.origin.foreign && !(call.kind === 'chat' && call.isEdited);
}

/** What the reading of the request, the steps and the writing had to leave out. */
function allLosses({ losses }: TargetCall, { origin }: Call, warnings: readonly string[]): readonly string[] {
  const { dropped = NOTHING } = origin;
  return dropped.length > 0 || losses.length > 0 ? [...dropped, ...losses, ...warnings] : warnings;
}

const NOTHING: readonly string[] = [];

async function encodedLate({ deps, route }: TargetCall, request: Outgoing, late: LateBody): Promise<Outgoing> {
  request.body = await late.encodeInPieces();
  await route.provider.authorize(request, route.target, deps.signing);
  return request;
}

/** The boundary is random: an uploaded file that contained it could add fields without a price. */
function putForm(request: Outgoing, form: Form): void {
  const boundary = newId('modelport-form-');
  request.headers['content-type'] = formType(boundary);
  request.stream = streamForm(form, boundary);
}

/** `own`: the client's format, where the client's own body is sent. */
function bodyFor(call: Call, { provider, target, dialect, quirks }: TargetRoute, own: Dialect | undefined): Written {
  const made = own ? own.passCall(call, target.model, quirks) : dialect.writeCall(call, target.model, quirks);
  if (!provider.members || made.form) return made;
  const members = provider.members(target, dialect.name, call);
  if (!made.late) return { ...made, body: patchMembers(made.body, members) };
  for (const [name, value] of Object.entries(members)) made.late.set(name, value);
  return made;
}

/** The call in the target's format. Warnings and errors use the member names of the caller's format. */
function translated(call: Call, route: TargetRoute): Written {
  const { dialect } = call.origin;
  try {
    const written = bodyFor(call, route, undefined);
    if (written.warnings.length === 0) return written;
    return { ...written, warnings: written.warnings.map((warning) => inCallerNames(warning, dialect)) };
  } catch (thrown) {
    throw errorInCallerNames(thrown, dialect);
  }
}
