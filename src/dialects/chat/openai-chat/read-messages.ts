/** Reads the messages of a chat request. */
import type {
  Media,
  MediaPart,
  Message,
  Part,
  TextPart,
  Tool,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';
import { OPENAI_CHAT } from '../names.ts';
import { mediaFromUrl, optionalText, readInputAudio, requiredText } from '../request/media-parts.ts';
import { mayHoldImages, withImages } from './markdown-images.ts';
import { chatSignature, readPartSignature, readThoughts } from './signature-carriers.ts';

/** `messages` must already be checked to be an array of objects. */
export function readMessages(messages: readonly Json[]): Message[] {
  const read: Message[] = [];
  /** Deprecated function calls have no id: a `function` message answers the last call of its name. */
  let oldCalls: Map<string, string> | undefined;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (!isObject(message)) continue;
    let turn = plainTurn(message);
    if (!turn) {
      oldCalls ??= new Map();
      turn = readMessage(message, `messages[${index}]`, index, oldCalls);
    }
    read.push(turn);
  }
  return read;
}

/** The conversation, if each message is a turn of one text and nothing else is in it. */
export function plainTurns(messages: readonly Json[]): Message[] | undefined {
  const turns: Message[] = [];
  for (const message of messages) {
    const turn = isObject(message) ? plainTurn(message) : undefined;
    if (!turn) return undefined;
    turns.push(turn);
  }
  return turns;
}

/** A fast path for a turn of one text, which most are; it needs no checks. */
function plainTurn(message: JsonObject): Message | undefined {
  const { role, content } = message;
  if (typeof content !== 'string') return undefined;
  if (role === 'assistant') {
    if (!isPlainAnswer(message, content)) return undefined;
  } else if (
    (role !== 'user' && role !== 'system') ||
    message.name !== undefined ||
    message.cache_control !== undefined
  )
    return undefined;
  return { role, parts: [{ type: 'text', text: content }] };
}

/** An answer of the model may carry tool calls, reasoning and signatures in members of many names, and images in its text. */
function isPlainAnswer(message: JsonObject, content: string): boolean {
  for (const member in message) if (member !== 'role' && member !== 'content') return false;
  return !mayHoldImages(content);
}

function readMessage(message: JsonObject, path: string, index: number, oldCalls: Map<string, string>): Message {
  const { role } = message;
  const name = optionalText(message, 'name', path);
  switch (role) {
    case 'system':
    case 'user':
      return named({ role, parts: readContent(message, path) }, name);
    case 'developer':
      return named({ role: 'system', originRole: role, parts: readContent(message, path) }, name);
    case 'assistant':
      return named({ role, parts: readAssistant(message, path, index, oldCalls) }, name);
    case 'tool':
      return { role, parts: [readToolResult(message, path)] };
    case 'function': {
      const callId = oldCalls.get(name ?? '') ?? `call_${index}`;
      const result: ToolResultPart = { type: 'tool-result', callId, parts: readContent(message, path), failed: false };
      return { role: 'tool', originRole: role, parts: [named(result, name)] };
    }
    default:
      throw wrong(`${path}.role`, 'must be one of `developer`, `system`, `user`, `assistant`, `tool`, `function`');
  }
}

function named<Named extends Message | ToolResultPart>(one: Named, name: string | undefined): Named {
  if (name !== undefined) one.name = name;
  return one;
}

/** Reads a text, `null` or a list of parts. */
function readContent(message: JsonObject, path: string): Part[] {
  const { content } = message;
  if (typeof content === 'string') return [withMark({ type: 'text', text: content }, message)];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) throw wrong(`${path}.content`, 'must be a string or an array of parts');
  return content.map((part, index) => readPart(part, `${path}.content[${index}]`));
}

function readPart(part: Json, path: string): Part {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isObject(part)) throw wrong(path, 'must be an object with a `type`');
  switch (part.type) {
    case 'text':
      return withMark({ type: 'text', text: requiredText(part, 'text', path) }, part);
    case 'refusal':
      return { type: 'refusal', text: requiredText(part, 'refusal', path) };
    case 'image_url':
      return withMark({ type: 'media', media: readImage(part, path) }, part);
    case 'input_audio':
      return withMark({ type: 'media', media: readInputAudio(part, path) }, part);
    case 'file':
      return withMark({ type: 'media', media: readFile(part, path) }, part);
    case 'video_url':
      return withMark(
        { type: 'media', media: mediaFromUrl('video', urlOf(part.video_url, `${path}.video_url`)) },
        part,
      );
    case 'thinking':
      return { type: 'reasoning', text: thinkingText(part.thinking) };
    default:
      if (typeof part.type !== 'string') throw wrong(`${path}.type`, 'must be a string');
      return { type: 'native', dialect: OPENAI_CHAT, item: part };
  }
}

