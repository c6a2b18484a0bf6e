/** Asks of a report that costs much more than was held whether it fits what was delivered. */

import type { Call } from '../canonical/call.ts';
import { type Money, writeMoney } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Model } from '../catalog/catalog.ts';
import type { Frame } from '../dialects/dialect.ts';
import { charge } from '../ledger/charge.ts';
import { isBeyondDoubt, isDisputed, mostOf } from '../ledger/doubt.ts';
import { type Extras, outputCeiling } from '../ledger/quote.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { Meter } from './meter.ts';

/** Of a call: what its report is judged by. */
interface Judged {
  readonly call: Call;
  readonly model: Model;
  /** What was held for the call. */
  readonly covered: Money;
  readonly meter: Meter;
  /** How many requests its input went out in. */
  readonly sendings: number;
  /** What it asks for beside its tokens. */
  readonly extras?: Extras | undefined;
}

/** What the call is taken to have used where the report is not believed, with what was claimed; `undefined`: it is believed. */
export async function disputedUsage(
  deps: GatewayDeps,
  context: Judged,
  reported: Usage,
  cost: Money,
): Promise<Usage | undefined> {
  const { call, model, sendings, covered, extras } = context;
  const delivered = await context.meter.delivery(deps.countTexts);
  const ceiling = outputCeiling(call, model.maxOutputTokens);
  const judged = {
    call,
    ceiling,
    contextTokens: model.contextTokens,
    sendings,
    toolCalls: extras?.toolCalls ?? 0,
    delivered,
  };
  if (!isDisputed(reported, cost, covered, mostOf(judged, reported))) return undefined;
  // What else than texts and images was delivered nobody here has counted.
  const isCounted = call.kind === 'chat' || call.kind === 'image';
  const source = isCounted ? 'counted' : 'estimated';
  return { ...delivered, source, claimed: { cost: writeMoney(cost), usage: reported } };
}

/** Whether what it reports costs so much that it may be disputed. */
export function claimsMuch({ model, covered }: Pick<Judged, 'model' | 'covered'>, { events }: Frame): boolean {
  for (const event of events)
    if (event.type === 'usage') return !isBeyondDoubt(charge(event.usage, model.price), covered);
  return false;
}
