/** Applies a provider's quirks to a request. There is one way for the client's own body and one written from the call. */
import type { Call } from '../../canonical/call.ts';
import { adjustMembers } from './adjust-members.ts';
import type { OutgoingBody } from './outgoing-body.ts';
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
