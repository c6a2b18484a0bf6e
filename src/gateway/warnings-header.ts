/** What a translation dropped or approximated, as the value of `x-modelport-warnings`. */

const MOST_CHARACTERS = 4000;

/** Header values are printable ASCII and of bounded length. */
export function warningsHeader(warnings: readonly string[]): string {
  return warnings
    .join(' ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MOST_CHARACTERS);
}
