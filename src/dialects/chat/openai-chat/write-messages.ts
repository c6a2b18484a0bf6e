/** Writes the messages of a chat request. */

import type {
  ChatCall,
  Media,
  Message,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { mediaUrl } from '../../shared/outgoing-media.ts';
import { OPENAI_CHAT } from '../names.ts';
import { documentText } from '../request/document-text.ts';
import { openaiAudioFormat } from '../request/openai-audio-format.ts';
import { callIds } from './call-ids.ts';
import { usesOldFunctions } from './completion.ts';
import { markdownImage } from './markdown-images.ts';
import { ownMembers } from './signature-carriers.ts';

/** Shared state while writing messages, including the warnings. */
interface ChatWriteOptions {
  warnings: Set<string>;
  /** The client uses this format too, so its own members can stay. */
  isOwn: boolean;
  breakpoints: boolean;
  oldFunctions: boolean;
  id(id: string): string;
}

/** `breakpoints`: the provider supports cache breakpoints. */
export function writeMessages(call: ChatCall, breakpoints: boolean, warnings: Set<string>): JsonObject[] {
  const isOwn = call.origin.dialect === OPENAI_CHAT;
  const script: ChatWriteOptions = {
    warnings,
    isOwn,
    breakpoints: breakpoints && !isOwn,
    oldFunctions: usesOldFunctions(call),
    id: callIds({}),
  };
  const written: JsonObject[] = [];
  /** A tool message can hold text only, so images and files of tool results follow in a user message. */
  let handed: Json[] = [];
  const hand = () => {
    if (handed.length > 0) written.push({ role: 'user', content: handed });
    handed = [];
  };
  for (const message of call.messages) {
    if (message.parts.length > 0 && message.parts.every(isReadElsewhere)) continue;
    if (message.parts.some(isResult)) {
      const results = message.parts.filter(isResult);
      for (const result of results) written.push(writeToolResult(result, message, script, handed));
      if (results.length === message.parts.length) continue;
    }
    hand();
    written.push(writeMessage(message, script));
  }
  hand();
  if (script.breakpoints) limitBreakpoints(written, warnings);
  return written;
}

function isReadElsewhere(part: Part): boolean {
  return part.type === 'native' && part.dialect !== OPENAI_CHAT && part.isReadElsewhere === true;
}

function isResult(part: Part): part is ToolResultPart {
  return part.type === 'tool-result';
}

function writeMessage(message: Message, script: ChatWriteOptions): JsonObject {
  const { name } = message;
  const written = writeTurn(message, script);
  if (name !== undefined && message.role !== 'tool') written.name = name;
  return written;
}

function writeTurn({ role, originRole, parts: all }: Message, script: ChatWriteOptions): JsonObject {
  const parts = all.some(isResult) ? all.filter((part) => !isResult(part)) : all;
  switch (role) {
    case 'system':
      return { role: originRole === 'developer' ? 'developer' : 'system', content: writeText(parts, script) };
    case 'user':
      return { role, content: writeContent(parts, script) };
    case 'assistant':
      return { role, ...writeAssistant(parts, script) };
    case 'tool':
      // Parts beside tool results are the user's.
      return { role: 'user', content: writeContent(parts, script) };
    default:
      return role satisfies never;
  }
}

/** Text as one string, or as parts if the client sent several. */
function writeText(parts: readonly Part[], script: ChatWriteOptions): Json {
  const content = writeContent(parts, script);
  if (typeof content === 'string' || script.isOwn || (script.breakpoints && parts.some(isMarked))) return content;
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

function writeContent(parts: readonly Part[], script: ChatWriteOptions): string | Json[] {
  const [first] = parts;
  if (parts.length === 0) return '';
  const isPlain =
    first?.type === 'text' &&
    !(script.isOwn || script.breakpoints ? first.cache : undefined) &&
    (script.isOwn || !first.citations);
  if (parts.length === 1 && isPlain) return first.text;
  return parts.flatMap((part) => writePart(part, script) ?? []);
}

function writePart(part: Part, script: ChatWriteOptions): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      if (part.citations && !script.isOwn)
        script.warnings.add('Citations in earlier turns were dropped: the model’s format cannot express them.');
      return { type: 'text', text: part.text, ...cacheControl(part, script) };
    case 'media':
      return { ...writeMedia(part.media, script), ...cacheControl(part, script) };
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'native':
      if (part.dialect === OPENAI_CHAT) return part.item;
      if (!part.isReadElsewhere) script.warnings.add('A part that only another format has was dropped.');
      return undefined;
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return undefined;
    default:
      return part satisfies never;
  }
}

/**
 * `cache_control` belongs to another provider's format. It is sent only if the client uses this format and set it
 * itself.
 */
function cacheControl({ cache }: { cache?: { ttl?: string } }, script: ChatWriteOptions): JsonObject {
  if (!cache) return {};
  if (script.isOwn) return { cache_control: { type: 'ephemeral', ...cache } };
  return script.breakpoints ? { [BREAKPOINT]: { mode: 'explicit' } } : {};
}

const BREAKPOINT = 'prompt_cache_breakpoint';
const MOST_BREAKPOINTS = 4;

function isMarked(part: Part): boolean {
  return 'cache' in part && part.cache !== undefined;
}

/** The provider accepts four breakpoints. The last ones cover most of the prompt. */
function limitBreakpoints(messages: readonly JsonObject[], warnings: Set<string>): void {
  const marked = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter((part): part is JsonObject => isObject(part) && BREAKPOINT in part) : [],
  );
  if (marked.length <= MOST_BREAKPOINTS) return;
  for (const part of marked.slice(0, -MOST_BREAKPOINTS)) delete part[BREAKPOINT];
  warnings.add(`Of the cache marks the last ${MOST_BREAKPOINTS} were kept: the model accepts no more.`);
}

