/** Blocks of lines that stand in more than one place, to the letter: one piece of code may serve them. */
import type { SourceFile } from './source-files.ts';

const LEAST_LINES = 6;
/** What stands in more places is how every file of its kind looks. */
const MOST_PLACES = 8;

/** One sentence for each pair of places with at least six equal lines; imports, comments and lines of mere punctuation do not count. */
export function repeatedBlocks(files: readonly SourceFile[]): string[] {
  const lines = files.flatMap((file) => [...linesThatCount(file)]);
  const runs = new Map<string, number[]>();
  for (let at = 0; at + LEAST_LINES <= lines.length; at++) {
    const run = lines.slice(at, at + LEAST_LINES);
    if (run[0]?.path !== run.at(-1)?.path) continue;
    const text = run.map((line) => line.text).join('\n');
    runs.set(text, [...(runs.get(text) ?? []), at]);
  }
  const pairs = [...runs.values()].flatMap((places) => (places.length > MOST_PLACES ? [] : pairsOf(places)));
  const known = new Set(pairs.map(String));
  // A run that continues one which began a line before is the same block.
  const begun = pairs.filter(([one, other]) => !known.has(`${one - 1},${other - 1}`));
  return begun.map(([one, other]) => `${lines[one]?.place} ~ ${lines[other]?.place}`);
}

function* linesThatCount({ path, text }: SourceFile) {
  const code = text.replace(/^import [^;]*;/gm, (all) => all.replace(/[^\n]/g, ''));
  for (const [index, line] of code.split('\n').entries()) {
    const trimmed = line.trim();
    if (/\w/.test(trimmed) && !/^(\/\/|\/?\*)/.test(trimmed))
      yield { text: trimmed, place: `${path}:${index + 1}`, path };
  }
}

function pairsOf(places: readonly number[]): (readonly [number, number])[] {
  return places.flatMap((one, index) => places.slice(index + 1).map((other) => [one, other] as const));
}
