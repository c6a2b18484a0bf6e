/** Writes the parts of a reply. */
import { isObject, type JsonObject } from '../../../../canonical/json.ts';
import type { PartOpening, ReplyPart } from '../../../../canonical/reply.ts';
import { GEMINI } from '../../names.ts';
import { wrapFreeText } from '../../request/free-text.ts';
import { carriedSignature } from './signature.ts';

type CallOpening = Extract<PartOpening, { type: 'tool-call' }>;

/** A complete part. Returns an empty list for an empty part. */
export function writePart({ opens, content, transcript, seal }: ReplyPart): JsonObject[] {
  const signature = carriedSignature(seal);
  switch (opens.type) {
    case 'text':
    case 'refusal':
      return content === '' && !seal ? [] : [{ text: content, ...signature }];
    case 'reasoning':
      return content === '' && !seal ? [] : [{ text: content, thought: true, ...signature }];
    case 'tool-call':
      return [writeCallPart(opens, content, signature)];
    case 'image':
      return [{ inlineData: { mimeType: opens.mimeType, data: content }, ...signature }];
    case 'audio': {
      const words = transcript ? [{ text: transcript }] : [];
      if (content === '') return words;
      return [...words, { inlineData: { mimeType: audioType(opens), data: content }, ...signature }];
    }
    case 'vendor':
      return opens.dialect === GEMINI ? [opens.item] : [];
    default:
      return opens satisfies never;
  }
}

export function writeCallPart({ id, name, custom }: CallOpening, input: string, signature: JsonObject): JsonObject {
  const args = custom ? wrapFreeText(input) : (argsOf(input) ?? { input });
  return { functionCall: { id, name, args }, ...signature };
}

/** The arguments as an object. Returns `undefined` if they are not an object or incomplete. */
export function argsOf(input: string): JsonObject | undefined {
  if (input.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(input);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function audioType({ mimeType }: Extract<PartOpening, { type: 'audio' }>): string {
  return mimeType === undefined || mimeType === 'audio/pcm' ? 'audio/L16;codec=pcm;rate=24000' : mimeType;
}
