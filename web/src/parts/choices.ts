/** Which of many choices are shown: a list of thousands is searched, and never laid out as a whole. */

/** A choice: its value, and the text that is shown. */
export type Choice = readonly [value: string, text: string];

/** So many can be overlooked; more are searched. */
export const SEARCHED_FROM = 20;
/** Of a search, so many are shown. */
const MOST_SHOWN = 50;

/** Those whose text or value has what was typed, the best first: equal, then those that begin with it. */
export function found<C extends Choice>(choices: readonly C[], typed: string): { shown: readonly C[]; more: number } {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return { shown: choices.slice(0, MOST_SHOWN), more: Math.max(0, choices.length - MOST_SHOWN) };
  const ranks: C[][] = [[], [], []];
  for (const choice of choices) {
    const texts = choice.map((text) => text.toLowerCase());
    const has = (test: (text: string) => boolean) => texts.some(test);
    if (!has((text) => text.includes(wanted))) continue;
    const rank = has((text) => text === wanted) ? 0 : has((text) => text.startsWith(wanted)) ? 1 : 2;
    ranks[rank]?.push(choice);
  }
  const all = ranks.flat();
  return { shown: all.slice(0, MOST_SHOWN), more: Math.max(0, all.length - MOST_SHOWN) };
}

/** What the Enter key takes: the best choice, or what was typed where nothing has it, such as an id beyond the names that were read. */
export function taken(choices: readonly Choice[], typed: string): string | undefined {
  return found(choices, typed).shown[0]?.[0] ?? (typed.trim() || undefined);
}