function readImage(part: JsonObject, path: string): Media {
  const image = part.image_url;
  const media = mediaFromUrl('image', urlOf(image, `${path}.image_url`));
  if (isObject(image) && typeof image.detail === 'string') media.detail = image.detail;
  return media;
}

/** OpenAI expects `{url}`; some other providers also accept the URL itself. */
function urlOf(value: Json | undefined, path: string): string {
  if (typeof value === 'string') return value;
  if (isObject(value)) return requiredText(value, 'url', path);
  throw wrong(path, 'must be an object with a `url`');
}

function readFile(part: JsonObject, path: string): Media {
  const { file } = part;
  if (!isObject(file)) throw wrong(`${path}.file`, 'must be an object with `file_data` or `file_id`');
  const filename = optionalText(file, 'filename', `${path}.file`);
  const data = optionalText(file, 'file_data', `${path}.file`);
  const id = optionalText(file, 'file_id', `${path}.file`);
  const named = filename === undefined ? {} : { name: filename };
  if (data !== undefined) {
    const media = mediaFromUrl('document', data);
    if (media.source.type === 'url' && !/^https?:/i.test(data)) media.source = { type: 'inline', base64: data };
    return { ...media, ...named };
  }
  if (id === undefined) throw wrong(`${path}.file`, 'must have `file_data` or `file_id`');
  return { kind: 'document', source: { type: 'reference', dialect: OPENAI_CHAT, id }, ...named };
}

function readAssistant(message: JsonObject, path: string, index: number, oldCalls: Map<string, string>): Part[] {
  const parts: Part[] = readThoughts(message);
  const content = readContent(message, path);
  const signature = readPartSignature(message);
  const firstText = content.find((part) => part.type === 'text');
  if (signature && signature.dialect !== OPENAI_CHAT && firstText) firstText.signature = signature;
  else if (signature)
    parts.push({
      type: 'reasoning',
      text: '',
      signature: chatSignature({ extra_content: message.extra_content ?? null }),
    });
  parts.push(...content.flatMap((part) => (part.type === 'text' ? withImages(part) : part)));
  const refusal = optionalText(message, 'refusal', path);
  if (refusal) parts.push({ type: 'refusal', text: refusal });
  const { audio, tool_calls: calls, function_call: old } = message;
  if (isObject(audio) && typeof audio.id === 'string') {
    parts.push({
      type: 'media',
      media: { kind: 'audio', source: { type: 'reference', dialect: OPENAI_CHAT, id: audio.id } },
    });
  }
  if (calls !== undefined && calls !== null) {
    if (!Array.isArray(calls)) throw wrong(`${path}.tool_calls`, 'must be an array');
    calls.forEach((call, at) => {
      parts.push(readToolCall(call, `${path}.tool_calls[${at}]`));
    });
  }
  if (isObject(old)) {
    const name = requiredText(old, 'name', `${path}.function_call`);
    const id = `call_${index}`;
    oldCalls.set(name, id);
    parts.push({ type: 'tool-call', id, name, input: optionalText(old, 'arguments', `${path}.function_call`) ?? '' });
  }
  return parts;
}

function readToolCall(call: Json, path: string): ToolCallPart {
  if (!isObject(call)) throw wrong(path, 'must be an object');
  const custom = isObject(call.custom);
  const member = custom ? 'custom' : 'function';
  const body = call[member];
  if (!isObject(body)) throw wrong(`${path}.function`, 'must be an object with `name` and `arguments`');
  const given = custom ? body.input : body.arguments;
  const signature = readPartSignature(call);
  const part: ToolCallPart = {
    type: 'tool-call',
    id: optionalText(call, 'id', path) ?? '',
    name: requiredText(body, 'name', `${path}.${member}`),
    input: isObject(given)
      ? JSON.stringify(given)
      : (optionalText(body, custom ? 'input' : 'arguments', `${path}.${member}`) ?? ''),
  };
  if (custom) part.custom = custom;
  if (signature) part.signature = signature;
  return withMark(part, call);
}

function readToolResult(message: JsonObject, path: string): ToolResultPart {
  const part: ToolResultPart = {
    type: 'tool-result',
    callId: requiredText(message, 'tool_call_id', path),
    parts: readContent({ content: message.content ?? null }, path),
    failed: false,
  };
  return withMark(named(part, optionalText(message, 'name', path)), message);
}

type Markable = TextPart | MediaPart | ToolCallPart | ToolResultPart | Extract<Tool, { type: 'function' | 'custom' }>;

/** Adds `cache_control`, which clients of Anthropic models set in this format too. */
export function withMark<Marked extends Markable>(one: Marked, { cache_control: mark }: JsonObject): Marked {
  if (isObject(mark)) one.cache = mark.ttl === '5m' || mark.ttl === '1h' ? { ttl: mark.ttl } : {};
  return one;
}

/** Mistral's reasoning: a text, or a list of texts. */
function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((one) => (isObject(one) && typeof one.text === 'string' ? one.text : '')).join('');
}
