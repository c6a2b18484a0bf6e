/** Texts that grow by small pieces, such as the text of a stream. */

/** A text is joined at least after so many characters (2 to the power of it), later after an eighth to a sixteenth of its length. */
const FIRST_BITS = 9;

/**
 * The text with one more piece. The engine keeps the pieces of a concatenation apart until one of its characters is needed, which takes some
 * 80 bytes for each: of an open stream it kept more than everything else.
 */
export function grown(text: string, piece: string): string {
  const whole = text + piece;
  const bits = Math.max(FIRST_BITS, 28 - Math.clz32(text.length));
  // Reading a character joins them; it is never negative.
  return text.length >> bits !== whole.length >> bits && whole.charCodeAt(0) < 0 ? '' : whole;
}
