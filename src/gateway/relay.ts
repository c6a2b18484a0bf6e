/** Frames to the client: whole replies and streams, each settled before its last bytes leave. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { writeMoney } from '../canonical/money.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Dialect, Frame, Writer } from '../dialects/dialect.ts';
import { openaiLimitHeaders } from '../dialects/shared/rate-limit-headers.ts';
import type { Answer, ByteSink, ByteSource } from '../http1/answer.ts';
import type { Client } from '../http1/client-request.ts';
import { charge } from '../ledger/charge.ts';
import { bearWitness, type CallContext, type Conclusion, conclude, isFinished, watch } from './call-context.ts';
import { claimsMuch } from './doubt.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { IdleStreams } from './idle-streams.ts';
import { withOwnFigures } from './own-figures.ts';
import { concludeAndKeep, isKept, remember } from './prepare/save-conversation.ts';
import { publicError } from './redaction.ts';
import { allFrames, type Flow, type FrameTaker, flowOf, type Upstream } from './upstream.ts';
import { warningsHeader } from './warnings-header.ts';
import { endOf } from './whole-ending.ts';

const NOTHING = new Uint8Array();
/** The status recorded where the client left before its answer was complete. */
export const CLIENT_GONE_STATUS = 499;

/** Answers a call that wants its reply whole; `client` says whether anybody still waits for it. */
export async function relayWhole(
  deps: GatewayDeps,
  context: CallContext,
  starting: Promise<Upstream>,
  client: Client,
): Promise<Answer> {
  const upstream = await starting;
  const writer = context.dialect.writer(context.call);
  const parts: Uint8Array[] = [];
  const coming = allFrames(upstream);
  const frames = coming instanceof Promise ? await coming : coming;
  context.call.completedSeconds = Math.floor(deps.now() / 1000);
  if (writer.bill && !frames.some(saysUsage)) writer.bill(await billedFor(deps, context, frames));
  for (const frame of frames) {
    const failure = errorIn(frame);
    if (failure) throw publicError(deps, context, failure);
    if (context.meter.thinks || isThought(frame)) bearWitness(context, frame.events);
    const bytes = upstream.same ? writer.pass(frame) : writer.write(frame);
    if (bytes.length > 0) parts.push(bytes);
  }
  const ending = endOf(context, writer, frames);
  if (ending.length > 0) parts.push(ending);
  // Metered once it is certain that it can be delivered: what fails before costs nothing.
  for (const frame of frames) context.meter.see(frame.events);
  context.firstByteMs = performance.now() - context.startedMs;
  addWarnings(context, writer);
  const conclusion: Conclusion = client.hasLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 };
  const isDoubted = isKept(context) && frames.some((frame) => claimsMuch(context, frame));
  const cost = await concludeAndKeep(deps, context, client.hasLeft ? undefined : writer, conclusion, isDoubted);
  const headers = replyHeaders(context, writer);
  headers['x-modelport-cost'] = writeMoney(cost);
  const body = join(parts);
  return { status: 200, headers, body: context.disputed ? withOwnFigures(body, context.disputed) : body };
}

/** A target that has answered, or the attempts to find one. */
type Starting = Upstream | Promise<Upstream>;

/**
 * Answers a call that wants a stream. `starting` may still be trying targets: what fails then is told inside the stream.
 * Frames go on the moment they come; a client that does not take them makes its upstream wait.
 */
