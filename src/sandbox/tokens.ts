/** What the sandbox takes for a token: a word with the blank before it, a mark, a stretch of blanks. */

const TOKEN = /\s?[\p{L}\p{N}_]{1,12}|\s?[^\s\p{L}\p{N}_]|\s+/gu;

/** The text in tokens, one at a time; joined they are the text. */
export function* tokensOf(text: string): Generator<string> {
  for (const [token] of text.matchAll(TOKEN)) yield token;
}

/** How many tokens the text has. Counting stops above `most`: a long text costs no more than what is asked. */
export function countTokens(text: string, most = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (const _ of text.matchAll(TOKEN)) if (++count > most) break;
  return count;
}
