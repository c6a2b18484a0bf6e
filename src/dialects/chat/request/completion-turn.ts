/** Turns a text completion into a user turn, for providers that only have chat formats. */
import type { ChatCall, Completion, Message } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';

/**
 * The text of the turn. Throws `invalid_request` (param `prompt`) for a prompt of token ids: only the model's own
 * provider can decode them.
 */
export function completionAsTurn(prompt: string | readonly number[], suffix: string | undefined): string {
  if (typeof prompt !== 'string') {
    throw new GatewayError(
      'invalid_request',
      'This model cannot read `prompt` as token ids: send it as text, or ask a model that serves text completions itself.',
      { param: 'prompt' },
    );
  }
  if (suffix === undefined || suffix === '') return prompt;
  return [
    'Write the text that belongs between the beginning and the end below, so that the three read as one.',
    'Answer with the missing text alone, without repeating the beginning or the end and without a word about it.',
    `<beginning>\n${prompt}\n</beginning>`,
    `<end>\n${suffix}\n</end>`,
  ].join('\n\n');
}

/** A warning for each member of the completion that a chat request cannot express. */
export function completionLosses(completion: Completion): string[] {
  const losses: string[] = [];
  if (completion.bestOf !== undefined && completion.bestOf > 1) {
    losses.push('`best_of` was dropped: the model answers each prompt once for each choice.');
  }
  if (completion.logprobs !== undefined) losses.push('`logprobs` was dropped: the model does not report them here.');
  return losses;
}

/** The messages of a call; a text completion becomes one user turn. */
export function messagesOf({ completion, messages }: ChatCall): readonly Message[] {
  const prompt = completion?.prompts[0];
  if (!completion || prompt === undefined) return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: completionAsTurn(prompt, completion.suffix) }] }];
}
