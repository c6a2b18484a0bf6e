/** What answers a call, wherever it comes from: one provider, several, or a task. */
import { asGatewayError, type GatewayError } from '../canonical/errors.ts';
import type { Frame } from '../dialects/dialect.ts';

/** An upstream that has begun to answer: its frames, the first of which are already here. */
export interface Upstream {
  /** Client and upstream speak the same dialect: frames pass instead of being written anew. */
  readonly same: boolean;
  /** As it came; of one that is read in pieces there is none. */
  readonly contentType?: string;
  /** The next frames, in order; `undefined` after the last. Throws `upstream_timeout` or `upstream_failed`. */
  next(): Promise<readonly Frame[] | undefined>;
  /** Has all frames handed over as they come, in the place of `next`; absent: `flowOf` asks for one after another. */
  pour?(taker: FrameTaker): Flow;
}

/** One whose reply is all there. */
export class WholeUpstream implements Upstream {
  readonly same: boolean;
  private frames: readonly Frame[] | undefined;

  constructor(frames: readonly Frame[], same: boolean) {
    this.frames = frames;
    this.same = same;
  }

  /** What has not been asked for yet. */
  take(): readonly Frame[] | undefined {
    const { frames } = this;
    this.frames = undefined;
    return frames;
  }

  next(): Promise<readonly Frame[] | undefined> {
    return Promise.resolve(this.take());
  }
}

/** All that an upstream still has to say, at once where it is there. */
export function allFrames(upstream: Upstream): readonly Frame[] | Promise<readonly Frame[]> {
  return upstream instanceof WholeUpstream ? (upstream.take() ?? []) : gatherFrames(upstream);
}

async function gatherFrames(upstream: Upstream): Promise<readonly Frame[]> {
  const all: Frame[] = [];
  for (let frames = await upstream.next(); frames; frames = await upstream.next()) all.push(...frames);
  return all;
}

/** Takes an upstream's frames as they come. Never throws. */
export interface FrameTaker {
  frames(frames: readonly Frame[]): void;
  /** Nothing more will come: `upstream_timeout` or `upstream_failed`. */
  failed(failure: GatewayError): void;
}

/** What is handed over waits from `pause` to `resume`. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** The flow of an upstream's frames to who takes them. */
export function flowOf(upstream: Upstream, taker: FrameTaker): Flow {
  if (upstream.pour) return upstream.pour(taker);
  let isPaused = false;
  let isAsking = false;
  async function ask(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    try {
      while (!isPaused) {
        const frames = await upstream.next();
        if (!frames) return;
        taker.frames(frames);
      }
    } catch (thrown) {
      taker.failed(asGatewayError(thrown));
    } finally {
      isAsking = false;
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
