/** What is asked of a provider of the same format where the gateway keeps the conversation itself. */
import type { ChatCall } from '../../../../canonical/call.ts';
import { OPENAI_RESPONSES } from '../../names.ts';

export const INCLUDE_REASONING = 'reasoning.encrypted_content';

/** These refuse to be asked for reasoning, which they have none of. */
const THOUGHTLESS_MODELS = /^(.*\/)?(gpt-[34]|chatgpt-4o)/;

export function givesReasoning(model: string): boolean {
  return !THOUGHTLESS_MODELS.test(model);
}

/** One keeper is enough; the thinking must come back with the reply, so that any target can be gone on with. */
export function keptHere({ thread, extras }: ChatCall, model: string): { store?: boolean; include?: string[] } {
  if (thread?.replyId === undefined) return {};
  const asked = extras[OPENAI_RESPONSES]?.include;
  const include = Array.isArray(asked) ? asked.map(String) : [];
  if (!givesReasoning(model) || include.includes(INCLUDE_REASONING)) return { store: false };
  return { store: false, include: [...include, INCLUDE_REASONING] };
}
