/** Reads the nested request shape: `input.messages` and `parameters`, as members of the flat shape. */
import type { Media } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';
import { readImage } from './read-image.ts';

export interface Nested {
  members: JsonObject;
  images: Media[];
}

export function readNested({ input, parameters }: JsonObject): Nested {
  const texts: string[] = [];
  const images: Media[] = [];
  const messages = isObject(input) && Array.isArray(input.messages) ? input.messages : [];
  messages.forEach((message, index) => {
    const path = `input.messages[${index}]`;
    if (!isObject(message)) throw wrong(path, 'must be an object with `role` and `content`');
    readContent(message.content, `${path}.content`, texts, images);
  });
  if (texts.length === 0) throw wrong('input.messages', 'must contain a text that describes the image');
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    throw wrong('parameters', 'must be an object');
  const settings: JsonObject = isObject(parameters) ? parameters : {};
  return { members: { ...settings, prompt: texts.join('\n') }, images };
}

function readContent(content: Json | undefined, path: string, texts: string[], images: Media[]): void {
  if (typeof content === 'string') {
    if (content.trim() !== '') texts.push(content);
    return;
  }
  if (!Array.isArray(content)) throw wrong(path, 'must be a string or an array of parts');
  content.forEach((part, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(part)) throw wrong(at, 'must be an object with `text` or `image`');
    const image = part.image ?? part.image_url;
    if (typeof part.text === 'string') texts.push(part.text);
    else if (image !== undefined) images.push(readImage(image, `${at}.image`));
    else throw wrong(at, 'must have `text` or `image`');
  });
}
