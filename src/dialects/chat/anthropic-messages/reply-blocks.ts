/** Writes the finished parts of a reply as blocks. */
import type { ChatCall, ReasoningSignature } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { PartOpening, ReplyPart } from '../../../canonical/reply.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { wrapFreeText } from '../request/free-text.ts';
import { shownCitation } from './citations.ts';
import { OF_TEXT, shownThinking, signatureCarrier } from './thinking-blocks.ts';
import { legalToolId, legalToolName } from './tool-names.ts';

/**
 * The blocks of a part: usually one; none if it has nothing for the client; two if its signature needs a block of its
 * own.
 */
export function replyBlocks(call: ChatCall, part: ReplyPart): JsonObject[] {
  const block = replyBlock(part);
  const carrier = part.signature && carrierOf(call, part.opens, part.signature);
  return [...(block ? [block] : []), ...(carrier ? [carrier] : [])];
}

function replyBlock({ opens, content, transcript, signature, citations }: ReplyPart): JsonObject | undefined {
  switch (opens.type) {
    case 'text': {
      const shown: Json[] = [];
      for (const citation of citations ?? []) {
        const item = shownCitation(citation);
        if (item !== undefined) shown.push(item);
      }
      return textBlock(content, shown);
    }
    case 'refusal':
      return textBlock(content, []);
    case 'audio':
      return textBlock(transcript ?? '', []);
    case 'image':
      return textBlock(imageText(opens.mimeType, content), []);
    case 'reasoning':
      return shownThinking(content, signature);
    case 'tool-call':
      return { ...callBlock(opens), input: opens.custom ? wrapFreeText(content) : inputOf(content) };
    case 'native':
      return opens.dialect === ANTHROPIC_MESSAGES ? opens.item : undefined;
    default:
      return opens satisfies never;
  }
}

/**
 * Signatures of tool calls; and of text, only if the client requested thinking: other clients do not expect an extra
 * block.
 */
export function carrierOf(
  { reasoning }: ChatCall,
  opens: PartOpening,
  signature: ReasoningSignature,
): JsonObject | undefined {
  if (opens.type === 'tool-call') return signatureCarrier(signature, legalToolId(opens.id));
  const asked = reasoning !== undefined && reasoning.effort !== 'none';
  return opens.type === 'text' && asked ? signatureCarrier(signature, OF_TEXT) : undefined;
}

export function callBlock({ id, name }: Extract<PartOpening, { type: 'tool-call' }>): JsonObject {
  return { type: 'tool_use', id: legalToolId(id), name: legalToolName(name), input: {} };
}

/** The format has no images in replies. Clients render Markdown. */
export function imageText(mimeType: string, base64: string): string {
  return base64 === '' ? '' : `![image](data:${mimeType};base64,${base64})`;
}

function textBlock(text: string, citations: Json[]): JsonObject | undefined {
  if (text === '' && citations.length === 0) return undefined;
  // Omitted, never null, as the provider does it: AI SDK 5 and 6 reject a message with null.
  return { type: 'text', text, ...(citations.length > 0 && { citations }) };
}

function inputOf(json: string): JsonObject {
  if (json.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return value;
  } catch {
    // Not JSON: passed on as text.
  }
  return wrapFreeText(json);
}
