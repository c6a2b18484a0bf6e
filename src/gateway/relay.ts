/** Frames to the client: whole replies and streams, each settled before its last bytes leave. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { writeMoney } from '../canonical/money.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Dialect, Frame, Writer } from '../dialects/dialect.ts';
import { openaiLimitHeaders } from '../dialects/rate-limit-headers.ts';
import type { Answer, ByteSink, ByteSource } from '../http1/answer.ts';
import type { Client } from '../http1/client-request.ts';
import { charge } from '../ledger/charge.ts';
import { publicError } from './redaction.ts';
import { remember } from './remember.ts';
import type { GatewayRooms } from './rooms.ts';
import { allFrames, type Flow, type FrameTaker, flowOf, type Upstream } from './upstream.ts';
import { bearWitness, type Conclusion, conclude, isFinished, type Walk, watch } from './walk.ts';
import { warningsHeader } from './warnings-header.ts';

const NOTHING = new Uint8Array();
/** The status recorded where the client left before its answer was complete. */
export const CLIENT_GONE_STATUS = 499;

/** Answers a call that wants its reply whole; `client` says whether anybody still waits for it. */
export async function relayWhole(
  rooms: GatewayRooms,
  walk: Walk,
  starting: Promise<Upstream>,
  client: Client,
): Promise<Answer> {
  const upstream = await starting;
  const writer = walk.dialect.writer(walk.call);
  const parts: Uint8Array[] = [];
  const coming = allFrames(upstream);
  const frames = coming instanceof Promise ? await coming : coming;
  walk.call.completedSeconds = Math.floor(rooms.now() / 1000);
  if (writer.bill && !frames.some(saysUsage)) writer.bill(await billedFor(rooms, walk, frames));
  for (const frame of frames) {
    const failure = errorIn(frame);
    if (failure) throw publicError(rooms, walk, failure);
    if (walk.meter.thinks || isThought(frame)) bearWitness(walk, frame.events);
    const bytes = upstream.same ? writer.pass(frame) : writer.write(frame);
    if (bytes.length > 0) parts.push(bytes);
  }
  const ending = writer.end();
  if (ending.length > 0) parts.push(ending);
  // Metered once it is certain that it can be delivered: what fails before costs nothing.
  for (const frame of frames) walk.meter.see(frame.events);
  walk.firstByteMs = performance.now() - walk.startedMs;
  addWarnings(walk, writer);
  const keeping = client.hasLeft ? undefined : remember(rooms, walk, writer);
  const cost = await conclude(rooms, walk, client.hasLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 });
  if (keeping) await keeping;
  const headers = replyHeaders(walk, writer);
  headers['x-modelport-cost'] = writeMoney(cost);
  return { status: 200, headers, body: join(parts) };
}

/**
 * Answers a call that wants a stream. `starting` may still be trying targets: what fails then is told inside the stream.
 * Frames go on the moment they come; a client that does not take them makes its upstream wait.
 */
export class StreamRelay implements ByteSource, FrameTaker {
  private readonly rooms: GatewayRooms;
  private readonly walk: Walk;
  private readonly quiet: QuietStreams;
  private readonly writer: Writer;
  private readonly starting: Upstream | Promise<Upstream>;
  private sink: ByteSink | undefined;
  /** Of an upstream that answers: whether its frames pass, and what holds them up. */
  private isSame = false;
  private flow: Flow | undefined;
  private isOpening = false;
  /** The client has not taken what it was sent last. */
  private isBehind = false;
  private clientLeft = false;
  private last: Uint8Array = NOTHING;
  /** The last frame, where it waits to be told what the call is billed. */
  private unbilled: Frame | undefined;
  /** The end is being written: the upstream may still say that it is over. */
  private isFinishing = false;
  /** Something has been sent since it was last looked, which was noted as `lastSentMs`. */
  private hasSent = false;
  private lastSentMs = performance.now();

  constructor(rooms: GatewayRooms, walk: Walk, starting: Upstream | Promise<Upstream>, quiet: QuietStreams) {
    this.rooms = rooms;
    this.walk = walk;
    this.quiet = quiet;
    this.starting = starting;
    this.writer = walk.dialect.writer(walk.call);
  }

