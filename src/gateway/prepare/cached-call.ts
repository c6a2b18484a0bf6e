/** A call of a key with a cache: the stored reply that answers it, or the reply to store for the next one. */
import type { Load } from '../../access/work-bounds.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { CallRow } from '../../store/rows.ts';
import { type Flow, type FrameTaker, flowOf, type Upstream, WholeUpstream } from '../attempt/upstream.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { frameOf, ReplyRecorder, type StoredReply } from './stored-reply.ts';

/** What is known of a reply at its end. */
interface ConcludedCall {
  /** Of the call that was concluded. */
  readonly record: CallRow;
  /** Figures or events of it were not believed or not read. */
  readonly isDoubted: boolean;
}

/** The call whose reply is recorded. */
interface RecordedFor {
  /** What was lost of the request. */
  readonly warnings: readonly string[];
  readonly load: Load;
}

export class CachedCall {
  /** For the caller, in a header. `bypass`: neither found nor stored. */
  readonly status: 'hit' | 'miss' | 'bypass';
  readonly #stored: StoredReply | undefined;
  readonly #hash: string;
  readonly #model: string;
  readonly #seconds: number;
  readonly #isStorable: boolean;
  #recorder: ReplyRecorder | undefined;
  #warnings: readonly string[] = [];

  /** `model`: the name of the requested one. A fallback's reply is not stored: the requested model may be back for the next call. */
  constructor(hash: string, model: string, seconds: number, stored: StoredReply | undefined, isStorable: boolean) {
    this.status = stored ? 'hit' : isStorable ? 'miss' : 'bypass';
    this.#hash = hash;
    this.#model = model;
    this.#seconds = seconds;
    this.#stored = stored;
    this.#isStorable = isStorable;
  }

  get usage(): Usage | undefined {
    return this.#stored?.usage;
  }

  get warnings(): readonly string[] {
    return this.#stored?.warnings ?? [];
  }

  /** The stored reply; `undefined`: a provider must answer. */
  reply(): Upstream | undefined {
    return this.#stored && new WholeUpstream([frameOf(this.#stored)], false);
  }

  /** The same answer, which is recorded while it passes. */
  recorded(upstream: Upstream, { warnings, load }: RecordedFor): Upstream {
    if (!this.#isStorable) return upstream;
    const recorder = new ReplyRecorder((bytes) => load.count(bytes));
    this.#recorder = recorder;
    this.#warnings = warnings;
    if (!(upstream instanceof WholeUpstream)) return new RecordedUpstream(upstream, recorder);
    const frames = upstream.take() ?? [];
    recorder.see(frames);
    return new WholeUpstream(frames, upstream.same);
  }

  /** Stores the reply of a call that was answered completely. Never rejects: the call itself has succeeded. */
  async keep(
    deps: Pick<GatewayDeps, 'memory' | 'now' | 'reportError'>,
    { record, isDoubted }: ConcludedCall,
  ): Promise<void> {
    const { account, model, outcome, usage } = record;
    if (!this.#recorder || outcome !== 'ok' || !usage || isDoubted || model !== this.#model) return;
    try {
      const body = this.#recorder.write(usage, this.#warnings);
      const at = deps.now();
      const expiresAt = at + this.#seconds * 1000;
      if (body !== undefined) await deps.memory.replies.put({ account, hash: this.#hash, at, expiresAt, body });
    } catch (thrown) {
      deps.reportError('A reply could not be stored for the same requests.', thrown);
    }
  }
}

/** A stream whose frames are recorded while they pass. */
class RecordedUpstream implements Upstream {
  readonly same: boolean;
  readonly contentType?: string;
  readonly #upstream: Upstream;
  readonly #recorder: ReplyRecorder;

  constructor(upstream: Upstream, recorder: ReplyRecorder) {
    this.same = upstream.same;
    if (upstream.contentType !== undefined) this.contentType = upstream.contentType;
    this.#upstream = upstream;
    this.#recorder = recorder;
  }

  async next() {
    const frames = await this.#upstream.next();
    if (frames) this.#recorder.see(frames);
    return frames;
  }

  pour(taker: FrameTaker): Flow {
    return flowOf(this.#upstream, {
      frames: (frames) => {
        this.#recorder.see(frames);
        taker.frames(frames);
      },
      failed: (failure) => taker.failed(failure),
    });
  }
}
