/** Sends a stream to the client frame by frame, at the client's pace, and settles the call before the last bytes are sent. */

import { asGatewayError, GatewayError } from '../../canonical/errors.ts';
import type { Placed } from '../../canonical/placed-set.ts';
import { warningComment } from '../../dialects/chat/reply/losses.ts';
import type { Frame, Writer } from '../../dialects/dialect.ts';
import type { Answer, ByteSink, ByteSource } from '../../http1/answer.ts';
import { errorIn, type Flow, type FrameTaker, flowOf, joinBytes, type Upstream } from '../attempt/upstream.ts';
import { type CallContext, type Conclusion, conclude, isFinished, watch } from '../call-context.ts';
import { abortCall, CLIENT_GONE, limitDrain } from '../client-gone.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { concludeAndSave, saveReply } from '../prepare/save-conversation.ts';
import { publicError } from '../redaction.ts';
import { mayBeDisputed } from '../settle/figures.ts';
import { withOwnFigures } from '../settle/own-figures.ts';
import { costSoFar } from '../settle/rival.ts';
import type { IdleStreams } from './idle-streams.ts';
import { addReplyWarnings, attemptsComment, costComment, replyHeaders, skipWarning } from './relay-reply.ts';

/** A target that has started to answer, or the search for one. */
type Starting = Upstream | Promise<Upstream>;

const NO_BYTES = new Uint8Array();

/**
 * How long a client has to read the bytes that were sent before the last ones of a stream that breaks off, and before its
 * connection ends. With 50 ms, libraries in a busy process reported the end of the connection instead of the error.
 */
const READING_MS = 500;

/**
 * One stream to a client. If `starting` is still the search for a target, an error of that search is reported inside the
 * stream. Frames are sent the moment they arrive. If the client does not read, the upstream is paused.
 */
export class StreamRelay implements ByteSource, FrameTaker, Placed {
  place = -1;
  private readonly deps: GatewayDeps;
  private readonly context: CallContext;
  private readonly idleStreams: IdleStreams;
  private writer: Writer;
  private readonly starting: Starting;
  private sink: ByteSink | undefined;
  /** The upstream has the client's format: frames pass instead of being written from their events. */
  private isSame = false;
  private flow: Flow | undefined;
  private isOpening = false;
  /** The client has not read everything that was sent. */
  private isBehind = false;
  private clientLeft = false;
  /** The bytes of the reply's last frame, sent after the settlement. */
  private last: Uint8Array = NO_BYTES;
  /** A usage report has arrived that may be disputed. Later frames wait until the settlement shows what is charged. */
  private isDoubted = false;
  private readonly heldBack: Uint8Array[] = [];
  /** The last frame, if it can be written only after the billed usage is known. */
  private unbilled: Frame | undefined;
  /** `finish` has started. The upstream may still report its end. */
  private isFinishing = false;
  /** The number of attempts that the headers name. */
  private reportedAttempts = 0;
  /** Something was sent since the last `tick`. */
  private hasSent = false;
  /** On the clock of `performance.now()`, as `tick` last noted it. */
  private lastSentMs = performance.now();

  constructor(deps: GatewayDeps, context: CallContext, starting: Starting, idleStreams: IdleStreams) {
    this.deps = deps;
    this.context = context;
    this.idleStreams = idleStreams;
    this.starting = starting;
    this.writer = context.dialect.writer(context.call);
  }

  answer(): Answer {
    const headers = replyHeaders(this.deps.settings, this.context, this.writer);
    this.reportedAttempts = this.context.attempts;
    if (this.context.call.mute) headers['content-type'] = audioType(this.starting) ?? this.writer.contentType;
    headers['cache-control'] = 'no-cache';
    headers['x-accel-buffering'] = 'no';
    return { status: 200, headers, body: this };
  }

  start(sink: ByteSink): void {
    this.sink = sink;
    this.idleStreams.add(this);
    // The server sends the headers with the first bytes, and the client has already waited for `keepAliveMs`.
    if (this.starting instanceof Promise) sink.write(this.writer.keepAlive());
    this.open();
  }

