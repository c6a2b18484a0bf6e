/** Writes parts as the blocks of a request. What a block cannot express is added to the losses. */

import type {
  CacheMark,
  Media,
  MediaPart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { documentType } from '../request/document-type.ts';
import { wrapFreeText } from '../request/free-text.ts';
import { inputObject } from '../request/tools.ts';
import type { PartPlace } from '../request/turns.ts';
import { ownCitation } from './citations.ts';
import { signedThinking } from './thinking-blocks.ts';
import { legalToolId, legalToolName } from './tool-names.ts';

export function writeParts(parts: readonly Part[], place: PartPlace, losses: Set<string>): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    const block = writePart(part, place, losses);
    if (block) blocks.push(block);
  }
  return blocks;
}

/** Writes a part as a block; `undefined` if it is empty or not allowed in this turn. */
function writePart(part: Part, place: PartPlace, losses: Set<string>): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return writeText(part, place, losses);
    case 'refusal':
      return writeText({ type: 'text', text: part.text }, place, losses);
    case 'media':
      return writeMedia(part, place, losses);
    case 'reasoning': {
      const block = place === 'assistant' ? signedThinking(part) : undefined;
      if (!block) losses.add('Earlier thinking was dropped: the model accepts only thinking that it signed itself.');
      return block;
    }
    case 'tool-call':
      return writeCallBlock(part, losses);
    case 'tool-result':
      return writeResult(part, losses);
    case 'native':
      if (part.dialect === ANTHROPIC_MESSAGES) return { ...part.item };
      if (!part.isReadElsewhere) losses.add(`A block that only ${part.dialect} knows was dropped.`);
      return undefined;
    default:
      return part satisfies never;
  }
}

/** The provider rejects a text without visible characters. */
function writeText(
  { text, citations, cache }: TextPart,
  place: PartPlace,
  losses: Set<string>,
): JsonObject | undefined {
  if (text.trim() === '') return undefined;
  const block: JsonObject = { type: 'text', text };
  if (citations) {
    const own = place === 'assistant' ? citations.flatMap((citation) => ownCitation(citation) ?? []) : [];
    if (own.length < citations.length)
      losses.add('Citations in earlier turns were dropped: the model accepts only its own.');
    if (own.length > 0) block.citations = own;
  }
  return marked(block, cache);
}

function writeCallBlock({ id, name, input, custom, cache }: ToolCallPart, losses: Set<string>): JsonObject {
  const value = custom ? wrapFreeText(input) : inputObject(input, losses);
  return marked({ type: 'tool_use', id: legalToolId(id), name: legalToolName(name), input: value }, cache);
}

function writeResult({ callId, parts, failed, cache }: ToolResultPart, losses: Set<string>): JsonObject {
  const blocks = writeParts(
    parts.filter((part) => part.type !== 'tool-result'),
    'result',
    losses,
  );
  const [only] = blocks;
  const isPlain = blocks.length === 1 && only?.type === 'text' && only.cache_control === undefined;
  const result: JsonObject = { type: 'tool_result', tool_use_id: legalToolId(callId) };
  if (blocks.length > 0) result.content = isPlain ? (only.text ?? '') : blocks;
  if (failed) result.is_error = true;
  return marked(result, cache);
}

function writeMedia({ media, cache }: MediaPart, place: PartPlace, losses: Set<string>): JsonObject | undefined {
  if (place === 'assistant' || place === 'system') {
    losses.add(`A ${media.kind} in the ${place}'s turn was dropped: the model only reads media in user turns.`);
    return undefined;
  }
  switch (media.kind) {
    case 'image':
      if (media.detail !== undefined && media.detail !== 'auto') losses.add('`detail` of an image was dropped.');
      return marked({ type: 'image', source: imageSource(media) }, cache);
    case 'document':
      return writeDocument(media, cache);
    case 'audio':
    case 'video':
      throw unreadable(`This model cannot read ${media.kind}: send text, images or documents.`);
    default:
      return media.kind satisfies never;
  }
}

// The first bytes of image types. The provider checks the image and rejects a wrong media type.
const IMAGE_BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

function imageSource({ source, mimeType }: Media): JsonObject {
  switch (source.type) {
    case 'inline': {
      const seen = IMAGE_BEGINNINGS.find(([beginning]) => source.base64.startsWith(beginning))?.[1];
      return { type: 'base64', media_type: seen ?? mimeType ?? 'image/png', data: source.base64 };
    }
    case 'url':
      return { type: 'url', url: source.url };
    case 'reference':
      return fileSource(source);
    case 'text':
      throw unreadable('An image must be inline data or a URL.');
    default:
      return source satisfies never;
  }
}

function writeDocument(media: Media, cache: CacheMark | undefined): JsonObject | undefined {
  const source = documentSource(media);
  if (!source) return undefined;
  const title = media.title ?? media.name;
  const block: JsonObject = { type: 'document', source };
  if (title !== undefined) block.title = title;
  if (media.context !== undefined) block.context = media.context;
  if (media.cite) block.citations = { enabled: true };
  return marked(block, cache);
}

const PDF_BEGINNING = 'JVBERi';
const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|x-ndjson|sql)|.*\+(json|xml)$)/;

function documentSource(media: Media): JsonObject | undefined {
  const { source } = media;
  switch (source.type) {
    case 'inline': {
      const mimeType = documentType(media) ?? '';
      if (mimeType === 'application/pdf' || source.base64.startsWith(PDF_BEGINNING)) {
        return { type: 'base64', media_type: 'application/pdf', data: source.base64 };
      }
      if (TEXT_TYPES.test(mimeType)) return plainText(Buffer.from(source.base64, 'base64').toString());
      throw unreadable('This model reads documents only as PDF or text.');
    }
    case 'text':
      return plainText(source.text);
    case 'url':
      return { type: 'url', url: source.url };
    case 'reference':
      return fileSource(source);
    default:
      return source satisfies never;
  }
}

function plainText(data: string): JsonObject | undefined {
  return data.trim() === '' ? undefined : { type: 'text', media_type: 'text/plain', data };
}

function fileSource({ dialect, id }: { dialect: string; id: string }): JsonObject {
  if (dialect === ANTHROPIC_MESSAGES) return { type: 'file', file_id: id };
  throw new GatewayError(
    'file_reference_unsupported',
    "This model cannot read a file that is stored at another provider: send the file's data inline.",
    { param: 'messages' },
  );
}

function unreadable(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'messages' });
}

/** Adds the block's cache mark, if it has one. */
export function marked(block: JsonObject, cache: CacheMark | undefined): JsonObject {
  if (cache) block.cache_control = { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) };
  return block;
}
