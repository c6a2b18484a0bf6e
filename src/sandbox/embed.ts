/** The sandbox's embeddings: hashed n-grams. Similar texts have similar vectors, equal texts equal ones. */
import { GatewayError } from '../canonical/errors.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import { countTokens } from './tokens.ts';

export const EMBED_MODEL = 'sandbox-embed';

export interface EmbedRequest {
  texts: string[];
  dimensions: number;
  base64: boolean;
  tokens: number;
}

const DEFAULT_DIMENSIONS = 256;
/** The limits of OpenAI, and that of the numbers in a response, which is built in memory. */
const MOST = { inputs: 2048, inputTokens: 8192, tokens: 300_000, dimensions: 4096, numbers: 1 << 20 };
const NGRAM = 3;
/** A whole word weighs more than the letters that it shares with others. */
const WORD_WEIGHT = 2;

export function readEmbed(body: JsonObject): EmbedRequest {
  if (body.model !== EMBED_MODEL) {
    throw new GatewayError('model_not_found', `The model \`${body.model}\` does not exist.`, { param: 'model' });
  }
  const { input, dimensions, encoding_format: encoding } = body;
  const inputs = Array.isArray(input) ? input : [input];
  if (inputs.length === 0 || inputs.length > MOST.inputs)
    throw new GatewayError('invalid_request', `\`input\` must hold from 1 to ${MOST.inputs} texts.`, {
      param: 'input',
    });
  const texts = inputs.map(readText);
  if (
    dimensions != null &&
    !(Number.isInteger(dimensions) && Number(dimensions) >= 1 && Number(dimensions) <= MOST.dimensions)
  ) {
    throw new GatewayError('invalid_request', `\`dimensions\` must be a whole number from 1 to ${MOST.dimensions}.`, {
      param: 'dimensions',
    });
  }
  const length = typeof dimensions === 'number' ? dimensions : DEFAULT_DIMENSIONS;
  if (texts.length * length > MOST.numbers)
    throw new GatewayError('invalid_request', `The sandbox returns at most ${MOST.numbers} numbers at once.`, {
      param: 'input',
    });
  return { texts, dimensions: length, base64: encoding === 'base64', tokens: tokensIn(texts) };
}

function tokensIn(texts: readonly string[]): number {
  let sum = 0;
  for (const text of texts) {
    const tokens = countTokens(text, MOST.inputTokens);
    sum += tokens;
    if (tokens <= MOST.inputTokens && sum <= MOST.tokens) continue;
    const sentence = `\`input\` must have at most ${MOST.inputTokens} tokens in each text and ${MOST.tokens} in all.`;
    throw new GatewayError('invalid_request', sentence, { param: 'input' });
  }
  return sum;
}

function readText(text: Json | undefined): string {
  if (typeof text === 'string') return text;
  throw new GatewayError('invalid_request', 'The sandbox embeds texts: it has no token ids.', { param: 'input' });
}

/** The response as text, one vector at a time. */
export function* embedReply({ texts, dimensions, base64, tokens }: EmbedRequest): Generator<string> {
  yield '{"object":"list","data":[';
  for (const [index, text] of texts.entries()) {
    const vector = vectorOf(text, dimensions);
    const embedding = base64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    yield (index > 0 ? ',' : '') + JSON.stringify({ object: 'embedding', index, embedding });
  }
  yield `],"model":"${EMBED_MODEL}","usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
}

/** Normalized to length 1, so that the dot product is the cosine similarity. */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    add(vector, word, WORD_WEIGHT);
    const marked = ` ${word} `;
    for (let at = 0; at + NGRAM <= marked.length; at++) add(vector, marked.slice(at, at + NGRAM), 1);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

function add(vector: Float32Array, feature: string, weight: number): void {
  const hash = Bun.hash.xxHash32(feature);
  const place = hash % vector.length;
  // The sign prevents features with the same hash position from adding up.
  vector[place] = (vector[place] ?? 0) + (hash & 0x8000_0000 ? weight : -weight);
}
