/** Citations. This format counts positions in UTF-8 bytes, all others in code points. */
import type { Citation } from '../../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../../canonical/json.ts';
import { GEMINI } from '../../names.ts';
import type { DecodedText } from './read-parts.ts';

export interface PlacedCitation {
  /** The text part it belongs to. */
  part: number;
  citation: Citation;
}

/** Reads the citations of a candidate whose texts are complete. */
export function readCitations(
  grounding: JsonObject,
  recited: JsonObject,
  texts: readonly DecodedText[],
): PlacedCitation[] {
  const last = texts.at(-1);
  if (!last) return [];
  const placed: PlacedCitation[] = [];
  const chunks = objectsIn(grounding.groundingChunks);
  const supports = objectsIn(grounding.groundingSupports);
  for (const support of supports) {
    const segment = isObject(support.segment) ? support.segment : {};
    const { part, ...span } = spanOf(segment, texts) ?? { part: last.part };
    const indices = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : [];
    for (const index of indices) {
      const chunk = typeof index === 'number' ? chunks[index] : undefined;
      if (chunk) placed.push({ part, citation: { ...sourceOf(chunk), ...span } });
    }
  }
  if (supports.length === 0) for (const chunk of chunks) placed.push({ part: last.part, citation: sourceOf(chunk) });
  for (const source of objectsIn(recited.citations ?? recited.citationSources)) {
    const { part, ...span } = spanOf(source, texts) ?? { part: last.part };
    placed.push({ part, citation: { ...recitedOf(source), ...span } });
  }
  return placed;
}

/** Whether the source has a URL or a text. */
export function isShown({ url, citedText, native }: Citation): boolean {
  return url !== undefined || citedText !== undefined || native?.dialect === GEMINI;
}

/** `groundingMetadata` of a candidate. `texts`: its text parts by index. */
export function writeGrounding(citations: readonly PlacedCitation[], texts: ReadonlyMap<number, string>): JsonObject {
  const chunks: JsonObject[] = [];
  const supports: JsonObject[] = [];
  const known = new Map<string, number>();
  for (const { part, citation } of citations) {
    if (!isShown(citation)) continue;
    const chunk = chunkOf(citation);
    const key = JSON.stringify(chunk);
    const index = known.get(key) ?? chunks.push(chunk) - 1;
    known.set(key, index);
    const { start, end } = citation;
    const points = [...(texts.get(part) ?? '')];
    const text = points.slice(start ?? 0, end).join('');
    const startIndex = Buffer.byteLength(points.slice(0, start ?? 0).join(''));
    const endIndex = startIndex + Buffer.byteLength(text);
    supports.push({ segment: { startIndex, endIndex, text }, groundingChunkIndices: [index] });
  }
  return chunks.length > 0 ? { groundingMetadata: { groundingChunks: chunks, groundingSupports: supports } } : {};
}

function sourceOf(chunk: JsonObject): Citation {
  const source = [chunk.web, chunk.retrievedContext, chunk.maps].find(isObject) ?? {};
  const { uri, title, text } = source;
  return {
    ...(typeof uri === 'string' && uri !== '' && { url: uri }),
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(isObject(chunk.retrievedContext) && typeof text === 'string' && { citedText: text }),
    native: { dialect: GEMINI, item: { chunk } },
  };
}

function recitedOf(source: JsonObject): Citation {
  const { uri, title } = source;
  return {
    ...(typeof uri === 'string' && uri !== '' && { url: uri }),
    ...(typeof title === 'string' && title !== '' && { title }),
    native: { dialect: GEMINI, item: { source } },
  };
}

function chunkOf({ url, title, citedText, native }: Citation): JsonObject {
  const own = native?.dialect === GEMINI && isObject(native.item) ? native.item.chunk : undefined;
  if (isObject(own)) return own;
  if (url !== undefined || citedText === undefined) {
    return { web: { ...(url !== undefined && { uri: url }), title: title ?? url ?? '' } };
  }
  // AI SDK 4 requires a `uri`, even for a source without one.
  return { retrievedContext: { uri: '', title: title ?? '', text: citedText } };
}

/** The range in code points. The quoted text identifies the range more reliably than the reported numbers. */
function spanOf(
  segment: JsonObject,
  texts: readonly DecodedText[],
): { part: number; start: number; end: number } | undefined {
  const startByte = countOf(segment.startIndex);
  const endByte = countOf(segment.endIndex);
  const words = typeof segment.text === 'string' ? segment.text : '';
  for (const { part, text } of texts) {
    const bytes = Buffer.from(text);
    if (endByte > bytes.length || (words !== '' && bytes.subarray(startByte, endByte).toString() !== words)) continue;
    const start = codePoints(bytes.subarray(0, startByte).toString());
    return { part, start, end: start + codePoints(bytes.subarray(startByte, endByte).toString()) };
  }
  if (words === '') return undefined;
  for (const { part, text } of texts) {
    const at = text.indexOf(words);
    if (at < 0) continue;
    const start = codePoints(text.slice(0, at));
    return { part, start, end: start + codePoints(words) };
  }
  return undefined;
}

function objectsIn(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function countOf(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
