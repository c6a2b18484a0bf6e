/** Asks of a report that costs much more than was held whether it fits what was delivered. */
import { type Money, writeMoney } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';
import { isDisputed, mostOf } from '../ledger/doubt.ts';
import { outputCeiling } from '../ledger/quote.ts';
import type { GatewayRooms } from './rooms.ts';
import type { Walk } from './walk.ts';

/** What the call is taken to have used where the report is not believed, with what was claimed; `undefined`: it is believed. */
export async function disputedUsage(
  rooms: GatewayRooms,
  walk: Walk,
  reported: Usage,
  cost: Money,
): Promise<Usage | undefined> {
  const { call, model, sendings, hold } = walk;
  const delivered = await walk.meter.delivery(rooms.countTexts);
  const ceiling = outputCeiling(call, model.maxOutputTokens);
  const judged = { call, ceiling, contextTokens: model.contextTokens, sendings, delivered };
  if (!isDisputed(reported, cost, hold.amount, mostOf(judged, reported))) return undefined;
  // What else than texts and images was delivered nobody here has counted.
  const isCounted = call.kind === 'chat' || call.kind === 'image';
  const source = isCounted ? 'counted' : 'estimated';
  return { ...delivered, source, claimed: { cost: writeMoney(cost), usage: reported } };
}
