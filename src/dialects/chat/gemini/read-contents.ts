/** Reads the contents of a request as messages. */
import type { Media, MediaPart, Message, Part, ToolResultPart } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type ReplyEvent, type ReplyPart } from '../../../canonical/reply.ts';
import { GEMINI } from '../names.ts';
import { PartsDecoder } from './parts/read-parts.ts';
import { readSignature } from './parts/signature.ts';
import { mintCallId } from './tool-names.ts';

/** Members of a part that no other format has. They are kept as extras under the part's path. */
const BESIDE = ['videoMetadata', 'mediaResolution'] as const;

export interface ReadContents {
  messages: Message[];
  /** Members without a field in the messages, by path. */
  beside: JsonObject;
}

interface Located {
  part: JsonObject;
  at: string;
}
interface GeminiTurn {
  isModel: boolean;
  parts: Located[];
}

export function readContents(systemInstruction: Json | undefined, contents: Json | undefined): ReadContents {
  const messages: Message[] = [];
  const system = isObject(systemInstruction) ? readParts(partsOf(systemInstruction, 'systemInstruction')) : [];
  if (system.length > 0) messages.push({ role: 'system', parts: system });
  const beside: JsonObject = {};
  for (const { isModel, parts } of turnsOf(contents)) {
    for (const { part, at } of parts) {
      if (part.fileData !== undefined) throw fileReference(`${at}.fileData`);
      for (const member of BESIDE) if (part[member] !== undefined) beside[`${at}.${member}`] = part[member];
    }
    if (isModel) pushTurn(messages, 'assistant', readModelTurn(parts, messages.length));
    else readUserTurn(parts, messages);
  }
  return { messages, beside };
}

/** Joins neighbors of one role: the client library keeps one content per piece of a stream. */
function turnsOf(contents: Json | undefined): GeminiTurn[] {
  const turns: GeminiTurn[] = [];
  for (const [index, content] of (Array.isArray(contents) ? contents : []).entries()) {
    if (!isObject(content)) continue;
    const isModel = content.role === 'model';
    const parts = partsOf(content, `contents[${index}]`);
    const last = turns.at(-1);
    if (last?.isModel === isModel) last.parts.push(...parts);
    else if (parts.length > 0) turns.push({ isModel, parts });
  }
  return turns;
}

/** The parts that are not empty. */
function partsOf(content: JsonObject, at: string): Located[] {
  const parts = Array.isArray(content.parts) ? content.parts : [];
  return parts.flatMap((part, index) =>
    isObject(part) && saysSomething(part) ? [{ part, at: `${at}.parts[${index}]` }] : [],
  );
}

function saysSomething({ text, thoughtSignature, ...others }: JsonObject): boolean {
  const { thought: _, ...content } = others;
  return (typeof text === 'string' && text !== '') || Object.keys(content).length > 0 || thoughtSignature !== undefined;
}

function pushTurn(messages: Message[], role: Message['role'], parts: Part[]): void {
  if (parts.length > 0) messages.push({ role, parts });
}

/** Reads a model turn in the same way as a reply: joins pieces and assigns signatures to their parts. */
function readModelTurn(located: readonly Located[], turn: number): Part[] {
  const decoder = new PartsDecoder({ turn, choice: 0, tools: new Map() });
  const events: ReplyEvent[] = [];
  for (const { part } of located) decoder.read(part, events);
  decoder.close(events);
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  return (reply.choices[0]?.parts ?? []).map(asPart);
}

/** Converts a part of a reply to a part of the conversation. */
function asPart({ opens, content, signature }: ReplyPart): Part {
  const signed = signature && { signature };
  switch (opens.type) {
    case 'text':
    case 'reasoning':
      return { type: opens.type, text: content, ...signed };
    case 'refusal':
      return { type: 'refusal', text: content };
    case 'tool-call':
      return { type: 'tool-call', id: opens.id, name: opens.name, input: content, ...signed };
    case 'image':
    case 'audio':
      return readMedia({ mimeType: opens.mimeType ?? '', data: content }, signed);
    case 'native':
      return { type: 'native', dialect: opens.dialect, item: opens.item };
    default:
      return opens satisfies never;
  }
}

