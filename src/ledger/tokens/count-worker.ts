/** The worker thread that counts tokens, because reading the vocabulary and some texts takes long. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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

const vocabulary = fileURLToPath(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'));
const countTokens = createByteCounter(readFileSync(vocabulary), O200K_TOKEN_SPLIT_REGEX);

self.onmessage = ({ data: { id, texts } }: MessageEvent<CountAsked>) => {
  const tokens = texts.map((text) => countText(text, countTokens));
  self.postMessage({ id, tokens } satisfies CountAnswered);
};
