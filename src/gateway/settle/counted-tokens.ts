/** The tokens of a call that count in rate limits: those of its usage, as far as they fit what was sent and asked for. */
import type { Call } from '../../canonical/call.ts';
import type { Usage } from '../../canonical/usage.ts';
import { choices, outputCeiling } from '../../ledger/pricing/quote.ts';

interface Counted {
  readonly call: Call;
  readonly model: { readonly maxOutputTokens: number };
  readonly estimatedInput: number;
  readonly sendings: number;
}

/** Input is estimated at three bytes per token, and a token has at least one byte. */
const INPUT_TIMES = 3;
/** Hidden reasoning, and prompts of the provider. */
const OUTPUT_TIMES = 2;
const OWN_PROMPT_TOKENS = 2000;

/** A report that claims more costs nothing where the model is free, and would keep every other call out for hours. */
export function countedTokens({ call, model, estimatedInput, sendings }: Counted, { input, output }: Usage): number {
  const sent = INPUT_TIMES * estimatedInput * sendings + OWN_PROMPT_TOKENS;
  const asked = OUTPUT_TIMES * outputCeiling(call, model.maxOutputTokens) * choices(call);
  return Math.min(input + output, sent + asked);
}
