/** The output of a model, independent of any provider's format. */
export interface ModelOutput {
  thought?: string;
  texts?: readonly string[];
  /** Gemini's calls need no id. */
  calls?: readonly { id: string; name: string; args: object }[];
  /** Web pages that support the whole text. */
  sources?: readonly { url: string; title: string }[];
  /** The finish reason, if it does not end by itself: token limit, filter, or a stop sequence. */
  ends?: 'length' | 'filtered' | { stop: string };
  /** `USED` tokens by default. */
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

/** The provider's finish reason. */
export function endOf<Word extends string | undefined>(
  { calls = [], ends }: ModelOutput,
  words: { over: Word; calls: Word; length: Word; filtered: Word; stop: Word },
): Word {
  if (typeof ends === 'object') return words.stop;
  if (ends !== undefined) return words[ends];
  return calls.length > 0 ? words.calls : words.over;
}
