/** The finished parts of a reply as the blocks a client reads. */
import type { ChatCall, Seal } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { PartOpening, ReplyPart } from '../../../canonical/reply.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { wrapFreeText } from '../request/free-text.ts';
import { shownCitation } from './citations.ts';
import { OF_TEXT, sealCarrier, shownThinking } from './thinking-blocks.ts';
import { legalToolId, legalToolName } from './tool-names.ts';

/** All blocks of a part: mostly one; none where it says nothing a client could read; a second one where its seal needs module. */
export function replyBlocks(call: ChatCall, part: ReplyPart): JsonObject[] {
  const block = replyBlock(part);
  const carrier = part.seal && carrierOf(call, part.opens, part.seal);
  return [...(block ? [block] : []), ...(carrier ? [carrier] : [])];
}

function replyBlock({ opens, content, transcript, seal, citations }: ReplyPart): JsonObject | undefined {
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
      return shownThinking(content, seal);
    case 'tool-call':
      return { ...callBlock(opens), input: opens.custom ? wrapFreeText(content) : inputOf(content) };
    case 'vendor':
      return opens.dialect === ANTHROPIC_MESSAGES ? opens.item : undefined;
    default:
      return opens satisfies never;
  }
}

/** Proofs of calls, and of text where the client asked for thinking: others would wonder at a block they did not expect. */
export function carrierOf({ reasoning }: ChatCall, opens: PartOpening, seal: Seal): JsonObject | undefined {
  if (opens.type === 'tool-call') return sealCarrier(seal, legalToolId(opens.id));
  const asked = reasoning !== undefined && reasoning.effort !== 'none';
  return opens.type === 'text' && asked ? sealCarrier(seal, OF_TEXT) : undefined;
}

export function callBlock({ id, name }: Extract<PartOpening, { type: 'tool-call' }>): JsonObject {
  return { type: 'tool_use', id: legalToolId(id), name: legalToolName(name), input: {} };
}

/** The format has no images in answers: clients show markdown. */
export function imageText(mimeType: string, base64: string): string {
  return base64 === '' ? '' : `![image](data:${mimeType};base64,${base64})`;
}

function textBlock(text: string, citations: Json[]): JsonObject | undefined {
  if (text === '' && citations.length === 0) return undefined;
  // Never null: the provider leaves the member out, and AI SDK 5 and 6 refuse the whole message at a null.
  return { type: 'text', text, ...(citations.length > 0 && { citations }) };
}

function inputOf(json: string): JsonObject {
  if (json.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return value;
  } catch {
    // What is no JSON is passed on as text.
  }
  return wrapFreeText(json);
}
