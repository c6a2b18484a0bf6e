/** Estimates the usage of a call whose provider reported none. */
import type { ChatCall } from '../../canonical/call.ts';
import type { Usage } from '../../canonical/usage.ts';
import { estimateInputTokens } from '../chat/request/estimate-input.ts';

const OUTPUT_CHARACTERS_PER_TOKEN = 4;

export function estimateUsage(call: ChatCall, outputCharacters: number): Usage {
  const output = Math.ceil(outputCharacters / OUTPUT_CHARACTERS_PER_TOKEN);
  return { input: estimateInputTokens(call), output, source: 'counted' };
}
