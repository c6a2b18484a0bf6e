/**
 * Image generation through chat (docs/api.md#images-in-chat): Google's `contents`, and settings in `extra_body` or
 * beside it.
 */
import type { ChatCall, Media, Message, Part } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';

/** The aspect ratio and size of the image, if the request has them. */
export function readImageSettings(body: JsonObject): ChatCall['image'] {
  const { extra_body: extra, google } = body;
  return (
    (isObject(extra) ? inExtraBody(extra) : undefined) ??
    (isObject(google) ? settingsIn(google, 'google.') : undefined) ??
    settingsIn(body, '')
  );
}

function inExtraBody(extra: JsonObject): ChatCall['image'] {
  const inGoogle = isObject(extra.google) ? settingsIn(extra.google, 'extra_body.google.') : undefined;
  return inGoogle ?? settingsIn(extra, 'extra_body.');
}

function settingsIn(place: JsonObject, path: string): ChatCall['image'] {
  const config = place.image_config ?? place.imageConfig;
  if (config === undefined || config === null) return undefined;
  if (!isObject(config)) throw wrong(`${path}image_config`, 'must be an object');
  const aspectRatio = textAt(config, ['aspect_ratio', 'aspectRatio'], path);
  const size = textAt(config, ['image_size', 'imageSize'], path);
  if (aspectRatio === undefined && size === undefined) return undefined;
  return { ...(aspectRatio !== undefined && { aspectRatio }), ...(size !== undefined && { size }) };
}

function textAt(config: JsonObject, names: readonly string[], path: string): string | undefined {
  const name = names.find((one) => config[one] !== undefined && config[one] !== null);
  const value = name === undefined ? undefined : config[name];
  if (value === undefined || typeof value === 'string') return value;
  throw wrong(`${path}image_config.${name}`, 'must be a string');
}

/** The members that remain after the image settings are removed. No other format can express them. */
export function otherImageMembers(body: JsonObject): JsonObject {
  const others: JsonObject = {};
  for (const member of ['extra_body', 'google'] as const) {
    const rest = withoutSettings(body[member]);
    if (rest !== undefined) others[member] = rest;
  }
  return others;
}

function withoutSettings(value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value === null ? undefined : value;
  const { image_config: _, imageConfig: __, google, ...others } = value;
  const googleMembers = withoutSettings(google);
  const rest = googleMembers === undefined ? others : { ...others, google: googleMembers };
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/** The turns in `contents` that are not in `messages`: many clients send the same turns in both. */
export function contentsNotIn(contents: Json | undefined, messages: readonly Message[]): Message[] {
  if (!Array.isArray(contents)) return [];
  const seen = new Set(messages.flatMap(({ parts }) => parts.map(sameness)));
  return contents.flatMap((content, index) => {
    const parts = readContent(content, `contents[${index}]`).filter((part) => !seen.has(sameness(part)));
    const role = isObject(content) && content.role === 'model' ? ('assistant' as const) : ('user' as const);
    return parts.length > 0 ? [{ role, parts }] : [];
  });
}

/** A key that is equal for two parts with the same content. */
function sameness(part: Part): string {
  if (part.type === 'text') return `text ${part.text.trim()}`;
  return part.type === 'media' && part.media.source.type === 'inline' ? `media ${part.media.source.base64}` : '';
}

function readContent(content: Json, path: string): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!isObject(content)) throw wrong(path, 'must be an object with `parts`');
  const { parts } = content;
  if (!Array.isArray(parts)) throw wrong(`${path}.parts`, 'must be an array of parts');
  return parts.map((part, index) => readPart(part, `${path}.parts[${index}]`));
}

function readPart(part: Json, path: string): Part {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isObject(part)) throw wrong(path, 'must be an object');
  if (typeof part.text === 'string') return { type: 'text', text: part.text };
  const inline = part.inlineData ?? part.inline_data;
  if (isObject(inline)) return { type: 'media', media: readInline(inline, `${path}.inlineData`) };
  if (part.fileData !== undefined || part.file_data !== undefined) {
    const sentence = 'Files are not kept here: send the bytes in `inlineData`.';
    throw new GatewayError('file_reference_unsupported', sentence, { param: `${path}.fileData` });
  }
  throw wrong(path, 'must have `text` or `inlineData`');
}

const KINDS = ['image', 'audio', 'video'] as const;

function readInline({ mimeType, mime_type: mime, data }: JsonObject, path: string): Media {
  const type = mimeType ?? mime;
  if (typeof type !== 'string') throw wrong(`${path}.mimeType`, 'must be a string');
  if (typeof data !== 'string') throw wrong(`${path}.data`, 'must be base64');
  const kind = KINDS.find((one) => type.startsWith(`${one}/`)) ?? 'document';
  return { kind, source: { type: 'inline', base64: data }, mimeType: type };
}
