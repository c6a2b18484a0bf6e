/** Estimates the input tokens of a call before it is sent. Fast, and rather too high than too low. */
import type { Call, ChatCall, Completion, EmbedCall, Media, Part, RerankCall } from '../../canonical/call.ts';

/** Estimated tokens by price category; documents and videos count as text. */
export interface InputEstimate {
  text: number;
  image: number;
  audio: number;
}

// Measured on recorded conversations (the test next to this file checks the error).
const BYTES_PER_TOKEN = 3;
/** Tokens of what a call adds to its text. */
const TOKENS = {
  /** Other scripts than ASCII take more tokens per byte: this many for each byte of a character beyond its first. */
  perWideByte: 0.25,
  /** Every conversation: the template and the provider's own system prompt. */
  call: 80,
  /** Instructions that are added with tools, or with a schema sent as a tool. */
  toolPrompt: 650,
  /** Search results are read as input. */
  search: 18_000,
  image: 1600,
  lowDetailImage: 300,
  heardPerSecond: 10,
};
/** Assumed size of media that the provider fetches. */
const UNSEEN_BYTES = 1_000_000;
const DOCUMENT = { bytesPerToken: 16, least: 3000, most: 250_000 };
const VIDEO = { bytesPerToken: 1000, least: 3000, most: 1_000_000 };
const UNPACKED_AUDIO = { bytesPerToken: 1000, least: 50, most: 300_000 };
const PACKED_AUDIO = { bytesPerToken: 125, least: 50, most: 300_000 };

/** A conservative estimate of the input in tokens, from lengths alone: no tokenizer is loaded. Never throws. */
export function estimateTokens(call: Call): InputEstimate {
  switch (call.kind) {
    case 'chat':
      return estimateConversation(call);
    case 'embed':
      return { text: tokensOfAll(call.inputs) + (call.media?.tokens ?? 0), image: 0, audio: 0 };
    case 'image':
      return {
        text: tokensOfAll([call.prompt]),
        image: (call.images.length + (call.mask ? 1 : 0)) * TOKENS.image,
        audio: 0,
      };
    case 'speech':
      return { text: tokensOfAll([call.input, call.instructions ?? '']), image: 0, audio: 0 };
    case 'moderation':
      return { text: tokensOfAll(call.texts), image: 0, audio: 0 };
    case 'transcription':
      return {
        text: tokensOfAll(call.fields.flatMap(([name, value]) => (name === 'prompt' ? [value] : []))),
        image: 0,
        audio: Math.ceil(call.length.mostSeconds * TOKENS.heardPerSecond),
      };
    case 'rerank':
      return { text: rankingTokens(call), image: 0, audio: 0 };
    default:
      return call satisfies never;
  }
}

/** Rerankers read the query with every document. */
function rankingTokens({ query, documents }: RerankCall): number {
  return tokensOfAll(documents) + tokensOfAll([query]) * documents.length;
}

function tokensOfAll(inputs: EmbedCall['inputs']): number {
  const seen = nothingSeen();
  let ids = 0;
  for (const input of inputs) {
    if (typeof input === 'string') seeText(seen, input);
    else ids += input.length;
  }
  // Each text has a marker at both ends.
  return Math.ceil(seen.bytes / BYTES_PER_TOKEN + seen.wideBytes * TOKENS.perWideByte) + ids + 2 * inputs.length;
}

function estimateConversation(call: ChatCall): InputEstimate {
  const seen = nothingSeen();
  for (const message of call.messages) seeParts(seen, message.parts);
  if (call.completion) seePrompts(seen, call.completion);
  // The client's own bytes contain everything except what the gateway added from earlier turns. Escapes and member names make up for what
  // the provider's template adds.
  const { body, bodyBytes = body.byteLength } = call.origin;
  const bytes = Math.max(bodyBytes - seen.inlineBytes, seen.bytes);
  const text = bytes / BYTES_PER_TOKEN + seen.wideBytes * TOKENS.perWideByte + seen.document + promptTokens(call);
  return { text: Math.ceil(text), image: seen.image, audio: seen.audio };
}

function seePrompts(seen: ContentSizes, { prompts }: Completion): void {
  for (const prompt of prompts) {
    if (typeof prompt === 'string') seeText(seen, prompt);
    else seen.bytes += prompt.length * BYTES_PER_TOKEN;
  }
}

interface ContentSizes {
  bytes: number;
  wideBytes: number;
  /** Length of base64 in the body that is not text for the model. */
  inlineBytes: number;
  image: number;
  audio: number;
  document: number;
}

function nothingSeen(): ContentSizes {
  return { bytes: 0, wideBytes: 0, inlineBytes: 0, image: 0, audio: 0, document: 0 };
}

function promptTokens(call: ChatCall): number {
  const asksForSchema = call.output?.type === 'json-schema';
  const tokens = TOKENS.call + (call.tools.length > 0 || asksForSchema ? TOKENS.toolPrompt : 0);
  for (const { type } of call.tools) if (type === 'web-search' || type === 'native') return tokens + TOKENS.search;
  return tokens;
}

function seeParts(seen: ContentSizes, parts: readonly Part[]): void {
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        seeText(seen, part.text);
        break;
      case 'tool-call':
        seeText(seen, part.input);
        break;
      case 'tool-result':
        seeParts(seen, part.parts);
        break;
      case 'media':
        seeMedia(seen, part.media);
        break;
      case 'native':
        break;
      default:
        part satisfies never;
    }
  }
}

function seeText(seen: ContentSizes, text: string): void {
  const bytes = Buffer.byteLength(text);
  seen.bytes += bytes;
  seen.wideBytes += bytes - text.length;
}

function seeMedia(seen: ContentSizes, media: Media): void {
  const { source } = media;
  if (source.type === 'text') {
    seeText(seen, source.text);
    return;
  }
  if (source.type === 'inline') seen.inlineBytes += source.base64.length;
  const bytes = source.type === 'inline' ? source.base64.length * 0.75 : UNSEEN_BYTES;
  const kind = countedKind(media);
  switch (kind) {
    case 'image':
      seen.image += media.detail === 'low' ? TOKENS.lowDetailImage : TOKENS.image;
      return;
    case 'audio':
      seen.audio += bySize(bytes, /wav|pcm|l16/.test(media.mimeType ?? '') ? UNPACKED_AUDIO : PACKED_AUDIO);
      return;
    case 'document':
      seen.document += bySize(bytes, DOCUMENT);
      return;
    case 'video':
      seen.document += bySize(bytes, VIDEO);
      return;
    default:
      kind satisfies never;
  }
}

/** Clients put PDFs and videos where a format has images, and some providers read them: they count as what they are. */
export function countedKind({ kind, mimeType = '' }: Pick<Media, 'kind' | 'mimeType'>): Media['kind'] {
  if (kind !== 'image') return kind;
  const [, type] = /^(video|audio)\//.exec(mimeType) ?? [];
  if (type) return type as 'video' | 'audio';
  return /^(text\/|application\/(?!octet-stream))/.test(mimeType) ? 'document' : 'image';
}

function bySize(bytes: number, of: { bytesPerToken: number; least: number; most: number }): number {
  return Math.min(of.most, Math.max(of.least, Math.ceil(bytes / of.bytesPerToken)));
}