  answer(): Answer {
    const headers = replyHeaders(this.walk, this.writer);
    if (this.walk.call.mute) headers['content-type'] = soundType(this.starting) ?? this.writer.contentType;
    headers['cache-control'] = 'no-cache';
    headers['x-accel-buffering'] = 'no';
    return { status: 200, headers, body: this };
  }

  start(sink: ByteSink): void {
    this.sink = sink;
    this.quiet.add(this);
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
    if (this.walk.concluded) return;
    try {
      const isTaken = this.forward(frames);
      if (this.walk.meter.complete) void this.finish();
      else if (!isTaken && !this.clientLeft) this.fallBehind();
    } catch (thrown) {
      this.failed(asGatewayError(thrown));
    }
  }

  failed(error: GatewayError): void {
    if (!this.walk.concluded) void this.breakOff(error);
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
    if (this.clientLeft || this.walk.concluded) return;
    this.clientLeft = true;
    if (this.walk.model.onDisconnect === 'abort' && !isFinished(this.walk)) {
      this.quiet.delete(this);
      abandon(this.rooms, this.walk);
      return;
    }
    boundDrain(this.rooms, this.walk);
    this.resume();
    this.open();
  }

  /** Sends something harmless where nothing else has been sent for a while, and notes what the call has cost so far. */
  nudge(now: number, keepAliveMs: number): void {
    if (this.walk.meter.delivered) {
      const cost = charge(this.walk.meter.soFar(), this.walk.model.price);
      // A report that came early may claim anything: should this process die, no more than was held is charged.
      this.rooms.ledger.checkpoint(this.walk.hold, cost < this.walk.hold.amount ? cost : this.walk.hold.amount);
    }
    if (this.hasSent) {
      this.hasSent = false;
      this.lastSentMs = now;
    }
    if (this.isBehind && now > this.walk.startedMs + this.rooms.settings.limits.wholeMs) this.failed(notRead());
    else if (now - this.lastSentMs >= keepAliveMs && !this.walk.call.mute && !this.clientLeft)
      this.send(this.writer.keepAlive());
  }

  /** Sends what the frames say; the last one's bytes are kept back. Whether the client has taken it all. */
  private forward(frames: readonly Frame[]): boolean {
    let parts: Uint8Array[] | undefined;
    let only: Uint8Array = NOTHING;
    for (const frame of frames) {
      watch(this.walk, frame.events);
      const failure = errorIn(frame);
      if (failure) {
        this.send(parts ? join(parts) : only);
        throw failure;
      }
      const isLast = this.walk.meter.complete;
      if (isLast) this.walk.call.completedSeconds = Math.floor(this.rooms.now() / 1000);
      if (isLast && this.writer.bill && !this.walk.meter.isReported) {
        this.unbilled = frame;
        break;
      }
      const bytes = this.isSame ? this.writer.pass(frame) : this.writer.write(frame);
      if (isLast) {
        this.last = bytes;
        break;
      }
      if (bytes.length === 0) continue;
      if (parts) parts.push(bytes);
      else if (only.length > 0) parts = [only, bytes];
      else only = bytes;
    }
    return this.send(parts ? join(parts) : only);
  }

  /** Whether the client has taken it. */
  private send(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.clientLeft || !this.sink) return true;
    this.walk.firstByteMs ??= performance.now() - this.walk.startedMs;
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
        this.writer.bill?.(await this.walk.meter.final(this.rooms.countTexts));
        this.last = this.isSame ? this.writer.pass(unbilled) : this.writer.write(unbilled);
      }
      addWarnings(this.walk, this.writer);
      const ending = this.writer.end();
      const keeping = remember(this.rooms, this.walk, this.writer);
      await conclude(this.rooms, this.walk, this.clientLeft ? CLIENT_GONE : { outcome: 'ok', status: 200 });
      if (keeping) await keeping;
      this.quiet.delete(this);
      if (!this.clientLeft) this.sink?.end(ending.length > 0 ? join([this.last, ending]) : this.last);
    } catch (thrown) {
      await this.breakOff(asGatewayError(thrown));
    }
  }

  /** A dead stream never looks complete: an error in the client's words, no terminator. */
  private async breakOff(failure: GatewayError): Promise<void> {
    this.quiet.delete(this);
    const error = publicError(this.rooms, this.walk, failure);
    let told = error;
    const concluding = conclude(
      this.rooms,
      this.walk,
      this.clientLeft ? CLIENT_GONE : { outcome: 'broken', status: 200, error },
    );
    // Concluded already: what the cancelled upstream says of it is no second failure.
    this.walk.cancellation.cancel();
    try {
      await concluding;
    } catch (thrown) {
      told = asGatewayError(thrown);
      this.rooms.trouble('A stream that broke off could not be settled.', thrown);
    }
    if (this.clientLeft) return;
    if (this.walk.call.mute) return this.sink?.fail();
    try {
      const ending = this.writer.fail(told);
      await remember(this.rooms, this.walk, this.writer);
      if (this.writer.lastWords) this.breakConnection(ending, this.writer.lastWords(told));
      else this.sink?.end(ending);
    } catch (thrown) {
      this.sink?.fail(thrown);
    }
  }

  private breakConnection(ending: Uint8Array, lastWords: Uint8Array): void {
    this.sink?.write(ending);
    setTimeout(() => {
      if (lastWords.length > 0) this.sink?.write(lastWords);
      setTimeout(() => this.sink?.fail(), READING_MS);
    }, READING_MS);
  }
}

