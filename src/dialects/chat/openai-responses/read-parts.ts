/** Reads the content of a message and the output of a tool. */
import type { CacheMark, Media, Part } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { mediaFromUrl, optionalText, readInputAudio, requiredText } from '../request/media-parts.ts';
import { readAnnotation } from './citations.ts';

/** Reads a text or a list of parts. */
export function readContent(content: Json | undefined, path: string): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) throw wrong(path, 'must be a string or an array of parts');
  return content.map((part, index) => readPart(part, `${path}[${index}]`));
}

function readPart(part: Json, path: string): Part {
  if (!isObject(part)) throw wrong(path, 'must be an object with a `type`');
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const citations = (Array.isArray(part.annotations) ? part.annotations : []).flatMap(
        (annotation) => readAnnotation(annotation) ?? [],
      );
      const text = requiredText(part, 'text', path);
      return { type: 'text', text, ...(citations.length > 0 && { citations }), ...cacheMark(part) };
    }
    case 'refusal':
      return { type: 'refusal', text: requiredText(part, 'refusal', path) };
    case 'input_image':
      return { type: 'media', media: readImage(part, path), ...cacheMark(part) };
    case 'input_file':
      return { type: 'media', media: readFile(part, path), ...cacheMark(part) };
    case 'input_audio':
      return { type: 'media', media: readInputAudio(part, path), ...cacheMark(part) };
    default:
      if (typeof part.type !== 'string') throw wrong(`${path}.type`, 'must be a string');
      return { type: 'native', dialect: OPENAI_RESPONSES, item: part };
  }
}

function cacheMark(part: JsonObject): { cache?: CacheMark } {
  return isObject(part.prompt_cache_breakpoint) ? { cache: {} } : {};
}

function readImage(part: JsonObject, path: string): Media {
  const id = optionalText(part, 'file_id', path);
  const url = optionalText(part, 'image_url', path);
  const detail = optionalText(part, 'detail', path);
  const detailed = detail === undefined ? {} : { detail };
  if (url !== undefined) return { ...mediaFromUrl('image', url), ...detailed };
  if (id === undefined) throw wrong(path, 'must have an `image_url` (an address or a data URL) or a `file_id`');
  return { kind: 'image', source: { type: 'reference', dialect: OPENAI_RESPONSES, id }, ...detailed };
}

function readFile(part: JsonObject, path: string): Media {
  const filename = optionalText(part, 'filename', path);
  const named = filename === undefined ? {} : { name: filename };
  const data = optionalText(part, 'file_data', path);
  const url = optionalText(part, 'file_url', path);
  const id = optionalText(part, 'file_id', path);
  if (data !== undefined) {
    const media = mediaFromUrl('document', data);
    if (media.source.type === 'url') media.source = { type: 'inline', base64: data };
    return { ...media, ...named };
  }
  if (url !== undefined) return { ...mediaFromUrl('document', url), ...named };
  if (id === undefined) throw wrong(path, 'must have `file_data`, `file_url` or `file_id`');
  return { kind: 'document', source: { type: 'reference', dialect: OPENAI_RESPONSES, id }, ...named };
}
