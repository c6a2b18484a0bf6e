/**
 * Adds the parts and the role that a reply lacks: without them the official library drops the turn from its history.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

const NEEDS_PARTS: readonly unknown[] = [undefined, 'STOP', 'MAX_TOKENS'];

/** Returns the same object if nothing is missing. */
export function normalizeReply(payload: JsonObject): JsonObject {
  const { candidates } = payload;
  if (!Array.isArray(candidates) || !candidates.some(isLame)) return payload;
  return {
    ...payload,
    candidates: candidates.map((candidate) => (isLame(candidate) ? normalized(candidate) : candidate)),
  };
}

function isLame(candidate: Json): candidate is JsonObject {
  if (!isObject(candidate) || !NEEDS_PARTS.includes(candidate.finishReason)) return false;
  const { parts, role } = isObject(candidate.content) ? candidate.content : {};
  return role === undefined || !Array.isArray(parts) || parts.length === 0 || parts.some(isEmpty);
}

function normalized(candidate: JsonObject): JsonObject {
  const content = isObject(candidate.content) ? candidate.content : {};
  const parts = Array.isArray(content.parts) ? content.parts.filter((part) => !isEmpty(part)) : [];
  const filled = parts.length > 0 ? parts : [{ text: '' }];
  return { ...candidate, content: { role: 'model', ...content, parts: filled } };
}

function isEmpty(part: Json): boolean {
  return isObject(part) && Object.keys(part).length === 0;
}
