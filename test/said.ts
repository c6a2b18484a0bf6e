/** What a model says, free of any provider's format. */
export interface Said {
  thought?: string;
  texts?: readonly string[];
  /** Gemini's calls need no id. */
  calls?: readonly { id: string; name: string; args: object }[];
  /** Pages of the web that the text rests on, all of it. */
  sources?: readonly { url: string; title: string }[];
  /** Why it ends where it does not end by itself: out of tokens, held back, or at a stop sequence. */
  ends?: 'length' | 'filtered' | { stop: string };
  /** `USED` tokens unless told. */
  tokens?: Tokens;
}

/** Cached input is part of the input, reasoning part of the output. */
export interface Tokens {
  input: number;
  cachedInput: number;
  output: number;
  reasoning: number;
}

export const FEW: Tokens = { input: 11, cachedInput: 0, output: 7, reasoning: 0 };

/** The provider's word for the end of a reply. */
export function endOf<Word extends string | undefined>(
  { calls = [], ends }: Said,
  words: { over: Word; calls: Word; length: Word; filtered: Word; stop: Word },
): Word {
  if (typeof ends === 'object') return words.stop;
  if (ends !== undefined) return words[ends];
  return calls.length > 0 ? words.calls : words.over;
}
