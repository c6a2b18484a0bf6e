/** Estimated usage of a call whose client disconnected after it was sent and before any output: its input. */
import type { Call } from '../../canonical/call.ts';
import type { Usage } from '../../canonical/usage.ts';
import { allTokens } from '../pricing/quote.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** `sendings`: the number of upstream calls that each contained the whole input. */
export function estimatedUsage(call: Call, sendings = 1): Usage {
  const estimate = estimateTokens(call);
  const usage: Usage = { input: allTokens(estimate) * sendings, output: 0, source: 'estimated' };
  if (estimate.image > 0) usage.imageInput = estimate.image * sendings;
  if (estimate.audio > 0) usage.audioInput = estimate.audio * sendings;
  if (call.kind === 'embed') usage.characters = call.inputs.reduce((sum, text) => sum + charactersIn(text), 0);
  if (call.kind === 'speech') usage.characters = charactersIn(call.input);
  if (call.kind === 'transcription') usage.seconds = call.length.seconds;
  return usage;
}

function charactersIn(text: string | readonly number[]): number {
  return typeof text === 'string' ? text.length : 0;
}
