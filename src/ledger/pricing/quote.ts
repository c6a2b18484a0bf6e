/** Computes the maximum cost of a call: its estimated input and its requested output, each at the highest rate that may apply. */

import type { Call, ChatCall, ImageCall, Part, SpeechCall, TranscriptionCall } from '../../canonical/call.ts';
import { entryOf } from '../../canonical/entry-of.ts';
import { pixelsOf } from '../../canonical/image-size.ts';
import { type Money, type Pico, RateSum, roundUp, timesFactor } from '../../canonical/money.ts';
import type { Price, TokenRates } from '../../canonical/price.ts';
import { estimateTokens, type InputEstimate } from '../tokens/estimate-tokens.ts';
import { ratesFor } from './charge.ts';
import { askedPiece, highestPiece } from './pieces.ts';

/** Additional maximum usage that the gateway derives from the request, for each choice or image. */
export interface Extras {
  /** Output tokens beyond the limit. */
  readonly output: number;
  /** Additional input tokens for each given image. */
  readonly imageInput: number;
  readonly imageOutput: number;
  /** Images that a conversation may generate with a tool. */
  readonly images: number;
  /** Tool calls that the provider may make, and those that it always makes and does not report. */
  readonly toolCalls: number;
  readonly certainCalls: number;
}

/** The maximum cost of these extras. */
export function quoteExtras(extras: Extras, call: Call, price: Price): Money {
  const atList = listExtras(extras, call, price);
  return price.factor === undefined ? atList : timesFactor(atList, price.factor);
}

function listExtras(extras: Extras, call: Call, price: Price): Money {
  const sum = new RateSum();
  const image = call.kind === 'image';
  const handedOver = image ? call.images.length + (call.mask ? 1 : 0) : 0;
  if (call.kind === 'chat') sum.add(extras.output, outputRate(call, highestRates(price)));
  sum.add(extras.imageInput * handedOver, highest(price.input ?? 0n, price.imageInput));
  sum.add(extras.imageOutput, highest(price.output ?? 0n, price.imageOutput));
  const piece = highestImage(price);
  if (piece === 0n) sum.add(extras.images * FINEST_IMAGE_TOKENS, price.imageOutput ?? 0n);
  // One image is included in the quote of every conversation with a model that has such a price.
  const pieces = BigInt(Math.max(0, extras.images - 1)) * piece;
  const tools = pieces + BigInt(extras.toolCalls) * (price.perToolCall ?? 0n);
  const used = extras.toolCalls > 0 ? (price.perToolUse ?? 0n) : 0n;
  return times(choices(call), sum.total() + tools + used);
}

/** The highest rates of all tiers. */
function highestRates(price: Price): TokenRates {
  const outputs = [price, ...(price.tiers ?? [])];
  const most = (rate: 'output' | 'reasoning' | 'imageOutput' | 'audioOutput') =>
    outputs.reduce<Pico | undefined>((top, one) => ((one[rate] ?? 0n) > (top ?? 0n) ? one[rate] : top), undefined);
  const [output, reasoning, imageOutput, audioOutput] = [
    most('output'),
    most('reasoning'),
    most('imageOutput'),
    most('audioOutput'),
  ];
  return {
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    ...(imageOutput !== undefined && { imageOutput }),
    ...(audioOutput !== undefined && { audioOutput }),
  };
}

/** Input tokens of all kinds. */
export function allTokens({ text, image, audio }: InputEstimate): number {
  return text + image + audio;
}

/** `ceiling`: the output tokens assumed if the call names no limit. */
export function quote(call: Call, price: Price, ceiling: number, estimate = estimateTokens(call)): Money {
  const atList = listQuote(call, price, ceiling, estimate);
  return price.factor === undefined ? atList : timesFactor(atList, price.factor);
}

/** Without the factor of a price group. */
export function listQuote(call: Call, price: Price, ceiling: number, estimate = estimateTokens(call)): Money {
  if (call.kind === 'chat') return quoteConversation(call, price, ceiling, estimate);
  if (call.kind === 'image') return quoteImages(call, price, estimate);
  if (call.kind === 'transcription') return quoteTranscription(call, price, estimate);
  if (call.kind === 'speech') return quoteSpeech(call, price, estimate);
  const { text } = estimate;
  const pico = BigInt(text) * (ratesFor(price, text).input ?? 0n) + charactersOf(call) * (price.perCharacter ?? 0n);
  return roundUp(pico) + searches(call) * (price.perCall ?? 0n);
}

function charactersOf(call: Call): bigint {
  if (call.kind !== 'embed') return 0n;
  return BigInt(call.inputs.reduce((sum, input) => sum + (typeof input === 'string' ? input.length : 0), 0));
}

/** For providers that price reranking by searches: this many documents are one search, and a long document counts as several. */
const DOCUMENTS_A_SEARCH = 100;
const DOCUMENT_BYTES = 1500;

function searches(call: Call): bigint {
  if (call.kind !== 'rerank') return 1n;
  const documents = call.documents.reduce(
    (sum, text) => sum + Math.max(1, Math.ceil(Buffer.byteLength(text) / DOCUMENT_BYTES)),
    0,
  );
  return BigInt(Math.ceil(documents / DOCUMENTS_A_SEARCH));
}

/** The maximum of output tokens of a choice: the requested limit, otherwise `most`, the model's own. */
export function outputCeiling(call: Call, most: number): number {
  return call.kind === 'chat' ? (call.maxOutputTokens ?? most) : 0;
}

/** Some providers have this minimum: a lower limit is sent as this. */
const LEAST_CEILING = 16;

