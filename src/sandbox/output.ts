/** Output as it is taken: tokens without end, stop sequences and the ceiling, all one token at a time. */
import { tokensOf } from './tokens.ts';

/** The most that a model of the sandbox says in one choice, as its row in the catalog has it. */
export const MOST_OUTPUT_TOKENS = 4096;
/** The most that all choices of one call say together: a reply that is not streamed is held in memory whole. */
const MOST_TOGETHER = 65_536;

/** What one choice may say, where the call asks for `asked` tokens and has so many choices. */
export function ceilingOf(asked: number | undefined, choices: number): number {
  return Math.min(asked ?? MOST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS, Math.floor(MOST_TOGETHER / Math.max(1, choices)));
}

/** The text's tokens, continued until it has so many words. */
export function* tokensOfAtLeast(text: string, words: number): Generator<string> {
  yield* tokensOf(text);
  for (let word = text.split(/\s+/).length + 1; word <= words; word++) {
    yield ' word';
    yield ` ${word}`;
  }
}

/** The tokens up to the first of these sequences; returns the one that it is. */
export function* untilStop(tokens: Iterable<string>, stops: readonly string[]): Generator<string, string | undefined> {
  const longest = Math.max(0, ...stops.map((stop) => stop.length));
  if (longest === 0) {
    yield* tokens;
    return undefined;
  }
  // Held back: as much as may be the beginning of a stop sequence.
  const held: string[] = [];
  let text = '';
  for (const token of tokens) {
    held.push(token);
    text += token;
    const met = firstOf(stops, text);
    if (met) {
      yield* tokensOf(text.slice(0, met.at));
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

/** What one choice may still say: over its thoughts first, then over its text or the input of its calls. */
export class Allowance {
  /** Tokens said so far. */
  spent = 0;
  /** There was more to say than the ceiling allows. */
  isOver = false;
  private readonly ceiling: number;

  constructor(ceiling: number) {
    this.ceiling = ceiling;
  }

  /** Whether nothing more may be said. */
  get isSpent(): boolean {
    return this.spent >= this.ceiling;
  }

  /** As many of the tokens as may be said; returns what their source returns, where it ended by itself. */
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
