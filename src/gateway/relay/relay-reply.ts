/** Sends a non-streaming response to the client, once the call is settled. */
import { GatewayError } from '../../canonical/errors.ts';
import { writeMoney } from '../../canonical/money.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialects/dialect.ts';
import type { Answer } from '../../http1/answer.ts';
import type { Client } from '../../http1/client-request.ts';
import { allFrames, errorIn, hasReasoning, hasUsage, joinBytes, type Upstream } from '../attempt/upstream.ts';
import { type CallContext, type Conclusion, collectReasoning } from '../call-context.ts';
import { CLIENT_GONE } from '../client-gone.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { concludeAndSave, isStored } from '../prepare/save-conversation.ts';
import { publicError } from '../redaction.ts';
import { mayBeDisputed } from '../settle/doubt.ts';
import { withOwnFigures } from '../settle/own-figures.ts';
import { addReplyWarnings, replyHeaders } from './reply-headers.ts';

/** `starting` is the search for a target that answers; `client` tells whether the client still waits. */
export async function relayReply(
  deps: GatewayDeps,
  context: CallContext,
  starting: Promise<Upstream>,
  client: Client,
): Promise<Answer> {
  const upstream = await starting;
  const writer = context.dialect.writer(context.call);
  const arriving = allFrames(upstream);
  const frames = arriving instanceof Promise ? await arriving : arriving;
  context.call.completedSeconds = Math.floor(deps.now() / 1000);
  if (writer.bill && !frames.some(hasUsage)) writer.bill(await usageOf(deps, context, frames));
  const body = writeBody(deps, context, writer, frames, upstream.same);
  // The meter counts only what can be delivered: a reply that cannot be written costs nothing.
  for (const frame of frames) context.meter.see(countedEvents(context, frame));
  context.firstByteMs = performance.now() - context.startedMs;
  addReplyWarnings(context, writer);
  const conclusion: Conclusion = client.hasLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 };
  const isDoubted = isStored(context) && frames.some((frame) => mayBeDisputed(context, frame));
  const cost = await concludeAndSave(deps, context, client.hasLeft ? undefined : writer, conclusion, isDoubted);
  const headers = replyHeaders(deps.settings, context, writer);
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
