/** A non-streaming response: written, settled, sent. `serve.ts` has the order. */
import { GatewayError } from '../../canonical/errors.ts';
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialects/dialect.ts';
import type { Answer } from '../../http1/answer.ts';
import type { Client } from '../../http1/client-request.ts';
import { allFrames, errorIn, hasReasoning, hasUsage, joinBytes, type Upstream } from '../attempt/upstream.ts';
import { type CallContext, type Conclusion, collectReasoning, conclude } from '../call-context.ts';
import { CLIENT_GONE } from '../client-gone.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { concludeAndSave } from '../prepare/save-conversation.ts';
import { publicError } from '../redaction.ts';
import { mayBeDisputed } from '../settle/doubt.ts';
import { withOwnFigures } from '../settle/own-figures.ts';
import { addReplyWarnings, replyHeaders } from './reply-headers.ts';

/** A reply in the client's format, which may be sent once the call is settled. */
export interface WrittenReply {
  readonly writer: Writer;
  readonly frames: readonly Frame[];
  readonly body: Uint8Array;
}

/**
 * Writes the reply, and counts it. A promise only where frames have still to arrive or the reply states what it costs. Throws where it
 * cannot be written.
 */
export function writeReply(
  deps: GatewayDeps,
  context: CallContext,
  upstream: Upstream,
): WrittenReply | Promise<WrittenReply> {
  const writer = context.dialect.writer(context.call);
  const frames = allFrames(upstream);
  if (frames instanceof Promise || (writer.bill && !frames.some(hasUsage)))
    return writeLater(deps, context, writer, frames, upstream.same);
  context.call.completedSeconds = Math.floor(deps.now() / 1000);
  return write(deps, context, writer, frames, upstream.same);
}

async function writeLater(
  deps: GatewayDeps,
  context: CallContext,
  writer: Writer,
  arriving: readonly Frame[] | Promise<readonly Frame[]>,
  isSame: boolean,
): Promise<WrittenReply> {
  const frames = await arriving;
  context.call.completedSeconds = Math.floor(deps.now() / 1000);
  if (writer.bill && !frames.some(hasUsage)) writer.bill(await usageOf(deps, context, frames));
  return write(deps, context, writer, frames, isSame);
}

function write(
  deps: GatewayDeps,
  context: CallContext,
  writer: Writer,
  frames: readonly Frame[],
  isSame: boolean,
): WrittenReply {
  const body = writeBody(deps, context, writer, frames, isSame);
  // The meter counts only what can be delivered: a reply that cannot be written costs nothing.
  for (const frame of frames) context.meter.see(countedEvents(context, frame));
  context.firstByteMs = performance.now() - context.startedMs;
  addReplyWarnings(context, writer);
  return { writer, frames, body };
}

/** Settles the call, as aborted where its client does not wait any more. Resolves with what it costs. */
export function settleReply(
  deps: GatewayDeps,
  context: CallContext,
  { writer, frames }: WrittenReply,
  { hasLeft }: Client,
): Promise<Money> {
  const conclusion: Conclusion = hasLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 };
  const { call, collector } = context;
  const isStored = call.kind === 'chat' && call.thread?.replyId !== undefined;
  // Of most calls nothing is kept.
  if (hasLeft || (!isStored && !collector)) return conclude(deps, context, conclusion);
  const isDoubted = isStored && frames.some((frame) => mayBeDisputed(context, frame));
  return concludeAndSave(deps, context, writer, conclusion, isDoubted);
}

/** What the client is sent. */
export function replyOf(
  { settings }: GatewayDeps,
  context: CallContext,
  { writer, body }: WrittenReply,
  cost: Money,
): Answer {
  const headers = replyHeaders(settings, context, writer);
  headers['x-modelport-cost'] = writeMoney(cost);
  return { status: 200, headers, body: context.disputed ? withOwnFigures(body, context.disputed) : body };
}

/** Of a plain reply those that decide what it costs, unless its text has to be counted as well. */
function countedEvents(context: CallContext, frame: Frame): readonly ReplyEvent[] {
  const { brief } = frame;
  const isEnough = brief && context.model.kind === 'chat' && !context.extras && !mayBeDisputed(context, frame);
  return isEnough ? brief : frame.events;
}

/** The body in the client's format. Throws the error that the reply reports, or that closes it. */
function writeBody(
  deps: GatewayDeps,
  context: CallContext,
  writer: Writer,
  frames: readonly Frame[],
  isSame: boolean,
): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const frame of frames) {
    const error = errorIn(frame);
    if (error) throw publicError(deps, context, error);
    if (context.meter.thinks || hasReasoning(frame)) collectReasoning(context, frame.events);
    const bytes = isSame ? writer.pass(frame) : writer.write(frame);
    if (bytes.length > 0) parts.push(bytes);
  }
  const ending = writeEnd(context, writer, frames);
  if (ending.length > 0) parts.push(ending);
  return joinBytes(parts);
}

/** The last bytes. Some errors found here are billed: the provider answered, and the client cannot be given the answer. */
function writeEnd(context: CallContext, writer: Writer, frames: readonly Frame[]): Uint8Array {
  try {
    return writer.end();
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.billed) for (const frame of frames) context.meter.see(frame.events);
    throw thrown;
  }
}

/** The usage of a reply that the call's own meter has not seen yet. */
function usageOf(deps: GatewayDeps, context: CallContext, frames: readonly Frame[]): Usage | Promise<Usage> {
  const meter = context.meter.anew();
  for (const frame of frames) meter.see(frame.events);
  return meter.final(deps.countTexts);
}
