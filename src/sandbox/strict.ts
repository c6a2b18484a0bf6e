/**
 * Validates requests as strictly as OpenAI, Anthropic and Google do in their formats. The gateway passes requests to a target of the same
 * format without these checks, so without them a test suite could pass on the sandbox and fail on the provider.
 */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import { checkChatPairs, checkItemPairs, checkMessagePairs } from './paired-calls.ts';

type Check = (body: JsonObject) => void;

const CHECKS: { readonly [dialect: string]: Check } = {
  'openai-chat': checkChat,
  'openai-completions': checkStreamOptions,
  'openai-responses': checkResponses,
  'anthropic-messages': checkMessages,
  gemini: checkContents,
};

/** Throws `invalid_request` with the member's path. `body` is the request as sent. */
export function checkStrictly(dialect: string, body: Json): void {
  if (isObject(body)) CHECKS[dialect]?.(body);
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function eachObject(value: Json | undefined, path: string, check: (item: JsonObject, path: string) => void): void {
  for (const [index, item] of listOf(value).entries()) if (isObject(item)) check(item, `${path}[${index}]`);
}

function checkStreamOptions(body: JsonObject): void {
  if (body.stream_options == null || body.stream === true) return;
  throw wrong('stream_options', "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
}

/** A part must have one of these types, unless a member of another type identifies it. */
function checkType(part: JsonObject, path: string, types: readonly string[]): void {
  if (types.some((type) => type === part.type)) return;
  const known = types.map((type) => `'${type}'`).join(', ');
  throw wrong(
    `${path}.type`,
    `Invalid value '${String(part.type)}' for '${path}.type'. Supported values are: ${known}.`,
  );
}

function needContent(value: Json | undefined, path: string): void {
  if (value == null) throw wrong(path, `Missing required parameter: '${path}'.`);
  if (Array.isArray(value) && value.length === 0) throw wrong(path, `Invalid '${path}': it must not be empty.`);
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const GOOGLE_BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const LINE_ENDS = /[\r\n]/g;

function checkBase64(data: Json | undefined, path: string, form = BASE64): void {
  if (typeof data !== 'string') return;
  const text = /[\r\n]/.test(data) ? data.replaceAll(LINE_ENDS, '') : data;
  // Google's own clients omit the padding.
  const isWhole = form === BASE64 ? text.length % 4 === 0 : text.replace(/=+$/, '').length % 4 !== 1;
  if (text === '' || !isWhole || !form.test(text)) throw wrong(path, `Invalid '${path}': it must be base64.`);
}

const DATA_URL = /^data:[^,]*?(;base64)?,/i;

/** A URL, or bytes within it. */
function checkUrl(url: Json | undefined, path: string): void {
  if (typeof url !== 'string') return;
  const [head, isBase64] = DATA_URL.exec(url.slice(0, 256)) ?? [];
  if (head !== undefined && isBase64) checkBase64(url.slice(head.length), path);
  if (head !== undefined || /^(https?|gs):\/\/./i.test(url)) return;
  throw wrong(path, `Invalid '${path}': expected a URL, or bytes as 'data:<media type>;base64,<base64>'.`);
}

// OpenAI chat completions.

const CHAT_PARTS: { readonly [role: string]: readonly string[] } = {
  assistant: ['text', 'refusal', 'image_url', 'thinking'],
  user: ['text', 'image_url', 'input_audio', 'file', 'video_url'],
};
const ANY_CHAT_PARTS = ['text', 'image_url', 'file'];
const MOST_TOOLS = 128;

function checkChat(body: JsonObject): void {
  checkStreamOptions(body);
  checkToolCount(body);
  checkChatPairs(body.messages);
  eachObject(body.messages, 'messages', (message, path) => {
    const { role, content } = message;
    const hasContent =
      role === 'assistant' && ['tool_calls', 'function_call', 'refusal', 'audio'].some((one) => message[one]);
    if (!hasContent) needContent(content, `${path}.content`);
    eachObject(content, `${path}.content`, (part, at) => {
      checkType(part, at, CHAT_PARTS[String(role)] ?? ANY_CHAT_PARTS);
      checkChatPart(part, at);
    });
  });
}

function checkChatPart({ image_url: image, input_audio: audio, file }: JsonObject, path: string): void {
  if (isObject(image)) checkUrl(image.url, `${path}.image_url.url`);
  else checkUrl(image, `${path}.image_url`);
  if (isObject(audio)) checkBase64(audio.data, `${path}.input_audio.data`);
  if (isObject(file) && typeof file.file_data === 'string') checkFile(file.file_data, `${path}.file.file_data`);
}

/** A data URL, or plain base64. */
function checkFile(data: string, path: string): void {
  if (data.startsWith('data:')) checkUrl(data, path);
  else checkBase64(data, path);
}

function checkToolCount({ tools }: JsonObject): void {
  if (listOf(tools).length <= MOST_TOOLS) return;
  throw wrong('tools', `Invalid 'tools': array too long. Expected an array with maximum length ${MOST_TOOLS}.`);
}

// OpenAI responses.

const INPUT_PARTS = ['input_text', 'input_image', 'input_file', 'input_audio', 'output_text', 'refusal', 'text'];
/** Items that the provider itself returned have types that change often; every other item must be a message. */
const ITEM_TYPE = /^[a-z][a-z0-9_]*$/;

function checkResponses(body: JsonObject): void {
  checkStreamOptions(body);
  checkToolCount(body);
  checkItemPairs(body);
  eachObject(body.input, 'input', (item, path) => {
    const { type = 'message', content } = item;
    if (typeof type !== 'string' || !ITEM_TYPE.test(type))
      throw wrong(`${path}.type`, `Invalid value '${String(type)}' for '${path}.type'.`);
    if (type !== 'message') return eachObject(item.output, `${path}.output`, checkInputPart);
    needContent(content, `${path}.content`);
    eachObject(content, `${path}.content`, checkInputPart);
  });
}

function checkInputPart(part: JsonObject, path: string): void {
  checkType(part, path, INPUT_PARTS);
  checkUrl(part.image_url, `${path}.image_url`);
  if (typeof part.file_data === 'string') checkFile(part.file_data, `${path}.file_data`);
  if (isObject(part.input_audio)) checkBase64(part.input_audio.data, `${path}.input_audio.data`);
}

// Anthropic messages.

const BLOCKS = [
  'text',
  'image',
  'document',
  'search_result',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
];
/** Calls and results of the provider's own tools, and files of its containers. */
const PROVIDER_BLOCK =
  /^(server_tool_use|mcp_tool_use|container_upload|compaction|[a-z_]+_tool_result|tool_reference)$/;

function checkMessages(body: JsonObject): void {
  checkMessagePairs(body.messages);
  eachObject(body.messages, 'messages', ({ content }, path) => {
    needContent(content, `${path}.content`);
    eachObject(content, `${path}.content`, checkBlock);
  });
}

function checkBlock(block: JsonObject, path: string): void {
  if (!PROVIDER_BLOCK.test(String(block.type))) checkType(block, path, BLOCKS);
  if (isObject(block.source) && block.source.type === 'base64') checkBase64(block.source.data, `${path}.source.data`);
  if (block.type === 'tool_result') eachObject(block.content, `${path}.content`, checkBlock);
}

// Google contents.

const DATA_MEMBERS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const ALL_DATA_MEMBERS = [...new Set([...DATA_MEMBERS, ...DATA_MEMBERS.map(snake)])];

function checkContents(body: JsonObject): void {
  eachObject(body.contents, 'contents', ({ parts }, path) => {
    if (!isObject(parts) && listOf(parts).length === 0)
      throw wrong(`${path}.parts`, `Invalid '${path}.parts': it must not be empty.`);
    eachObject(parts, `${path}.parts`, checkGooglePart);
  });
}

function checkGooglePart(part: JsonObject, path: string): void {
  const isSigned = 'thoughtSignature' in part || 'thought_signature' in part;
  if (!isSigned && !ALL_DATA_MEMBERS.some((member) => part[member] != null))
    throw wrong(path, `Invalid '${path}': required oneof field 'data' must have one initialized field.`);
  for (const member of ['inlineData', 'inline_data']) {
    const inline = part[member];
    if (isObject(inline)) checkBase64(inline.data ?? '', `${path}.${member}.data`, GOOGLE_BASE64);
  }
}
