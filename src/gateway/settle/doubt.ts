/** Checks a usage report that costs much more than was held against what was delivered. */

import type { Call } from '../../canonical/call.ts';
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Model } from '../../catalog/catalog.ts';
import type { Frame } from '../../dialects/dialect.ts';
import { isBeyondDoubt, isDisputed, mostOf } from '../../ledger/doubt.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import { type Extras, outputCeiling } from '../../ledger/pricing/quote.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Meter } from './meter.ts';

/** What a usage report is checked against. */
interface CheckedCall {
  readonly call: Call;
  readonly model: Model;
  /** What was held for the call. */
  readonly covered: Money;
  readonly meter: Meter;
  /** How many upstream requests carried the whole input. */
  readonly sendings: number;
  /** What it costs besides its tokens. */
  readonly extras?: Extras | undefined;
}

/** The usage to record where the report is not believed, with what was claimed; `undefined`: it is believed. */
export async function disputedUsage(
  deps: GatewayDeps,
  context: CheckedCall,
  reported: Usage,
  cost: Money,
): Promise<Usage | undefined> {
  const { call, model, sendings, covered, extras } = context;
  const delivered = await context.meter.delivery(deps.countTexts);
  const ceiling = outputCeiling(call, model.maxOutputTokens);
  const checked = {
    call,
    ceiling,
    contextTokens: model.contextTokens,
    sendings,
    toolCalls: extras?.toolCalls ?? 0,
    delivered,
  };
  if (!isDisputed(reported, cost, covered, mostOf(checked, reported))) return undefined;
  // Only texts and images are counted here; for other kinds it is an estimate.
  const isCounted = call.kind === 'chat' || call.kind === 'image';
  const source = isCounted ? 'counted' : 'estimated';
  return { ...delivered, source, claimed: { cost: writeMoney(cost), usage: reported } };
}

/** Whether the frame reports usage that costs so much that it may be disputed. */
export function mayBeDisputed({ model, covered }: Pick<CheckedCall, 'model' | 'covered'>, frame: Frame): boolean {
  for (const event of frame.brief ?? frame.events)
    if (event.type === 'usage') return !isBeyondDoubt(charge(event.usage, model.price), covered);
  return false;
}
