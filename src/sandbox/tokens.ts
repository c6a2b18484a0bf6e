/** The sandbox's tokenizer: a token is a word with the preceding space, a punctuation mark, or a run of white space. */

const TOKEN = /\s?[\p{L}\p{N}_]{1,12}|\s?[^\s\p{L}\p{N}_]|\s+/gu;

/** The tokens of a text, one at a time. Joined they are the text. */
export function* tokensIn(text: string): Generator<string> {
  for (const [token] of text.matchAll(TOKEN)) yield token;
}

/** The number of tokens. Counting stops above `most`, to bound its cost for long texts. */
export function countTokens(text: string, most = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (const _ of text.matchAll(TOKEN)) if (++count > most) break;
  return count;
}