function quoteConversation(call: ChatCall, price: Price, ceiling: number, estimate: InputEstimate): Money {
  const { text, image: imageInput, audio } = estimate;
  const rates = ratesFor(price, text + imageInput + audio);
  // Whether the provider writes its cache is not known in advance.
  const inputRate = highest(rates.input ?? 0n, rates.cacheWrite, rates.cacheWriteHour);
  // Several choices may become several upstream calls, each with the whole input.
  const sendings = Math.max(call.sampling.n ?? 1, call.completion?.bestOf ?? 1);
  const sum = new RateSum();
  sum.add(text, times(sendings, inputRate));
  if (imageInput > 0) sum.add(imageInput, times(sendings, highest(inputRate, rates.imageInput)));
  if (audio > 0) sum.add(audio, times(sendings, highest(inputRate, rates.audioInput)));
  const many = choices(call);
  sum.add(Math.max(LEAST_CEILING, call.maxOutputTokens ?? ceiling), times(many, outputRate(call, rates)));
  let most = sum.total();
  if (price.perCall !== undefined) most += price.perCall;
  if (price.images || price.perImage) most += times(many, highestImage(price));
  if (price.perInputImage) most += times(many, price.perInputImage * BigInt(imagesIn(call)));
  return most;
}

function times(count: number, amount: bigint): bigint {
  return count === 1 ? amount : BigInt(count) * amount;
}

/** The maximum of tokens of an image by requested quality, if images are billed by the token. */
const IMAGE_TOKENS: { readonly [quality: string]: number } = { low: 500, standard: 2000, medium: 2000 };
const FINEST_IMAGE_TOKENS = 7000;

/** The largest image that these figures apply to. */
const COUNTED_PIXELS = 1536 * 1024;

function imageTokens({ quality = '', size }: ImageCall): number {
  const { width, height } = pixelsOf(size) ?? { width: 1, height: 1 };
  const times = Math.max(1, (width * height) / COUNTED_PIXELS);
  return Math.ceil((entryOf(IMAGE_TOKENS, quality) ?? FINEST_IMAGE_TOKENS) * times);
}

function quoteImages(call: ImageCall, price: Price, { text, image: imageInput }: InputEstimate): Money {
  const input = price.input ?? 0n;
  const each = imageTokens(call);
  const pico =
    BigInt(text) * input +
    BigInt(imageInput) * highest(input, price.imageInput) +
    BigInt(each * call.n) * highest(price.output ?? 0n, price.imageOutput);
  const image = highestPiece(price.images, price.perImage, askedPiece(call));
  // If a provider generates one image per call, each call gets all given images.
  const handedOver = BigInt(call.images.length) * (price.perInputImage ?? 0n);
  return roundUp(pico) + (price.perCall ?? 0n) + BigInt(call.n) * (image + handedOver);
}

/** Slow speech, and the highest price of a second when it is billed by the token. */
const BYTES_PER_SECOND = 6;
const TOKENS_PER_SECOND = 30;

function quoteSpeech(call: SpeechCall, price: Price, { text }: InputEstimate): Money {
  const seconds = BigInt(
    Math.ceil(2 + Buffer.byteLength(call.input) / BYTES_PER_SECOND / Math.min(call.speed ?? 1, 1)),
  );
  const pico =
    BigInt(text) * (price.input ?? 0n) +
    seconds * BigInt(TOKENS_PER_SECOND) * highest(price.output ?? 0n, price.audioOutput) +
    BigInt(call.input.length) * (price.perCharacter ?? 0n);
  return roundUp(pico) + (price.perCall ?? 0n) + seconds * (price.perSecond ?? 0n);
}

/** Fast speech. */
const SPOKEN_TOKENS_PER_SECOND = 8;

function quoteTranscription(call: TranscriptionCall, price: Price, { text, audio }: InputEstimate): Money {
  const seconds = BigInt(Math.ceil(call.length.mostSeconds));
  const pico =
    BigInt(text) * (price.input ?? 0n) +
    BigInt(audio) * highest(price.input ?? 0n, price.audioInput) +
    (seconds + 1n) * BigInt(SPOKEN_TOKENS_PER_SECOND) * (price.output ?? 0n);
  return roundUp(pico) + (price.perCall ?? 0n) + seconds * (price.perSecond ?? 0n);
}

/** All output counts against the ceiling, so all of it may have the highest rate. */
function outputRate(call: ChatCall, rates: TokenRates): Pico {
  const text = highest(rates.output ?? 0n, rates.reasoning);
  // An image model may generate images that were not requested.
  if (!call.modalities) return highest(text, rates.imageOutput);
  const audio = call.modalities.includes('audio') ? rates.audioOutput : undefined;
  return highest(text, audio, call.modalities.includes('image') ? rates.imageOutput : undefined);
}

/** Input images of a model that only generates images. */
function imagesIn({ messages }: ChatCall): number {
  const isImage = (part: Part) => part.type === 'media' && part.media.kind === 'image';
  return messages.reduce((sum, { parts }) => sum + parts.filter(isImage).length, 0);
}

/** In a conversation, size and quality of images are not known in advance. */
function highestImage({ images, perImage = 0n }: Price): Money {
  let most = perImage;
  if (images) for (const { price } of images) most = highest(most, price);
  return most;
}

/** How many texts the model generates. */
export function choices(call: Call): number {
  if (call.kind === 'image') return call.n;
  if (call.kind !== 'chat') return 1;
  const { sampling, completion } = call;
  const n = Math.max(sampling.n ?? 1, completion?.bestOf ?? 1);
  return n * Math.max(completion?.prompts.length ?? 1, 1);
}

function highest(first: Pico, second: Pico | undefined, third?: Pico): Pico {
  const most = second !== undefined && second > first ? second : first;
  return third !== undefined && third > most ? third : most;
}
