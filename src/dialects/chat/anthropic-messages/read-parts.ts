/** Converts the blocks of a message to parts. */
import type { CacheMark, Media, MediaSource, Part } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { checked } from './checked.ts';
import { readCitation } from './citations.ts';
import { BLOCKS, SOURCES } from './request-schema.ts';
import { OF_TEXT, readHidden, readSignature } from './thinking-blocks.ts';

type MessagesContent = string | { type: string }[];

/** `at`: the path of the content in the body (`messages[0].content`). */
export function readContent(content: MessagesContent, at: string): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts: Part[] = [];
  for (const [index, block] of content.entries()) readBlock(block, `${at}[${index}]`, parts);
  return parts;
}

function readBlock(block: { type: string }, at: string, parts: Part[]): void {
  switch (block.type) {
    case 'text':
      parts.push(readText(block, at));
      return;
    case 'image':
      readImage(block, at, parts);
      return;
    case 'document':
      readDocument(block, at, parts);
      return;
    case 'search_result':
      parts.push(readSearchResult(block, at));
      return;
    case 'thinking': {
      const { thinking, signature: encoded } = checked(BLOCKS.thinking, block, at);
      const signature = readSignature(encoded ?? '');
      parts.push({ type: 'reasoning', text: thinking, ...(signature && { signature }) });
      return;
    }
    case 'redacted_thinking':
      readHiddenBlock(checked(BLOCKS.redacted_thinking, block, at).data, parts);
      return;
    case 'tool_use': {
      const { id, name, input, cache_control } = checked(BLOCKS.tool_use, block, at);
      parts.push({ type: 'tool-call', id, name, input: JSON.stringify(input), ...cacheOf(cache_control) });
      return;
    }
    case 'tool_result': {
      const { tool_use_id, content, is_error, cache_control } = checked(BLOCKS.tool_result, block, at);
      const inner = content === '' ? [] : readContent(content ?? [], `${at}.content`);
      const failed = is_error === true;
      parts.push({ type: 'tool-result', callId: tool_use_id, parts: inner, failed, ...cacheOf(cache_control) });
      return;
    }
    default:
      parts.push({ type: 'native', dialect: ANTHROPIC_MESSAGES, item: block as JsonObject });
  }
}

function readText(block: { type: string }, at: string): Part {
  const { text, citations, cache_control } = checked(BLOCKS.text, block, at);
  const cited = (citations ?? []).map((citation) => readCitation(citation as Json, text));
  return { type: 'text', text, ...(cited.length > 0 && { citations: cited }), ...cacheOf(cache_control) };
}

/** Reads hidden thinking, or a signature that returns to the part it belongs to. */
function readHiddenBlock(data: string, parts: Part[]): void {
  const { signature, of } = readHidden(data);
  const owner = of === undefined ? undefined : ownerOf(parts, of);
  if (owner) owner.signature = signature;
  else parts.push({ type: 'reasoning', text: '', signature });
}

function ownerOf(parts: readonly Part[], of: string) {
  for (const part of parts.toReversed()) {
    if (part.type === 'tool-call' && part.id === of) return part;
    if (part.type === 'text' && of === OF_TEXT) return part;
  }
  return undefined;
}

function readImage(block: { type: string }, at: string, parts: Part[]): void {
  const { source, cache_control } = checked(BLOCKS.image, block, at);
  const media: Media = { kind: 'image', ...readSource(source, `${at}.source`) };
  parts.push({ type: 'media', media, ...cacheOf(cache_control) });
}

function readDocument(block: { type: string }, at: string, parts: Part[]): void {
  const { source, title, context, citations, cache_control } = checked(BLOCKS.document, block, at);
  const about = {
    kind: 'document' as const,
    ...(typeof title === 'string' && { title }),
    ...(typeof context === 'string' && { context }),
    ...(citations?.enabled === true && { cite: true }),
  };
  if (source.type !== 'content') {
    parts.push({
      type: 'media',
      media: { ...about, ...readSource(source, `${at}.source`) },
      ...cacheOf(cache_control),
    });
    return;
  }
  // The texts form one document. Images between them become parts of their own.
  const { content } = checked(SOURCES.content, source, `${at}.source`);
  const pieces = readContent(content, `${at}.source.content`);
  const text = pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('\n\n');
  const media: Media = { ...about, source: { type: 'text', text }, mimeType: 'text/plain' };
  parts.push({ type: 'media', media, ...cacheOf(cache_control) }, ...pieces.filter((piece) => piece.type !== 'text'));
}

/** A search result is a document with a source. */
function readSearchResult(block: { type: string }, at: string): Part {
  const { source, title, content, citations, cache_control } = checked(BLOCKS.search_result, block, at);
  const media: Media = {
    kind: 'document',
    title,
    context: source,
    source: { type: 'text', text: content.map((piece) => piece.text).join('\n\n') },
    mimeType: 'text/plain',
    ...(citations?.enabled === true && { cite: true }),
  };
  return { type: 'media', media, ...cacheOf(cache_control) };
}

function readSource(source: { type: string }, at: string): { source: MediaSource; mimeType?: string } {
  switch (source.type) {
    case 'base64': {
      const { data, media_type } = checked(SOURCES.base64, source, at);
      return { source: { type: 'inline', base64: data }, mimeType: media_type };
    }
    case 'text':
      return { source: { type: 'text', text: checked(SOURCES.text, source, at).data }, mimeType: 'text/plain' };
    case 'url':
      return { source: { type: 'url', url: checked(SOURCES.url, source, at).url } };
    case 'file': {
      const { file_id } = checked(SOURCES.file, source, at);
      return { source: { type: 'reference', dialect: ANTHROPIC_MESSAGES, id: file_id } };
    }
    default:
      throw wrong(`${at}.type`, 'must be "base64", "url", "file", "text" or "content"');
  }
}

export function cacheOf(mark: { ttl?: '5m' | '1h' | null } | null | undefined): { cache?: CacheMark } {
  if (!mark) return {};
  return { cache: mark.ttl ? { ttl: mark.ttl } : {} };
}
