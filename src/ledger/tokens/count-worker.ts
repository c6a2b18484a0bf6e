/** The worker thread that counts tokens, because reading the vocabulary and some texts takes long. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import vocabulary from 'gpt-tokenizer/data/o200k_base.tiktoken' with { type: 'file' };
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { createByteCounter } from './byte-pairs.ts';
import { countText } from './count-text.ts';

declare const self: Worker;

/** The message to the worker. `id` is returned with the answer. */
export interface CountRequest {
  id: number;
  texts: readonly string[];
}

/** The tokens of each text, in the order of the texts. */
export interface CountResult {
  id: number;
  tokens: number[];
}

// In a bundle the path is relative to this program, which is the main file of its thread.
const path = resolve(dirname(Bun.main), vocabulary);
const countTokens = createByteCounter(readFileSync(path), O200K_TOKEN_SPLIT_REGEX);

self.onmessage = ({ data: { id, texts } }: MessageEvent<CountRequest>) => {
  const tokens = texts.map((text) => countText(text, countTokens));
  self.postMessage({ id, tokens } satisfies CountResult);
};
