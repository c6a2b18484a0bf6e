/** Reads from a conversation what the sandbox's rules need. */
import type { ChatCall, Media, Part } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { pngSize } from './image.ts';
import { countTokens } from './tokens.ts';

/** The text of the last user message. */
export function lastPrompt(call: ChatCall): string {
  return joinedText(call.messages[lastUser(call)]?.parts ?? []);
}

export function joinedText(parts: readonly Part[]): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** A user message with only tool results is not a prompt. */
function lastUser({ messages }: ChatCall): number {
  return messages.findLastIndex(
    ({ role, parts }) => role === 'user' && (parts.length === 0 || parts.some(({ type }) => type !== 'tool-result')),
  );
}

/** Tool results since the last prompt. */
export function toolResults(call: ChatCall): { name: string; text: string }[] {
  const names = new Map<string, string>();
  for (const { parts } of call.messages)
    for (const part of parts) if (part.type === 'tool-call') names.set(part.id, part.name);
  return call.messages
    .slice(lastUser(call))
    .flatMap(({ parts }) => parts)
    .filter((part) => part.type === 'tool-result')
    .map(({ callId, name, parts, failed }) => ({
      name: names.get(callId) ?? name ?? 'a tool',
      text: failed ? `it failed: ${joinedText(parts)}` : joinedText(parts),
    }));
}

/** How many of the sandbox's own reasoning signatures the client has sent back. */
export function signaturesHandedBack({ messages }: ChatCall): number {
  return messages
    .flatMap(({ parts }) => parts)
    .filter((part) => 'signature' in part && part.signature !== undefined && isOwnSignature(part.signature.value))
    .length;
}

const SIGNATURE_PREFIX = 'sandbox:';

/** In base64, because some client libraries decode it. */
export function sandboxSignature(key: string): string {
  return Buffer.from(SIGNATURE_PREFIX + key).toString('base64');
}

function isOwnSignature(value: string): boolean {
  return Buffer.from(value, 'base64').toString().startsWith(SIGNATURE_PREFIX);
}

/** Describes the media in the last user message: kinds, types and sizes. */
export function mediaNote(call: ChatCall): string {
  const media = (call.messages[lastUser(call)]?.parts ?? []).flatMap((part) =>
    part.type === 'media' ? part.media : [],
  );
  return media.map(describe).join(' and ');
}

const KIND_WORDS = { image: 'an image', audio: 'a recording', document: 'a document', video: 'a video' } as const;

function describe({ kind, source, mimeType, name }: Media): string {
  const word = KIND_WORDS[kind] + (name === undefined ? '' : ` named ${name}`);
  switch (source.type) {
    case 'inline': {
      const bytes = Buffer.from(source.base64, 'base64');
      const size = pngSize(bytes);
      const pixels = size ? `, ${size.width}x${size.height}` : '';
      return `${word} (${mimeType ?? 'of no stated type'}, ${bytes.length} bytes${pixels})`;
    }
    case 'text':
      return `${word} (text, ${source.text.length} characters)`;
    case 'url':
      return `${word} (by address)`;
    case 'reference':
      return `${word} (by reference)`;
    default:
      return source satisfies never;
  }
}

export interface InputCount {
  text: number;
  image: number;
  audio: number;
}

const IMAGE_TOKENS = 258;
const BYTES_PER_TOKEN = 1000;
/** The context window of the sandbox's models, as in the catalogue. */
export const CONTEXT_TOKENS = 128_000;

/** Input tokens by the sandbox's own tokenizer, which are also billed. Counting stops above the context window. */
export function countInput({ messages, tools, completion }: ChatCall): InputCount {
  const count: InputCount = { text: 0, image: 0, audio: 0 };
  const seeText = (text: string): void => {
    count.text += countTokens(text, CONTEXT_TOKENS);
    if (count.text > CONTEXT_TOKENS) throw tooLong();
  };
  const see = (parts: readonly Part[]): void => {
    for (const part of parts) {
      if (part.type === 'media') seeMedia(part.media, count, seeText);
      else if (part.type === 'tool-result') see(part.parts);
      else if (part.type === 'tool-call') seeText(part.name + part.input);
      else if (part.type !== 'native') seeText(part.text);
    }
  };
  if (completion) {
    for (const prompt of completion.prompts) {
      if (typeof prompt === 'string') seeText(prompt);
      else count.text += prompt.length;
    }
  } else {
    for (const { parts } of messages) see(parts);
    if (tools.length > 0) seeText(JSON.stringify(tools));
    count.text += messages.length;
  }
  if (count.text + count.image + count.audio > CONTEXT_TOKENS) throw tooLong();
  return count;
}

function tooLong(): GatewayError {
  const sentence = `This model's maximum context length is ${CONTEXT_TOKENS} tokens. However, your messages resulted in more. Please reduce the length of the messages.`;
  return new GatewayError('invalid_request', sentence, { param: 'messages', providerCode: 'context_length_exceeded' });
}

function seeMedia({ kind, source }: Media, count: InputCount, seeText: (text: string) => void): void {
  if (source.type === 'text') seeText(source.text);
  else if (kind === 'image') count.image += IMAGE_TOKENS;
  else {
    const size = source.type === 'inline' ? source.base64.length * 0.75 : BYTES_PER_TOKEN;
    count[kind === 'audio' ? 'audio' : 'text'] += Math.ceil(size / BYTES_PER_TOKEN);
  }
}

/** `getWeather`, `get_weather` and `get-weather` all become "get weather". */
export function mostPlain(text: string): string {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
}