/** Function responses in a user turn become a tool message. They come first and together. */
function readUserTurn(located: readonly Located[], messages: Message[]): void {
  const results: Part[] = [];
  const pending = callsBefore(messages);
  const others: Located[] = [];
  for (const each of located) {
    const { functionResponse } = each.part;
    if (isObject(functionResponse)) results.push(readResult(functionResponse, pending, each.at, messages.length));
    else others.push(each);
  }
  pushTurn(messages, 'tool', results);
  pushTurn(messages, 'user', readParts(others));
}

interface UnansweredCall {
  id: string;
  name: string;
}

function callsBefore(messages: readonly Message[]): UnansweredCall[] {
  const last = messages.findLast((message) => message.role === 'assistant');
  return (last?.parts ?? []).flatMap((part) => (part.type === 'tool-call' ? [{ id: part.id, name: part.name }] : []));
}

/** Finds the call of a response: by its id, otherwise the first open call of that name. */
function readResult(result: JsonObject, pending: UnansweredCall[], at: string, turn: number): ToolResultPart {
  const name = typeof result.name === 'string' ? result.name : '';
  const id = typeof result.id === 'string' && result.id !== '' ? result.id : undefined;
  const byId = pending.findIndex((call) => call.id === id);
  const found = byId >= 0 ? byId : pending.findIndex((call) => call.name === name);
  const [call] = found >= 0 ? pending.splice(found, 1) : [];
  const known = name !== '' ? name : call?.name;
  const { failed, parts } = readResponse(isObject(result.response) ? result.response : {});
  const media = Array.isArray(result.parts) ? result.parts.filter(isObject) : [];
  for (const [index, part] of media.entries()) {
    if (part.fileData !== undefined) throw fileReference(`${at}.functionResponse.parts[${index}].fileData`);
    parts.push(readPart(part));
  }
  return {
    type: 'tool-result',
    callId: call?.id ?? id ?? mintCallId(turn, 0, pending.length, name),
    ...(known !== undefined && { name: known }),
    parts,
    failed,
  };
}

/** A response is an object. The tool's output is in one of a few members, or is the object itself. */
function readResponse(response: JsonObject): { failed: boolean; parts: Part[] } {
  const members = Object.keys(response);
  if (members.length === 0) return { failed: false, parts: [] };
  const [only] = members.length === 1 ? members : [];
  const isWrapped = only === 'output' || only === 'result' || only === 'error';
  const answered = isWrapped ? response[only] : response;
  const text = typeof answered === 'string' ? answered : JSON.stringify(answered);
  return { failed: only === 'error', parts: text === '' ? [] : [{ type: 'text', text }] };
}

function readParts(located: readonly Located[]): Part[] {
  return located.map(({ part }) => readPart(part));
}

function readPart(part: JsonObject): Part {
  const { text, thought, inlineData, thoughtSignature } = part;
  const signature = readSignature(thoughtSignature);
  const signed = signature && { signature };
  if (isObject(inlineData)) return readMedia(inlineData, signed);
  if (typeof text !== 'string') return { type: 'native', dialect: GEMINI, item: part };
  return thought === true ? { type: 'reasoning', text, ...signed } : { type: 'text', text, ...signed };
}

function readMedia(
  { mimeType, data, displayName }: JsonObject,
  signed: Pick<MediaPart, 'signature'> | undefined,
): MediaPart {
  const type = typeof mimeType === 'string' ? mimeType : '';
  const media: Media = {
    kind: kindOf(type),
    source: { type: 'inline', base64: typeof data === 'string' ? data : '' },
    mimeType: type,
    ...(typeof displayName === 'string' && { name: displayName }),
  };
  return { type: 'media', media, ...signed };
}

function kindOf(mimeType: string): Media['kind'] {
  const [family] = mimeType.split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

function fileReference(param: string): GatewayError {
  return new GatewayError(
    'file_reference_unsupported',
    '`fileData.fileUri` is not supported: send the file in the request, as base64 in `inlineData`.',
    { param },
  );
}
