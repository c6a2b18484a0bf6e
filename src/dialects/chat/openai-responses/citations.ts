/** Reads and writes citations as annotations. */
import type { Citation } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { OPENAI_RESPONSES } from '../names.ts';

/** Reads an annotation. One without a URL is kept unchanged. */
export function readAnnotation(annotation: Json): Citation | undefined {
  if (!isObject(annotation)) return undefined;
  const { url, title, start_index: start, end_index: end, filename } = annotation;
  const named = typeof title === 'string' ? { title } : typeof filename === 'string' ? { title: filename } : {};
  const isAddress = annotation.type === 'url_citation' && typeof url === 'string';
  return {
    ...(typeof url === 'string' && { url }),
    ...named,
    ...(typeof start === 'number' && typeof end === 'number' && { start, end }),
    ...(!isAddress && { native: { dialect: OPENAI_RESPONSES, item: annotation } }),
  };
}

/** Title and positions are always written: the libraries fail without them. */
export function writeAnnotation({ url, title, start, end, native }: Citation): JsonObject | undefined {
  if (native?.dialect === OPENAI_RESPONSES && isObject(native.item)) return native.item;
  if (url === undefined) return undefined;
  return { type: 'url_citation', start_index: start ?? 0, end_index: end ?? 0, title: title ?? url, url };
}
