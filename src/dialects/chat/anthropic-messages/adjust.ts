/** Adjusts a messages request to the model, both the client's own body and one written from the call. */

import type { ChatCall } from '../../../canonical/call.ts';
import { isObject } from '../../../canonical/json.ts';
import type { Adjustment } from '../../shared/adjust.ts';
import type { OutgoingBody } from '../../shared/outgoing-body.ts';
import { type MessagesModelTraits, traitsOf } from './model-traits.ts';
import { refusesSampling } from './version.ts';

/** What a messages request needs before its top-level members are adjusted: it depends on the generation of the model. */
export const ADJUSTMENTS: readonly Adjustment<ChatCall>[] = [
  (body, call, _quirks, warnings, model) => {
    const traits = traitsOf(model);
    dropSampling(body, call, traits, warnings);
    lowerCeiling(body, call, traits, warnings);
    replaceBudget(body, call, traits, warnings);
  },
];

function dropSampling(
  body: OutgoingBody,
  { sampling, headers }: ChatCall,
  traits: MessagesModelTraits,
  warnings: Set<string>,
): void {
  if (traits.sampling !== 'none' && !refusesSampling(headers['anthropic-version'])) return;
  if (sampling.temperature !== undefined) drop(body, 'temperature', 1, warnings);
  if (sampling.topP !== undefined) drop(body, 'top_p', 1, warnings);
  if (sampling.topK !== undefined) drop(body, 'top_k', undefined, warnings);
}

/** No warning if the value is the provider's default. */
function drop(body: OutgoingBody, member: string, usual: number | undefined, warnings: Set<string>): void {
  if (body.get(member) !== usual)
    warnings.add(`\`${member}\` was dropped: the model does not accept sampling settings.`);
  body.set(member, undefined);
}

/** Client libraries that do not know a model request more output tokens than it supports. */
function lowerCeiling(
  body: OutgoingBody,
  { maxOutputTokens }: ChatCall,
  { maxOutputTokens: most }: MessagesModelTraits,
  warnings: Set<string>,
): void {
  if (most === undefined || maxOutputTokens === undefined || maxOutputTokens <= most) return;
  body.set('max_tokens', most);
  warnings.add(`The output limit was lowered to ${most}, the model’s maximum.`);
}

/** The newest models think by effort only and reject a budget. */
function replaceBudget(
  body: OutgoingBody,
  { reasoning }: ChatCall,
  traits: MessagesModelTraits,
  warnings: Set<string>,
): void {
  if (traits.thinking !== 'adaptive' || reasoning?.budgetTokens === undefined) return;
  const thinking = body.get('thinking');
  if (!isObject(thinking) || thinking.type !== 'enabled') return;
  body.set('thinking', { type: 'adaptive', display: reasoning.summary === 'none' ? 'omitted' : 'summarized' });
  warnings.add('`thinking.budget_tokens` was dropped: the model chooses its budget itself.');
}
