/**
 * Estimates the input tokens of a chat call, for token counting endpoints and for replies whose provider reported none.
 */
import type { ChatCall, Media, Part } from '../../../canonical/call.ts';

const BYTES_PER_TOKEN = 3;
const TOKENS_PER_TURN = 4;
const TOKENS_PER_IMAGE = 1500;
/** A PDF page has about 50 kB of base64 and 2,000 tokens. */
const BASE64_PER_TOKEN = 25;

export function estimateInputTokens(call: ChatCall): number {
  let tokens = 0;
  for (const message of call.messages) tokens += TOKENS_PER_TURN + tokensOfParts(message.parts);
  if (call.tools.length > 0) tokens += tokensOfText(JSON.stringify(call.tools));
  return Math.max(1, Math.ceil(tokens));
}

function tokensOfParts(parts: readonly Part[]): number {
  let tokens = 0;
  for (const part of parts) tokens += tokensOfPart(part);
  return tokens;
}

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return tokensOfText(part.text);
    case 'tool-call':
      return tokensOfText(part.name) + tokensOfText(part.input);
    case 'tool-result':
      return tokensOfParts(part.parts);
    case 'media':
      return tokensOfMedia(part.media);
    case 'native':
      return tokensOfText(JSON.stringify(part.item));
    default:
      return part satisfies never;
  }
}

function tokensOfMedia({ kind, source }: Media): number {
  if (kind === 'image' || source.type === 'url' || source.type === 'reference') return TOKENS_PER_IMAGE;
  return source.type === 'text' ? tokensOfText(source.text) : source.base64.length / BASE64_PER_TOKEN;
}

function tokensOfText(text: string): number {
  return Buffer.byteLength(text) / BYTES_PER_TOKEN;
}
