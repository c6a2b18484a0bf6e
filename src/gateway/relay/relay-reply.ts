/** A non-streaming response: written, settled, sent (`serve.ts` has the order). And the headers of every response to a call. */
import { GatewayError } from '../../canonical/errors.ts';
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { RateLimits } from '../../canonical/rate-limits.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Dialect, Frame, Writer } from '../../dialects/dialect.ts';
import { openaiLimitHeaders } from '../../dialects/shared/rate-limit-headers.ts';
import { replaceMember } from '../../dialects/wire/json.ts';
import type { Answer } from '../../http1/answer.ts';
import type { Client } from '../../http1/client-request.ts';
import { isBeyondDoubt } from '../../ledger/doubt.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import { PlainUpstream } from '../attempt/read-reply.ts';
import { allFrames, errorIn, hasReasoning, hasUsage, joinBytes, type Upstream } from '../attempt/upstream.ts';
import { type CallContext, type Conclusion, collectReasoning, conclude } from '../call-context.ts';
import { CLIENT_GONE } from '../client-gone.ts';
import type { GatewayDeps, GatewaySettings } from '../gateway-deps.ts';
import { concludeAndSave } from '../prepare/save-conversation.ts';
import { publicError } from '../redaction.ts';
import { mayBeDisputed } from '../settle/figures.ts';
import { withOwnFigures } from '../settle/own-figures.ts';

/** A reply in the client's format, which may be sent once the call is settled. */
export interface WrittenReply {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Absent for a plain reply, of which nothing is kept. */
  readonly writer?: Writer;
  readonly frames: readonly Frame[];
  /** What it costs, where that is known already. */
  readonly cost?: Money;
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
  const plain = upstream instanceof PlainUpstream ? writePlain(context, upstream) : undefined;
  if (plain) return plain;
  const writer = context.dialect.writer(context.call);
  const frames = allFrames(upstream);
  if (frames instanceof Promise || (writer.bill && !frames.some(hasUsage)))
    return writeLater(deps, context, writer, frames, upstream.same);
  context.call.completedSeconds = Math.floor(deps.now() / 1000);
  return write(deps, context, writer, frames, upstream.same);
}

/** A plain reply, with the client's name of the model. `undefined`: somebody needs its text. */
function writePlain(context: CallContext, { body, plain }: PlainUpstream): WrittenReply | undefined {
  const { call, model, meter } = context;
  if (call.kind !== 'chat' || call.countsAlone || call.thread || model.kind !== 'chat') return undefined;
  if (context.extras) return undefined;
  const cost = charge(plain.usage, model.price);
  // Where the report may be disputed the text is counted.
  if (!isBeyondDoubt(cost, context.covered)) return undefined;
  meter.seePlain(plain.usage, plain.finish);
  context.firstByteMs = performance.now() - context.startedMs;
  const named = plain.model === call.model ? body : replaceMember(body, 'model', call.model);
  return { body: named, contentType: 'application/json', frames: NO_FRAMES, cost };
}

const NO_FRAMES: readonly Frame[] = [];

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
  for (const frame of frames) context.meter.see(frame.events);
  context.firstByteMs = performance.now() - context.startedMs;
  addReplyWarnings(context, writer);
  return { body, contentType: writer.contentType, writer, frames };
}

/** Settles the call, as aborted where its client does not wait any more. Resolves with what it costs. */
export function settleReply(
  deps: GatewayDeps,
  context: CallContext,
  { writer, frames, cost }: WrittenReply,
  { hasLeft }: Client,
): Promise<Money> {
  const conclusion: Conclusion = hasLeft ? CLIENT_GONE : { outcome: 'ok', status: 200, cost };
  const { call, collector } = context;
  const isStored = call.kind === 'chat' && call.thread?.replyId !== undefined;
  // Of most calls nothing is kept.
  if (hasLeft || !writer || (!isStored && !collector)) return conclude(deps, context, conclusion);
  return concludeAndSave(deps, context, writer, conclusion, isStored && isAnyDoubted(context, frames));
}

const isAnyDoubted = (context: CallContext, frames: readonly Frame[]) =>
  frames.some((frame) => mayBeDisputed(context, frame));

/** What the client is sent. */
export function replyOf({ settings }: GatewayDeps, context: CallContext, reply: WrittenReply, cost: Money): Answer {
  const { body } = reply;
  const headers = replyHeaders(settings, context, reply);
  headers['x-modelport-cost'] = writeMoney(cost);
  return { status: 200, headers, body: context.disputed ? withOwnFigures(body, context.disputed) : body };
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

type HeaderValues = { [name: string]: string };

export function replyHeaders(
  { showProvider }: Pick<GatewaySettings, 'showProvider'>,
  context: CallContext,
  { contentType }: Pick<Writer, 'contentType'>,
): HeaderValues {
  const headers: HeaderValues = {
    'content-type': contentType,
    'x-request-id': context.id,
    'x-modelport-attempts': String(context.attempts),
  };
  if (showProvider && context.target) headers['x-modelport-provider'] = providerName(context.target.provider);
  if (context.cache) headers['x-modelport-cache'] = context.cache.status;
  const { limits } = context.pace;
  if (limits) Object.assign(headers, limitHeaders(context.dialect, limits, context.at));
  if (context.warnings.length > 0) headers['x-modelport-warnings'] = warningsHeader(context.warnings);
  return headers;
}

/** The name of a provider with `?` for what a header cannot contain. */
export const providerName = (name: string): string => name.replace(/[^\x20-\x7e\xa1-\xff]/gu, '?');

/** The attempts and the provider of a stream whose headers left before it answered, as comments. */
export function attemptsComment(
  { showProvider }: Pick<GatewaySettings, 'showProvider'>,
  { attempts, target }: CallContext,
): string {
  const provider = showProvider && target ? `: modelport-provider: ${providerName(target.provider)}\n` : '';
  return `: modelport-attempts: ${attempts}\n${provider}\n`;
}

/** What a stream has cost, which its headers could not say. */
export const costComment = (cost: Money): string => `: {"cost":"${writeMoney(cost)}"}\n\n`;

/** What is left of the caller's limits, under the header names of the client's format. */
export function limitHeaders({ limitHeaders: own }: Dialect, limits: RateLimits, now: number): HeaderValues {
  return (own ?? openaiLimitHeaders)(limits, now);
}

/** Adds to the warnings of the request those of its reply. */
export function addReplyWarnings(context: CallContext, { warnings }: Writer): void {
  if (warnings.length > 0) context.warnings = [...context.warnings, ...warnings];
  if (context.skippedEvents > 0) context.warnings = [...context.warnings, skipWarning(context)];
}

/** What is missing from the reply because it could not be read. */
export function skipWarning({ skippedEvents: count }: CallContext): string {
  const events = count === 1 ? 'One event' : `${count} events`;
  return `${events} of the provider's stream could not be read: some of the text is missing.`;
}

const MAX_WARNINGS_LENGTH = 4000;

/** What a translation dropped or approximated, as the value of `x-modelport-warnings`: printable ASCII of limited length. */
export function warningsHeader(warnings: readonly string[]): string {
  return warnings
    .join(' ')
    .replaceAll('’', "'")
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_WARNINGS_LENGTH);
}
