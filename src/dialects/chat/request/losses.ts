/** Warnings that the writers of several formats share, for what their format cannot express in a request. */
import type { ChatCall } from '../../../canonical/call.ts';
import { isEmpty } from '../../../canonical/json.ts';
import { unsupportedMembers } from '../../shared/unsupported-members.ts';
import { completionLosses } from './completion-turn.ts';

/** Reports settings that neither Anthropic messages nor Bedrock Converse have, and a request for output that is not text. */
export function reportUnknownSettings(call: ChatCall, losses: Set<string>): void {
  const { sampling, completion, modalities } = call;
  if (completion) for (const loss of completionLosses(completion)) losses.add(loss);
  if (sampling.presencePenalty) losses.add(unknown('presence_penalty'));
  if (sampling.frequencyPenalty) losses.add(unknown('frequency_penalty'));
  if (sampling.seed !== undefined) losses.add(unknown('seed'));
  if (sampling.logitBias && !isEmpty(sampling.logitBias)) losses.add(unknown('logit_bias'));
  if (sampling.logprobs) losses.add(unknown('logprobs'));
  if (call.verbosity) losses.add(unknown('verbosity'));
  if (call.image) losses.add(unknown('image'));
  if (modalities?.some((modality) => modality !== 'text'))
    losses.add('`modalities` were dropped: the model answers in text.');
}

export function unknown(member: string): string {
  return `\`${member}\` was dropped: the model does not know it.`;
}

/** Reports the members of the client's format that the format `own` does not have, grouped by format. */
export function reportUnsupported(call: ChatCall, own: string, losses: Set<string>): void {
  for (const { dialect, names } of unsupportedMembers(call, own)) {
    const verb = names.length > 1 ? 'were' : 'was';
    losses.add(`\`${names.join('`, `')}\` of ${dialect} had no counterpart and ${verb} dropped.`);
  }
}

/** The same in the words of OpenAI's formats: one warning for each member. */
export function reportUnsupportedEach(call: ChatCall, own: string, losses: Set<string>): void {
  for (const { names } of unsupportedMembers(call, own)) {
    for (const member of names) losses.add(`\`${member}\` was dropped: this model's format has no such member.`);
  }
}

/** The stop sequences without blank ones, which Anthropic and Bedrock reject. */
export function stopsOf({ sampling: { stop = [] } }: ChatCall, losses: Set<string>): string[] {
  const visible = stop.filter((sequence) => sequence.trim() !== '');
  if (visible.length < stop.length)
    losses.add('A stop sequence of white space was dropped: the model does not accept it.');
  return visible;
}

/** The temperature, at most 1, the maximum of Claude models. */
export function temperatureOf({ sampling: { temperature } }: ChatCall, losses: Set<string>): number | undefined {
  if (temperature === undefined || temperature <= 1) return temperature;
  losses.add('`temperature` was lowered to 1, the model’s maximum.');
  return 1;
}