export class StreamRelay implements ByteSource, FrameTaker {
  private readonly deps: GatewayDeps;
  private readonly context: CallContext;
  private readonly idleStreams: IdleStreams;
  private readonly writer: Writer;
  private readonly starting: Starting;
  private sink: ByteSink | undefined;
  /** Of an upstream that answers: whether its frames pass, and what holds them up. */
  private isSame = false;
  private flow: Flow | undefined;
  private isOpening = false;
  /** The client has not taken what it was sent last. */
  private isBehind = false;
  private clientLeft = false;
  private last: Uint8Array = NOTHING;
  /** A report has come that may be disputed: all from there on waits for the settlement, and is told with what was charged. */
  private isDoubted = false;
  private readonly heldBack: Uint8Array[] = [];
  /** The last frame, where it waits to be told what the call is billed. */
  private unbilled: Frame | undefined;
  /** The end is being written: the upstream may still say that it is over. */
  private isFinishing = false;
  /** Something has been sent since it was last looked, which was noted as `lastSentMs`. */
  private hasSent = false;
  private lastSentMs = performance.now();

  constructor(deps: GatewayDeps, context: CallContext, starting: Starting, idleStreams: IdleStreams) {
    this.deps = deps;
    this.context = context;
    this.idleStreams = idleStreams;
    this.starting = starting;
    this.writer = context.dialect.writer(context.call);
  }

  answer(): Answer {
    const headers = replyHeaders(this.context, this.writer);
    if (this.context.call.mute) headers['content-type'] = audioType(this.starting) ?? this.writer.contentType;
    headers['cache-control'] = 'no-cache';
    headers['x-accel-buffering'] = 'no';
    return { status: 200, headers, body: this };
  }

  start(sink: ByteSink): void {
    this.sink = sink;
    this.idleStreams.add(this);
    // The headers go with the first bytes, and there has been silence already.
    if (this.starting instanceof Promise) sink.write(this.writer.keepAlive());
    this.open();
  }

  /** Has the upstream's frames come, once it answers. */
  private open(): void {
    if (this.isOpening) return;
    this.isOpening = true;
    if (this.starting instanceof Promise) {
      this.starting.then(
        (upstream) => this.openFlow(upstream),
        (thrown) => this.failed(asGatewayError(thrown)),
      );
    } else this.openFlow(this.starting);
  }

  private openFlow(upstream: Upstream): void {
    this.isSame = upstream.same;
    this.flow = flowOf(upstream, this);
    if (this.isBehind) this.flow.pause();
  }

  frames(frames: readonly Frame[]): void {
    if (this.context.concluded) return;
    try {
      const isTaken = this.forward(frames);
      if (this.context.meter.complete) void this.finish();
      else if (!isTaken && !this.clientLeft) this.fallBehind();
    } catch (thrown) {
      this.failed(asGatewayError(thrown));
    }
  }

  failed(error: GatewayError): void {
    if (!this.context.concluded) void this.breakOff(error);
  }

  private fallBehind(): void {
    this.isBehind = true;
    this.flow?.pause();
  }

  resume(): void {
    this.isBehind = false;
    this.flow?.resume();
  }

  /** The client has left: the upstream is cancelled at once, or read to its end within a bound, as the model says; for its usage in any case. */
  cancel(): void {
    if (this.clientLeft || this.context.concluded) return;
    this.clientLeft = true;
    if (this.context.model.onDisconnect === 'abort' && !isFinished(this.context)) {
      this.idleStreams.delete(this);
      abandon(this.deps, this.context);
      return;
    }
    boundDrain(this.deps, this.context);
    this.resume();
    this.open();
  }

  /** Sends something harmless where nothing else has been sent for a while, and notes what the call has cost so far. */
  tick(now: number, keepAliveMs: number): void {
    if (this.context.meter.delivered) {
      const cost = charge(this.context.meter.soFar(), this.context.model.price);
      // A report that came early may claim anything: should this process die, no more than was held is charged.
      this.deps.ledger.checkpoint(this.context.hold, cost < this.context.hold.amount ? cost : this.context.hold.amount);
    }
    if (this.hasSent) {
      this.hasSent = false;
      this.lastSentMs = now;
    }
    if (this.isBehind && now > this.context.startedMs + this.deps.settings.limits.wholeMs) this.failed(notRead());
    else if (now - this.lastSentMs >= keepAliveMs && !this.context.call.mute && !this.clientLeft)
      this.send(this.writer.keepAlive());
  }

