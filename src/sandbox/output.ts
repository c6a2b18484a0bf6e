/** Limits output while it is read, token by token: stop sequences and the token limit. */
import { tokensIn } from './tokens.ts';

/** The maximum of output tokens of a choice, as in the catalogue. */
export const MOST_OUTPUT_TOKENS = 4096;
/** The maximum of all choices of a call together: a non-streaming response is built in memory. */
const MOST_TOGETHER = 65_536;

/** The token limit of a choice, for the requested limit and this number of choices. */
export function ceilingOf(asked: number | undefined, choices: number): number {
  return Math.min(asked ?? MOST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS, Math.floor(MOST_TOGETHER / Math.max(1, choices)));
}

/** The tokens of the text, continued until it has this many words. */
export function* tokensOfAtLeast(text: string, words: number): Generator<string> {
  yield* tokensIn(text);
  for (let word = text.split(/\s+/).length + 1; word <= words; word++) {
    yield ' word';
    yield ` ${word}`;
  }
}

/** The tokens before the first of these sequences; returns that sequence. */
export function* untilStop(tokens: Iterable<string>, stops: readonly string[]): Generator<string, string | undefined> {
  const longest = Math.max(0, ...stops.map((stop) => stop.length));
  if (longest === 0) {
    yield* tokens;
    return undefined;
  }
  // Tokens held back because they may be the beginning of a stop sequence.
  const held: string[] = [];
  let text = '';
  for (const token of tokens) {
    held.push(token);
    text += token;
    const met = firstOf(stops, text);
    if (met) {
      yield* tokensIn(text.slice(0, met.at));
      return met.stop;
    }
    while (text.length - (held[0]?.length ?? 0) >= longest) {
      const first = held.shift() ?? '';
      text = text.slice(first.length);
      yield first;
    }
  }
  yield* held;
  return undefined;
}

function firstOf(stops: readonly string[], text: string): { stop: string; at: number } | undefined {
  let first: { stop: string; at: number } | undefined;
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop);
    if (at >= 0 && (!first || at < first.at)) first = { stop, at };
  }
  return first;
}

/** What remains of a choice's token limit: for its reasoning first, then for text or tool calls. */
export class OutputTokens {
  /** Tokens used so far. */
  spent = 0;
  /** The output was longer than the limit. */
  isOver = false;
  private readonly ceiling: number;

  constructor(ceiling: number) {
    this.ceiling = ceiling;
  }

  /** Whether the limit is used up. */
  get isSpent(): boolean {
    return this.spent >= this.ceiling;
  }

  /** Passes tokens on up to the limit. Returns what the source returns if it ends by itself. */
  *take<R>(tokens: Iterator<string, R>): Generator<string, R | undefined> {
    for (let next = tokens.next(); ; next = tokens.next()) {
      if (next.done) return next.value;
      if (this.isSpent) {
        this.isOver = true;
        tokens.return?.();
        return undefined;
      }
      this.spent++;
      yield next.value;
    }
  }
}
