/** Applies a provider's quirks to a request. There is one way for the client's own body and one written from the call. */
import type { Call } from '../../canonical/call.ts';
import type { Written } from '../dialect.ts';
import { adjustMembers } from './adjust-members.ts';
import { type OutgoingBody, OwnBody } from './outgoing-body.ts';
import { type ModelQuirks, type Quirks, quirksOf } from './quirks.ts';

/** A change of a request that one format makes. `losses` gets a sentence for each change that the client should know of. */
export type Adjustment<C extends Call> = (
  body: OutgoingBody,
  call: C,
  quirks: ModelQuirks,
  losses: Set<string>,
  model: string,
) => void;

const NONE: readonly never[] = [];

/**
 * Changes the body to what the provider's model accepts: first by the format's own adjustments, in order, then by the quirks about
 * top-level members (`rejects`, `fixed`, `renames`), which mean the same in every format. What needs no change stays byte for byte.
 *
 * @example
 * const body = new OwnBody(call.origin.body);
 * adjust(body, call, 'mistral-large', quirks, losses, ADJUSTMENTS);
 * return { body: body.encode(), warnings: [...losses] };
 */
export function adjust<C extends Call>(
  body: OutgoingBody,
  call: C,
  model: string,
  all: Quirks | ModelQuirks,
  losses: Set<string>,
  adjustments: readonly Adjustment<C>[] = NONE,
): void {
  const quirks = quirksOf(all, model);
  for (const change of adjustments) change(body, call, quirks, losses, model);
  for (const warning of adjustMembers(body, quirks)) losses.add(warning);
}

/** The client's own body for a provider of the same format: its model is named as the provider does, then it is adjusted. */
export function passOwn<C extends Call>(
  call: C,
  model: string,
  quirks: Quirks,
  adjustments?: readonly Adjustment<C>[],
): Written {
  const body = new OwnBody(call.origin.body);
  if (model !== call.model) body.set('model', model);
  const losses = new Set<string>();
  adjust(body, call, model, quirks, losses, adjustments);
  return { body: body.encode(), warnings: [...losses] };
}
