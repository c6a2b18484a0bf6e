/** Recognises the plain conversation, which most calls are. */
import type { Call } from './call.ts';

/** Whether the conversation has only texts and requests one choice: then it is not searched for tools, media or signatures. */
export function isTextOnly(call: Call): boolean {
  if (call.kind !== 'chat' || call.origin.plainTurns !== call.messages) return false;
  return call.tools.length === 0 && !call.completion && (call.sampling.n ?? 1) === 1;
}
