/** Settings for a provider of this format when the gateway stores the conversation. */
import type { ChatCall } from '../../../../canonical/call.ts';
import { OPENAI_RESPONSES } from '../../names.ts';

export const INCLUDE_REASONING = 'reasoning.encrypted_content';

/** Models without reasoning reject a request for it. */
const THOUGHTLESS_MODELS = /^(.*\/)?(gpt-[34]|chatgpt-4o)/;

export function givesReasoning(model: string): boolean {
  return !THOUGHTLESS_MODELS.test(model);
}

/**
 * The provider need not store the reply too. Its reasoning must be returned in the reply, so that any target can
 * continue.
 */
export function keptHere({ thread, extras }: ChatCall, model: string): { store?: boolean; include?: string[] } {
  if (thread?.replyId === undefined) return {};
  const asked = extras[OPENAI_RESPONSES]?.include;
  const include = Array.isArray(asked) ? asked.map(String) : [];
  if (!givesReasoning(model) || include.includes(INCLUDE_REASONING)) return { store: false };
  return { store: false, include: [...include, INCLUDE_REASONING] };
}