function writeMedia(media: Media, script: ChatWriteOptions): JsonObject {
  const { kind, source, name, title } = media;
  if (media.cite)
    script.warnings.add(
      'The request for citations of a document was dropped: the model’s format does not support them.',
    );
  if (source.type === 'text') return { type: 'text', text: documentText(media, source.text) };
  if (media.context !== undefined) script.warnings.add('`context` of a document was dropped: this format has none.');
  if (source.type === 'reference') {
    if (source.dialect === OPENAI_CHAT)
      return { type: 'file', file: { file_id: source.id, ...(name && { filename: name }) } };
    return lost(`A ${kind} was dropped: it is a file at another provider.`, kind, script);
  }
  switch (kind) {
    case 'image': {
      const detail = media.detail === undefined ? {} : { detail: media.detail };
      return { type: 'image_url', image_url: { url: mediaUrl(media, 'image/png'), ...detail } };
    }
    case 'video':
      return { type: 'video_url', video_url: { url: mediaUrl(media, 'video/mp4') } };
    case 'audio': {
      if (source.type === 'url') return lost('Audio was dropped: this model accepts it only inline.', kind, script);
      const mimeType = media.mimeType ?? 'audio/wav';
      const format = openaiAudioFormat(mimeType);
      return { type: 'input_audio', input_audio: { data: source.base64, format } };
    }
    case 'document': {
      if (source.type === 'inline' && media.mimeType?.startsWith('text/')) {
        const text = Buffer.from(source.base64, 'base64').toString();
        return { type: 'text', text: name === undefined ? text : `${name}\n\n${text}` };
      }
      const filename = name ?? title ?? 'document.pdf';
      return { type: 'file', file: { filename, file_data: mediaUrl(media, 'application/pdf') } };
    }
    default:
      return kind satisfies never;
  }
}

function lost(warning: string, kind: string, script: ChatWriteOptions): JsonObject {
  script.warnings.add(warning);
  return { type: 'text', text: `[${kind}]` };
}

function writeToolResult(
  result: ToolResultPart,
  message: Message,
  script: ChatWriteOptions,
  handed: Json[],
): JsonObject {
  const texts = result.parts.filter((part) => part.type === 'text');
  const others = result.parts.filter((part) => part.type !== 'text');
  let content: Json = script.isOwn ? writeContent(texts, script) : texts.map((part) => part.text).join('\n\n');
  if (others.length > 0 && script.isOwn) content = writeContent(result.parts, script);
  else if (others.length > 0) {
    handed.push({ type: 'text', text: `From the result of the tool call ${script.id(result.callId)}:` });
    handed.push(...others.flatMap((part) => writePart(part, script) ?? []));
    script.warnings.add('Images and files in a tool result were sent in a message of their own.');
    if (content === '') content = 'The result follows in the next message.';
  }
  if (result.failed && typeof content === 'string' && !/error|fail/i.test(content)) content = `Error: ${content}`;
  if (script.oldFunctions && message.originRole === 'function') {
    return { role: 'function', name: result.name ?? '', content };
  }
  const named = result.name === undefined || !script.isOwn ? {} : { name: result.name };
  const mark = script.isOwn ? cacheControl(result, script) : {};
  return { role: 'tool', tool_call_id: script.id(result.callId), content, ...named, ...mark };
}

function writeAssistant(parts: readonly Part[], script: ChatWriteOptions): JsonObject {
  const thoughts = parts.filter((part) => part.type === 'reasoning');
  const calls = parts.filter((part) => part.type === 'tool-call');
  const refusals = parts.filter((part) => part.type === 'refusal');
  const message: JsonObject = {};
  const texts: Part[] = [];
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'native') texts.push(part);
    if (part.type !== 'media') continue;
    const { source, kind, mimeType } = part.media;
    if (kind === 'image' && source.type === 'inline')
      texts.push({ type: 'text', text: markdownImage(mimeType ?? 'image/png', source.base64) });
    else if (source.type === 'reference' && source.dialect === OPENAI_CHAT) message.audio = { id: source.id };
    else script.warnings.add('Media of an earlier assistant turn was dropped: the model’s format cannot express it.');
  }
  const isPlain = !script.isOwn && texts.every((part) => part.type === 'text');
  const content = isPlain
    ? texts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    : writeContent(texts, script);
  message.content =
    content.length === 0 && parts.some((part) => part.type !== 'text') && texts.length === 0 ? null : content;
  if (refusals.length > 0) message.refusal = refusals.map((part) => part.text).join('');
  writeThoughts(message, thoughts);
  const [call] = calls;
  if (call && script.oldFunctions) message.function_call = { name: call.name, arguments: call.input };
  else if (call) message.tool_calls = calls.map((part) => writeToolCall(part, script));
  return message;
}

/** Writes reasoning in the member that most providers use. A signature goes only to the provider that issued it. */
function writeThoughts(message: JsonObject, thoughts: readonly ReasoningPart[]): void {
  const text = thoughts.map((part) => part.text).join('');
  for (const { signature } of thoughts) if (signature) Object.assign(message, ownMembers(signature));
  if (text !== '') message.reasoning_content = text;
}

function writeToolCall(part: ToolCallPart, script: ChatWriteOptions): JsonObject {
  const id = script.id(part.id);
  const own = part.signature && ownMembers(part.signature);
  if (part.custom) return { id, type: 'custom', custom: { name: part.name, input: part.input }, ...own };
  const call = { name: part.name, arguments: part.input === '' ? '{}' : part.input };
  return { id, type: 'function', function: call, ...own, ...(script.isOwn && cacheControl(part, script)) };
}
