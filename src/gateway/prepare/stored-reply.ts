/** A reply in the form in which it is stored for the same request: its events, without what only the provider knows. */
import { isObject } from '../../canonical/json.ts';
import type { FinishReason, PartOpening, ReplyEvent, ReplyResult } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Frame } from '../../dialects/dialect.ts';

/** The version of the stored form: raise it when an event changes its name or members. Replies of another version are not read. */
const VERSION = 1;
/** Longer replies are not stored. */
const MOST_BYTES = 1024 * 1024;
/** An event besides its text. */
const EVENT_BYTES = 64;

/** A filtered, refused or paused reply may end otherwise the next time. */
const FINISHES: ReadonlySet<FinishReason> = new Set(['stop', 'stop-sequence', 'length', 'tool-calls']);
/** Audio, images by URL and blocks of one provider name state that ends with the provider's own time limit. */
const PARTS: ReadonlySet<PartOpening['type']> = new Set(['text', 'reasoning', 'tool-call']);
const RESULTS: ReadonlySet<ReplyResult['type']> = new Set(['vectors', 'ranking', 'ratings']);

export interface StoredReply {
  readonly usage: Usage;
  /** What was lost when the request was translated for the provider, a sentence each. */
  readonly warnings: readonly string[];
  readonly events: readonly ReplyEvent[];
}

/** Collects the events of a reply while it passes. */
export class ReplyRecorder {
  readonly #events: ReplyEvent[] = [];
  #bytes = 0;
  #isComplete = false;
  /** Choices that have started and not ended. */
  readonly #open = new Set<number>();
  #hasEnded = false;
  #isRefused = false;
  readonly #count: (bytes: number) => void;

  /** `count`: counts what is kept in memory. */
  constructor(count: (bytes: number) => void) {
    this.#count = count;
  }

  see(frames: readonly Frame[]): void {
    for (const { events } of frames) for (const event of events) if (!this.#isRefused) this.#add(event);
  }

  /** The reply as JSON; `undefined`: it is not complete, or must not be stored. */
  write(usage: Usage, warnings: readonly string[]): string | undefined {
    if (!this.#isComplete || !this.#hasEnded || this.#open.size > 0) return undefined;
    if (this.#isRefused || usage.serverToolCalls) return undefined;
    // A slower concurrent target was charged once.
    const { hedge: _, ...own } = usage;
    const text = JSON.stringify({ version: VERSION, usage: own, warnings, events: this.#events });
    return Buffer.byteLength(text) > MOST_BYTES ? undefined : text;
  }

  #add(event: ReplyEvent): void {
    if (event.type === 'reply-end') this.#isComplete = true;
    // The usage that was charged is stored instead.
    if (event.type === 'reply-end' || event.type === 'usage') return;
    const size = sizeOf(event);
    this.#bytes += size;
    if (!mayBeStored(event) || this.#bytes > MOST_BYTES) {
      this.#isRefused = true;
      this.#events.length = 0;
      return;
    }
    this.#count(size);
    if (event.type === 'part-start') this.#open.add(event.choice);
    if (event.type === 'choice-end') this.#open.delete(event.choice);
    if (event.type === 'choice-end' || event.type === 'result') this.#hasEnded = true;
    const last = this.#events.at(-1);
    const continues =
      event.type === 'part-delta' &&
      last?.type === 'part-delta' &&
      last.part === event.part &&
      last.choice === event.choice;
    if (continues) last.delta += event.delta;
    else this.#events.push(event.type === 'part-delta' ? { ...event } : event);
  }
}

function sizeOf(event: ReplyEvent): number {
  return event.type === 'part-delta' ? event.delta.length : EVENT_BYTES + JSON.stringify(event).length;
}

/**
 * A reasoning signature belongs to the provider that made it. A choice for whose end the provider gave no reason may have been cut
 * off on its way.
 */
function mayBeStored(event: ReplyEvent): boolean {
  switch (event.type) {
    case 'error':
    case 'part-signature':
    case 'part-transcript':
      return false;
    case 'part-start':
      return PARTS.has(event.opens.type);
    case 'choice-end':
      return FINISHES.has(event.finish.reason) && event.finish.raw !== undefined;
    case 'result':
      return RESULTS.has(event.result.type);
    default:
      return true;
  }
}

/** `undefined`: it is of another version. */
export function readStoredReply(text: string): StoredReply | undefined {
  const read: unknown = JSON.parse(text);
  if (!isObject(read) || read.version !== VERSION) return undefined;
  const { usage, warnings, events } = read as unknown as StoredReply;
  return { usage: { ...usage, source: 'cached' }, warnings, events };
}

/** The reply as it comes from a provider, in one frame. Some formats write the usage at the start, some at the end. */
export function frameOf({ usage, events }: StoredReply): Frame {
  const used: ReplyEvent = { type: 'usage', usage };
  const [first, ...rest] = events;
  return {
    bytes: new Uint8Array(),
    events: [...(first ? [first] : []), used, ...rest, used, { type: 'reply-end' }],
  };
}