  /** Sends what the frames say; the last one's bytes are kept back. Whether the client has taken it all. */
  private forward(frames: readonly Frame[]): boolean {
    let parts: Uint8Array[] | undefined;
    let only: Uint8Array = NOTHING;
    for (const frame of frames) {
      watch(this.context, frame.events);
      const failure = errorIn(frame);
      if (failure) {
        this.send(parts ? join(parts) : only);
        throw failure;
      }
      const isLast = this.context.meter.complete;
      if (!this.isDoubted && claimsMuch(this.context, frame)) this.isDoubted = true;
      if (isLast) this.context.call.completedSeconds = Math.floor(this.deps.now() / 1000);
      if (isLast && this.writer.bill && !this.context.meter.isReported) {
        this.unbilled = frame;
        break;
      }
      const bytes = this.isSame ? this.writer.pass(frame) : this.writer.write(frame);
      if (isLast) {
        this.last = bytes;
        break;
      }
      if (bytes.length === 0) continue;
      if (this.isDoubted) {
        this.heldBack.push(bytes);
        this.context.load.count(bytes.length);
        continue;
      }
      if (parts) parts.push(bytes);
      else if (only.length > 0) parts = [only, bytes];
      else only = bytes;
    }
    return this.send(parts ? join(parts) : only);
  }

  /** Whether the client has taken it. */
  private send(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.clientLeft || !this.sink) return true;
    this.context.firstByteMs ??= performance.now() - this.context.startedMs;
    this.hasSent = true;
    return this.sink.write(bytes);
  }

  /** The last bytes wait for the settlement: a crash delivers nothing for free. */
  private async finish(): Promise<void> {
    if (this.isFinishing) return;
    this.isFinishing = true;
    try {
      const { unbilled } = this;
      if (unbilled) {
        this.writer.bill?.(await this.context.meter.final(this.deps.countTexts));
        this.last = this.isSame ? this.writer.pass(unbilled) : this.writer.write(unbilled);
      }
      addWarnings(this.context, this.writer);
      const ending = this.writer.end();
      const conclusion: Conclusion = this.clientLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 };
      await concludeAndKeep(this.deps, this.context, this.writer, conclusion, this.isDoubted);
      this.idleStreams.delete(this);
      if (!this.clientLeft) this.sink?.end(this.ending(ending));
    } catch (thrown) {
      await this.breakOff(asGatewayError(thrown));
    }
  }

  /** The last bytes: with what was held back, and with what was charged. */
  private ending(ending: Uint8Array): Uint8Array {
    if (!this.isDoubted) return ending.length > 0 ? join([this.last, ending]) : this.last;
    const bytes = join([...this.heldBack, this.last, ending]);
    return this.context.disputed ? withOwnFigures(bytes, this.context.disputed) : bytes;
  }

  /** A dead stream never looks complete: an error in the client's words, no terminator. */
  private async breakOff(failure: GatewayError): Promise<void> {
    this.idleStreams.delete(this);
    const error = publicError(this.deps, this.context, failure);
    let told = error;
    const concluding = conclude(
      this.deps,
      this.context,
      this.clientLeft ? CLIENT_GONE : { outcome: 'broken', status: 200, error },
    );
    // Concluded already: what the cancelled upstream says of it is no second failure.
    this.context.cancellation.cancel();
    try {
      await concluding;
    } catch (thrown) {
      told = asGatewayError(thrown);
      this.deps.reportError('A stream that broke off could not be settled.', thrown);
    }
    if (this.clientLeft) return;
    if (this.context.call.mute) return this.sink?.fail();
    try {
      const ending = this.writer.fail(told);
      await remember(this.deps, this.context, this.writer);
      const bytes = this.isDoubted ? this.ending(ending) : ending;
      if (this.writer.lastWords) this.breakConnection(bytes, this.writer.lastWords(told));
      else this.sink?.end(bytes);
    } catch (thrown) {
      this.sink?.fail(thrown);
    }
  }

  /** The connection ends once all of it has been sent. Last words are read alone only where the client has read all before: no server can see that. */
  private breakConnection(ending: Uint8Array, lastWords: Uint8Array): void {
    this.sink?.write(ending);
    if (lastWords.length === 0) this.sink?.fail();
    else {
      setTimeout(() => {
        this.sink?.write(lastWords);
        this.sink?.fail();
      }, READING_MS);
    }
  }
}