  /** Starts to read the upstream's frames, now or when a target answers. */
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
    // A fallback model may answer: the reply has its name.
    if (this.context.chain) this.writer = this.context.dialect.writer(this.context.call);
    this.isSame = upstream.same;
    releaseRequest(this.context);
    this.flow = flowOf(upstream, this);
    if (this.isBehind) this.flow.pause();
  }

  frames(frames: readonly Frame[]): void {
    if (this.context.concluded) return;
    try {
      const isTaken = this.forward(frames);
      if (this.context.meter.complete) void this.finish();
      else if (!isTaken && !this.clientLeft) this.pause();
    } catch (thrown) {
      this.failed(asGatewayError(thrown));
    }
  }

  failed(error: GatewayError): void {
    if (!this.context.concluded) void this.breakOff(error);
  }

  private pause(): void {
    this.isBehind = true;
    this.flow?.pause();
  }

  resume(): void {
    this.isBehind = false;
    this.flow?.resume();
  }

  /** The client has disconnected. Depending on the model, the upstream is cancelled now or read to its end within a limit for its usage. */
  cancel(): void {
    // A stop concludes calls whose streams do not end: nothing else removes these.
    if (this.context.concluded) this.idleStreams.delete(this);
    if (this.clientLeft || this.context.concluded) return;
    this.clientLeft = true;
    if (this.context.model.onDisconnect === 'abort' && !isFinished(this.context)) {
      this.idleStreams.delete(this);
      abortCall(this.deps, this.context);
      return;
    }
    limitDrain(this.deps, this.context);
    this.resume();
    this.open();
  }

  /** Sends a keep-alive if nothing was sent for a while, and records what the call has cost so far. */
  tick(now: number, keepAliveMs: number): void {
    if (this.context.meter.delivered) {
      this.deps.ledger.checkpoint(this.context.hold, costSoFar(this.context));
    }
    if (this.hasSent) {
      this.hasSent = false;
      this.lastSentMs = now;
    }
    if (this.isBehind && now > this.context.startedMs + this.deps.settings.limits.wholeMs) this.failed(notRead());
    else if (now - this.lastSentMs >= keepAliveMs && !this.context.call.mute && !this.clientLeft)
      this.send(this.writer.keepAlive());
  }

  /** Sends these frames, except the bytes of the reply's last one. Returns whether the client has read everything. */
  private forward(frames: readonly Frame[]): boolean {
    let parts: Uint8Array[] | undefined;
    let only: Uint8Array = NO_BYTES;
    for (const frame of frames) {
      const { like } = frame;
      // Only text, which neither ends the reply nor reports usage.
      if (like && !this.isDoubted && !this.context.meter.thinks) {
        this.context.meter.seeText(like.choice, like.part, frame.text ?? '');
        const bytes = this.isSame ? this.writer.pass(frame) : this.writer.write(frame);
        if (parts) parts.push(bytes);
        else if (only.length > 0) parts = [only, bytes];
        else only = bytes;
        continue;
      }
      watch(this.context, frame.events);
      const error = errorIn(frame);
      if (error) {
        this.send(parts ? joinBytes(parts) : only);
        throw error;
      }
      const isLast = this.context.meter.complete;
      if (!this.isDoubted && mayBeDisputed(this.context, frame)) this.isDoubted = true;
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
    return this.send(parts ? joinBytes(parts) : only);
  }

  /** Returns whether the client has read everything. */
  private send(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.clientLeft || !this.sink) return true;
    this.context.firstByteMs ??= performance.now() - this.context.startedMs;
    this.hasSent = true;
    return this.sink.write(bytes);
  }

  /** Settles the call, then sends the last bytes: after a crash no complete reply has been delivered without a charge. */
  private async finish(): Promise<void> {
    if (this.isFinishing) return;
    this.isFinishing = true;
    try {
      const { unbilled } = this;
      if (unbilled) {
        this.writer.bill?.(await this.context.meter.final(this.deps.countTexts));
        this.last = this.isSame ? this.writer.pass(unbilled) : this.writer.write(unbilled);
      }
      addReplyWarnings(this.context, this.writer);
      if (this.context.skippedEvents > 0) this.tell(warningComment([skipWarning(this.context)]));
      if (this.context.attempts !== this.reportedAttempts) this.tell(attemptsComment(this.deps.settings, this.context));
      const ending = this.writer.end();
      const conclusion: Conclusion = this.clientLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 };
      const cost = await concludeAndSave(this.deps, this.context, this.writer, conclusion, this.isDoubted);
      this.idleStreams.delete(this);
      if (this.clientLeft) return;
      this.tell(costComment(cost));
      this.sink?.end(this.lastBytes(ending));
    } catch (thrown) {
      await this.breakOff(asGatewayError(thrown));
    }
  }

  /** What was not known for the headers: a comment before the last frame, in formats with comments. */
  private tell(comment: string): void {
    if (this.writer.refusesComments || !this.writer.contentType.startsWith('text/event-stream')) return;
    this.last = joinBytes([Buffer.from(comment), this.last]);
  }

  /** The remaining bytes up to `ending`, with the charged usage if the provider's report was disputed. */
  private lastBytes(ending: Uint8Array): Uint8Array {
    if (!this.isDoubted) return ending.length > 0 ? joinBytes([this.last, ending]) : this.last;
    const bytes = joinBytes([...this.heldBack, this.last, ending]);
    return this.context.disputed ? withOwnFigures(bytes, this.context.disputed) : bytes;
  }

  /** Ends the stream with an error in the client's format and without a terminator, so that it does not look complete. */
  private async breakOff(failure: GatewayError): Promise<void> {
    this.idleStreams.delete(this);
    let error = publicError(this.deps, this.context, failure);
    const conclusion: Conclusion = this.clientLeft ? CLIENT_GONE : { outcome: 'broken', status: 200, error };
    const concluding = conclude(this.deps, this.context, conclusion);
    // Cancelled after the call is concluded: the error that this causes upstream is not recorded as a second failure.
    this.context.cancellation.cancel();
    try {
      await concluding;
    } catch (thrown) {
      error = asGatewayError(thrown);
      this.deps.reportError('A stream that broke off could not be settled.', thrown);
    }
    if (this.clientLeft) return;
    if (this.context.call.mute) return this.sink?.fail();
    try {
      const ending = this.writer.fail(error);
      await saveReply(this.deps, this.context, this.writer);
      const bytes = this.isDoubted ? this.lastBytes(ending) : ending;
      if (this.writer.afterFail) this.breakConnection(bytes, this.writer.afterFail(error));
      else this.sink?.end(bytes);
    } catch (thrown) {
      this.sink?.fail(thrown);
    }
  }

  /**
   * Closes the connection without the end of the body. `afterFail` must arrive in a read of their own, and clients drop
   * what they have not read when a connection breaks. A server cannot see when its client has read: it waits for both.
   */
  private breakConnection(ending: Uint8Array, afterFail: Uint8Array): void {
    this.sink?.write(ending);
    setTimeout(() => {
      if (afterFail.length === 0) return this.sink?.fail();
      this.sink?.write(afterFail);
      setTimeout(() => this.sink?.fail(), READING_MS);
    }, READING_MS);
  }
}

/** Once a reply has begun most calls send no further request: of the client's own only the size is still needed, for estimates. */
function releaseRequest({ call, dialect, model, sendings, hasHedged }: CallContext): void {
  if (call.kind !== 'chat' || dialect.keeping || model.continuation || sendings > 1 || hasHedged) return;
  const { origin } = call;
  origin.bodyBytes ??= origin.body.byteLength;
  origin.body = NO_BYTES;
  origin.unsaid = undefined;
}

/** The media type of bare audio, as the provider names it. */
function audioType(upstream: Starting): string | undefined {
  const type = upstream instanceof Promise ? undefined : upstream.contentType;
  return type?.startsWith('audio/') ? type : undefined;
}

/** A client that stays connected and never reads would keep its hold forever. */
function notRead(): GatewayError {
  return new GatewayError('upstream_timeout', 'The call took longer than a whole call may take.', { retryable: false });
}
