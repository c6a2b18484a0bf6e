/** What the sandbox takes for a token: a word with the blank before it, a mark, a stretch of blanks. */

const TOKEN = /\s?[\p{L}\p{N}_]{1,12}|\s?[^\s\p{L}\p{N}_]|\s+/gu;

/** The text in tokens; joined they are the text. */
export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}
