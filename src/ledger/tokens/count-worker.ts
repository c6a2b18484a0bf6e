/** The worker thread that counts tokens, because reading the vocabulary and some texts takes long. */
import { readFileSync } from 'node:fs';
import vocabulary from 'gpt-tokenizer/data/o200k_base.tiktoken' with { type: 'file' };
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { createByteCounter } from './byte-pairs.ts';
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

const countTokens = createByteCounter(readFileSync(vocabulary), O200K_TOKEN_SPLIT_REGEX);

self.onmessage = ({ data: { id, texts } }: MessageEvent<CountAsked>) => {
  const tokens = texts.map((text) => countText(text, countTokens));
  self.postMessage({ id, tokens } satisfies CountAnswered);
};
