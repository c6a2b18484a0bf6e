/** Names that people gave, of any script. Pure. */

/** What sets or overrides a direction: inside of a sentence it would turn the words around it. */
export const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
/** Hebrew, Arabic and their neighbours, and their older forms. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufefc]/;

const ISOLATE = '\u2068';
const END = '\u2069';

/** A name as a part of a sentence: one of the other direction stays on its own. */
export function isolated(name: string): string {
  const plain = name.replace(DIRECTIONS, '');
  return RIGHT_TO_LEFT.test(plain) ? ISOLATE + plain + END : plain;
}