/** How long a client has to read what it was told: a connection that breaks takes with it what was not read. */
const READING_MS = 50;

/** The streams under way, looked after by one timer: a timer each would cost more than a chunk. */
export class QuietStreams {
  private readonly streams = new Set<StreamRelay>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly keepAliveMs: number;

  constructor(keepAliveMs: number) {
    this.keepAliveMs = keepAliveMs;
  }

  add(stream: StreamRelay): void {
    this.streams.add(stream);
    this.timer ??= setInterval(() => this.nudgeAll(), Math.min(1000, this.keepAliveMs / 3));
  }

  delete(stream: StreamRelay): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private nudgeAll(): void {
    const now = performance.now();
    for (const stream of this.streams) stream.nudge(now, this.keepAliveMs);
  }
}

const CLIENT_GONE: Conclusion = { outcome: 'aborted', status: CLIENT_GONE_STATUS };

/** The client has left and nothing more is wanted: what was delivered is charged. */
export function abandon(rooms: GatewayRooms, walk: Walk): void {
  conclude(rooms, walk, CLIENT_GONE).catch((thrown) =>
    rooms.trouble('An abandoned call could not be settled.', thrown),
  );
  walk.cancellation.cancel();
}

/** The client has left and the upstream is read to its end: but not for ever. */
export function boundDrain(rooms: GatewayRooms, walk: Walk): void {
  let isLast = false;
  const end = () => {
    if (walk.concluded) return;
    if (isLast || !isFinished(walk)) return walk.cancellation.cancel();
    isLast = true;
    setTimeout(end, USAGE_WAIT_MS).unref();
  };
  const isDrained = walk.model.onDisconnect === 'drain';
  setTimeout(end, isDrained ? rooms.settings.drainAfterDisconnectMs : 0).unref();
}

/** Once every choice has finished only usage is still to come: it is waited for this long, whatever the policy. */
const USAGE_WAIT_MS = 2000;

/** What the reply lost on its way joins what the request lost. */
function addWarnings(walk: Walk, writer: Writer): void {
  if (writer.warnings.length > 0) walk.warnings = [...walk.warnings, ...writer.warnings];
}

function replyHeaders(walk: Walk, writer: Writer): { [name: string]: string } {
  const headers: { [name: string]: string } = {
    'content-type': writer.contentType,
    'x-request-id': walk.id,
    'x-modelport-attempts': String(walk.attempts),
  };
  const { limits } = walk.pace;
  if (limits) Object.assign(headers, limitHeaders(walk.dialect, limits, walk.at));
  if (walk.warnings.length > 0) headers['x-modelport-warnings'] = warningsHeader(walk.warnings);
  return headers;
}

/** What is left of the caller's limits, in the names of the client's format. */
export function limitHeaders(dialect: Dialect, limits: RateLimits, now: number): { [name: string]: string } {
  return (dialect.limitHeaders ?? openaiLimitHeaders)(limits, now);
}

/** What the vendor itself says that its sound is. */
function soundType(upstream: Upstream | Promise<Upstream>): string | undefined {
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
function billedFor(rooms: GatewayRooms, walk: Walk, frames: readonly Frame[]): Usage | Promise<Usage> {
  const meter = walk.meter.anew();
  for (const frame of frames) meter.see(frame.events);
  return meter.final(rooms.countTexts);
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
