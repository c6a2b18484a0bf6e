/** Writes the parts of a reply. */
import { isObject, type JsonObject } from '../../../../canonical/json.ts';
import type { PartOpening, ReplyPart } from '../../../../canonical/reply.ts';
import { GEMINI } from '../../names.ts';
import { wrapFreeText } from '../../request/free-text.ts';
import { carriedSignature } from './signature.ts';

type CallOpening = Extract<PartOpening, { type: 'tool-call' }>;

/** A complete part. Returns an empty list for an empty part. */
export function writePart({ opens, content, transcript, signature }: ReplyPart): JsonObject[] {
  const signed = carriedSignature(signature);
  switch (opens.type) {
    case 'text':
    case 'refusal':
      return content === '' && !signature ? [] : [{ text: content, ...signed }];
    case 'reasoning':
      return content === '' && !signature ? [] : [{ text: content, thought: true, ...signed }];
    case 'tool-call':
      return [writeCallPart(opens, content, signed)];
    case 'image':
      return [{ inlineData: { mimeType: opens.mimeType, data: content }, ...signed }];
    case 'audio': {
      const words = transcript ? [{ text: transcript }] : [];
      if (content === '') return words;
      return [...words, { inlineData: { mimeType: audioType(opens), data: content }, ...signed }];
    }
    case 'native':
      return opens.dialect === GEMINI ? [opens.item] : [];
    default:
      return opens satisfies never;
  }
}

function writeCallPart({ id, name, custom }: CallOpening, input: string, signed: JsonObject): JsonObject {
  const args = custom ? wrapFreeText(input) : (argsOf(input) ?? { input });
  return { functionCall: { id, name, args }, ...signed };
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
