/**
 * Checks the events of every reader before the gateway uses them. A provider's reply may contain any index and any
 * number; the gateway builds arrays by these indexes. An event outside the bounds becomes an `upstream_failed` error,
 * so that a reply can cause neither unbounded work nor an internal error.
 */
import type { Call } from '../../canonical/call.ts';
import { asGatewayError, GatewayError } from '../../canonical/errors.ts';
import type { ReplyEvent, ReplyResult } from '../../canonical/reply.ts';
import type { Frame, Likeness, Reader } from '../dialect.ts';

/**
 * Parts of one choice. The longest recorded reply has about 60: texts, thinking, tool calls, searches and their
 * results.
 */
export const MOST_PARTS = 4096;
/**
 * How many images a provider may send beyond the number requested: some providers always generate four. Chat has no
 * such tolerance: no recorded reply has more choices than its request asked for.
 */
const SPARE_IMAGES = 16;

/** The end of the year 9999, in seconds since 1970: the last moment that a date string can express. */
const LAST_SECOND = 253_402_300_800;

const NO_BYTES = new Uint8Array();

/** Events of one stream that may be left out because they could not be read. More than a few are no accident. */
export const MOST_SKIPPED = 3;

/** Counts what was left out of a reply. */
export interface Skips {
  skippedEvents: number;
}

/** Wraps `reader` with the checks, for a reply to `call`. What is left out of it is counted in `skips`. */
export function boundedReader(reader: Reader, call: Call, skips: Skips): Reader {
  return new BoundedReader(reader, call, skips);
}

class BoundedReader implements Reader {
  readonly #reader: Reader;
  readonly #call: Call;
  readonly #mostChoices: number;
  readonly #skips: Skips;
  #skipped = 0;
  /** The last part that began, if it is a text and has not ended; else -1. */
  #text = -1;
  #hasChoiceEnded = false;
  /** The place of frames of this likeness has been checked. */
  #like: Likeness | undefined;
  /** Set after the first broken bound. Everything after it is ignored. */
  #isBroken = false;

  constructor(reader: Reader, call: Call, skips: Skips) {
    this.#reader = reader;
    this.#call = call;
    this.#skips = skips;
    this.#mostChoices = choicesOf(call) + (call.kind === 'image' ? SPARE_IMAGES : 0);
  }

  get contentType(): string | undefined {
    return this.#reader.contentType;
  }

  read(chunk: Uint8Array): Frame[] {
    if (this.#isBroken) return [];
    try {
      return this.#checked(this.#reader.read(chunk));
    } catch (thrown) {
      return this.#broken([], thrown);
    }
  }

  end(): Frame[] {
    if (this.#isBroken) return [];
    try {
      return this.#checked(this.#reader.end());
    } catch (thrown) {
      return this.#broken([], thrown);
    }
  }

  #checked(frames: Frame[]): Frame[] {
    for (let at = 0; at < frames.length; at++) {
      try {
        // `events` is decoded when it is first read, so a decoding error is thrown here.
        const frame = frames[at]!;
        const { like } = frame;
        if (like && like === this.#like) continue;
        this.#like = like;
        for (const event of frame.events) {
          if (event.type !== 'error' || !event.isLocal) this.#check(event);
          else {
            this.#skip(event.error);
            frames.splice(at--, 1);
            break;
          }
        }
      } catch (thrown) {
        return this.#broken(frames.slice(0, at), thrown);
      }
    }
    return frames;
  }

  /** Leaves an unreadable event out of the reply. Throws `error` where the reply would mean something else without it. */
  #skip(error: GatewayError): void {
    const isInText = this.#text >= 0 || this.#hasChoiceEnded;
    if (!isInText || this.#skipped === MOST_SKIPPED || !isPlainText(this.#call)) throw error;
    this.#skipped++;
    this.#skips.skippedEvents++;
  }

  #broken(before: Frame[], thrown: unknown): Frame[] {
    this.#isBroken = true;
    const error = thrown instanceof GatewayError ? asGatewayError(thrown) : unreadable(thrown);
    return [...before, { bytes: NO_BYTES, events: [{ type: 'error', error }] }];
  }

  #checkPlace(choice: number, part: number): void {
    if (!isPlace(choice, this.#mostChoices)) throw outOfBounds('the number of a choice is out of bounds');
    if (!isPlace(part, MOST_PARTS)) throw outOfBounds('the number of a part is out of bounds');
  }

  #check(event: ReplyEvent): void {
    switch (event.type) {
      case 'part-start':
        this.#checkPlace(event.choice, event.part);
        this.#text = event.opens.type === 'text' ? event.part : -1;
        return;
      case 'part-end':
        this.#checkPlace(event.choice, event.part);
        if (event.part === this.#text) this.#text = -1;
        return;
      case 'part-delta':
      case 'part-transcript':
      case 'part-signature':
      case 'part-citation':
      case 'part-logprobs':
        this.#checkPlace(event.choice, event.part);
        return;
      case 'choice-end':
        if (!isPlace(event.choice, this.#mostChoices)) throw outOfBounds('the number of a choice is out of bounds');
        this.#hasChoiceEnded = true;
        return;
      case 'reply-start':
        // A wrong timestamp does not fail the reply; it is dropped.
        if (!isPlace(event.createdSeconds ?? 0, LAST_SECOND)) delete event.createdSeconds;
        return;
      case 'result':
        checkResult(event.result, this.#call);
        return;
      default:
    }
  }
}

/**
 * A reply of one text, in which words are missed and nothing else: a lost event may be the beginning of a tool call or a piece of its
 * arguments, and JSON with a hole in it is none.
 */
function isPlainText(call: Call): boolean {
  return call.kind === 'chat' && call.tools.length === 0 && !call.output && choicesOf(call) === 1;
}

function checkResult(result: ReplyResult, call: Call): void {
  if (result.type === 'vectors' && call.kind === 'embed') {
    const most = Math.max(call.inputs.length, 1);
    if (result.vectors.length > most) throw outOfBounds('more vectors than there are inputs');
    for (const { index } of result.vectors)
      if (!isPlace(index, most)) throw outOfBounds('the index of a vector is out of bounds');
  }
  if (result.type === 'ranking' && call.kind === 'rerank') {
    const most = call.documents.length;
    if (result.ranking.length > most) throw outOfBounds('more results than there are documents');
    for (const { index, score } of result.ranking) {
      if (!isPlace(index, most) || !Number.isFinite(score))
        throw outOfBounds('the index or score of a result is out of bounds');
    }
  }
}

const isPlace = (index: number, most: number) => Number.isInteger(index) && index >= 0 && index < most;

/** How many choices or images the call asks for. */
function choicesOf(call: Call): number {
  if (call.kind === 'image') return call.n;
  if (call.kind !== 'chat') return 1;
  const { sampling, completion } = call;
  return Math.max(sampling.n ?? 1, completion?.bestOf ?? 1, 1) * Math.max(completion?.prompts.length ?? 1, 1);
}

function outOfBounds(what: string): GatewayError {
  return new GatewayError('upstream_failed', `The provider sent a reply that breaks its format: ${what}.`);
}

function unreadable(cause: unknown): GatewayError {
  return new GatewayError('upstream_failed', 'The provider sent a reply that could not be read.', { cause });
}