/** How long a client has to read what came before its last words. */
const READING_MS = 50;

const CLIENT_GONE: Conclusion = { outcome: 'aborted', status: CLIENT_GONE_STATUS };

/** The client has left and nothing more is wanted: what was delivered is charged. */
export function abandon(deps: GatewayDeps, context: CallContext): void {
  conclude(deps, context, CLIENT_GONE).catch((thrown) =>
    deps.reportError('An abandoned call could not be settled.', thrown),
  );
  context.cancellation.cancel();
}

/** The client has left and the upstream is read to its end: but not for ever. */
export function boundDrain(deps: GatewayDeps, context: CallContext): void {
  let isLast = false;
  const end = () => {
    if (context.concluded) return;
    if (isLast || !isFinished(context)) return context.cancellation.cancel();
    isLast = true;
    setTimeout(end, USAGE_WAIT_MS).unref();
  };
  const isDrained = context.model.onDisconnect === 'drain';
  setTimeout(end, isDrained ? deps.settings.drainAfterDisconnectMs : 0).unref();
}

/** Once every choice has finished only usage is still to come: it is waited for this long, whatever the policy. */
const USAGE_WAIT_MS = 2000;

/** What the reply lost on its way joins what the request lost. */
function addWarnings(context: CallContext, writer: Writer): void {
  if (writer.warnings.length > 0) context.warnings = [...context.warnings, ...writer.warnings];
}

function replyHeaders(context: CallContext, writer: Writer): { [name: string]: string } {
  const headers: { [name: string]: string } = {
    'content-type': writer.contentType,
    'x-request-id': context.id,
    'x-modelport-attempts': String(context.attempts),
  };
  const { limits } = context.pace;
  if (limits) Object.assign(headers, limitHeaders(context.dialect, limits, context.at));
  if (context.warnings.length > 0) headers['x-modelport-warnings'] = warningsHeader(context.warnings);
  return headers;
}

/** What is left of the caller's limits, in the names of the client's format. */
export function limitHeaders(dialect: Dialect, limits: RateLimits, now: number): { [name: string]: string } {
  return (dialect.limitHeaders ?? openaiLimitHeaders)(limits, now);
}

/** What the provider itself says that its audio is. */
function audioType(upstream: Starting): string | undefined {
  const said = upstream instanceof Promise ? undefined : upstream.contentType;
  return said?.startsWith('audio/') ? said : undefined;
}

/** A client that stays and does not read would hold its money for ever. */
function notRead(): GatewayError {
  return new GatewayError('upstream_timeout', 'The call took longer than a whole call may take.');
}

function errorIn(frame: Frame): GatewayError | undefined {
  for (const event of frame.events) if (event.type === 'error') return event.error;
  return undefined;
}

/** A report of nothing is none: nobody gives a reply away. */
function saysUsage({ events }: Frame): boolean {
  return events.some((event) => event.type === 'usage' && event.usage.input + event.usage.output > 0);
}

/** What a reply will be billed that has not been metered yet. */
function billedFor(deps: GatewayDeps, context: CallContext, frames: readonly Frame[]): Usage | Promise<Usage> {
  const meter = context.meter.anew();
  for (const frame of frames) meter.see(frame.events);
  return meter.final(deps.countTexts);
}

function isThought({ events }: Frame): boolean {
  for (const event of events) {
    if (event.type === 'part-seal' || (event.type === 'part-start' && event.opens.type === 'reasoning')) return true;
  }
  return false;
}

function join(parts: Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
