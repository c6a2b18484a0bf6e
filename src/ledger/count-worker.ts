/** Counts tokens in a thread of its own: loading the tokenizer takes half a second, and some texts take long. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { countText } from './count-text.ts';

declare const self: Worker;

export interface CountAsked {
  id: number;
  texts: readonly string[];
}

export interface CountAnswered {
  id: number;
  tokens: number[];
}

/** A text that names a special token is a text like any other. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

self.onmessage = ({ data: { id, texts } }: MessageEvent<CountAsked>) => {
  const tokens = texts.map((text) => countText(text, (piece) => countTokens(piece, AS_TEXT)));
  self.postMessage({ id, tokens } satisfies CountAnswered);
};
