/** Warns about cache marks when the target's format has none, because its provider caches automatically. */
import type { ChatCall, Part } from '../../../canonical/call.ts';

export const CACHE_MARKS_DROPPED = 'Cache marks were dropped: the model caches on its own.';

export function hasCacheMarks({ messages, tools }: ChatCall): boolean {
  return messages.some(({ parts }) => parts.some(isMarked)) || tools.some((tool) => 'cache' in tool && tool.cache);
}

function isMarked(part: Part): boolean {
  if ('cache' in part && part.cache !== undefined) return true;
  return part.type === 'tool-result' && part.parts.some(isMarked);
}
