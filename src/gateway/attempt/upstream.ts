/** A started reply: from one upstream request, from several, or from a task. */
import { asGatewayError, type GatewayError } from '../../canonical/errors.ts';
import type { Frame } from '../../dialects/dialect.ts';

/** The frames of an answer, the first of which have arrived. */
export interface Upstream {
  /** The client's format is the upstream's: the bytes of frames pass, instead of being written from their meaning. */
  readonly same: boolean;
  /** The upstream's `content-type`; none where the answer is joined from several. */
  readonly contentType?: string;
  /** The next frames; `undefined` after the last. Throws `upstream_timeout` or `upstream_failed`. */
  next(): Promise<readonly Frame[] | undefined>;
  /** Hands all frames to `taker` as they arrive, instead of `next`. Where it is absent `flowOf` calls `next` in a loop. */
  pour?(taker: FrameTaker): Flow;
}

/** A complete reply. */
export class WholeUpstream implements Upstream {
  readonly same: boolean;
  private readonly frames: readonly Frame[] | undefined;
  protected isTaken = false;

  constructor(frames: readonly Frame[] | undefined, same: boolean) {
    this.frames = frames;
    this.same = same;
  }

  /** The frames, once. */
  take(): readonly Frame[] | undefined {
    const frames = this.isTaken ? undefined : this.frames;
    this.isTaken = true;
    return frames;
  }

  next(): Promise<readonly Frame[] | undefined> {
    return Promise.resolve(this.take());
  }
}

/** All frames that are left, at once where they have arrived. */
export function allFrames(upstream: Upstream): readonly Frame[] | Promise<readonly Frame[]> {
  return upstream instanceof WholeUpstream ? (upstream.take() ?? []) : gatherFrames(upstream);
}

async function gatherFrames(upstream: Upstream): Promise<readonly Frame[]> {
  const all: Frame[] = [];
  for (let frames = await upstream.next(); frames; frames = await upstream.next()) all.push(...frames);
  return all;
}

/** Takes an upstream's frames as they arrive. Never throws. */
export interface FrameTaker {
  frames(frames: readonly Frame[]): void;
  /** Nothing more will arrive: `upstream_timeout` or `upstream_failed`. */
  failed(failure: GatewayError): void;
}

/** No frames are handed over between `pause` and `resume`. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** Starts to hand an upstream's frames to `taker`. */
export function flowOf(upstream: Upstream, taker: FrameTaker): Flow {
  if (upstream.pour) return upstream.pour(taker);
  let isPaused = false;
  let isReading = false;
  async function ask(): Promise<void> {
    if (isReading) return;
    isReading = true;
    try {
      while (!isPaused) {
        const frames = await upstream.next();
        if (!frames) return;
        taker.frames(frames);
      }
    } catch (thrown) {
      taker.failed(asGatewayError(thrown));
    } finally {
      isReading = false;
    }
  }
  void ask();
  return {
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      void ask();
    },
  };
}

/** The error that a frame reports, if it reports one. */
export function errorIn(frame: Frame): GatewayError | undefined {
  for (const event of frame.events) if (event.type === 'error') return event.error;
  return undefined;
}

/** Whether the frame holds reasoning, or a reasoning signature. */
export function hasReasoning(frame: Frame): boolean {
  for (const event of frame.events) {
    if (event.type === 'part-signature' || (event.type === 'part-start' && event.opens.type === 'reasoning'))
      return true;
  }
  return false;
}

/** Whether the frame reports usage above zero. A report of zero counts as none: no provider answers for free. */
export function hasUsage(frame: Frame): boolean {
  for (const event of frame.events)
    if (event.type === 'usage' && event.usage.input + event.usage.output > 0) return true;
  return false;
}

/** One array of bytes; copied only where there are several. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
