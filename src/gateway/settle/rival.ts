/** The cost of a call's other request: that of the slower concurrent target (`attempt/hedge.ts`). */
import type { Call } from '../../canonical/call.ts';
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import { estimatedUsage } from '../../ledger/tokens/estimated-usage.ts';

interface HedgedRequest {
  readonly target: { readonly provider: string; readonly model: string; readonly cost?: Price } | undefined;
  readonly sendings: number;
  readonly cancellation: { readonly sent: boolean };
}

/** Two requests of a call at the same time. Until one of them answers both may be billed. */
export interface Rival {
  /** The one that does not answer. */
  readonly asked: HedgedRequest;
  readonly beside: HedgedRequest;
}

export interface RivalCost {
  usage: Usage;
  cost: Money;
}

/** It is charged as a call is whose client left: its estimated input. `undefined`: not both were sent. */
export function rivalCost(
  rival: Rival | undefined,
  { call, model }: { call: Call; model: { price: Price } },
): RivalCost | undefined {
  if (!rival?.asked.cancellation.sent || !rival.beside.cancellation.sent) return undefined;
  const usage = estimatedUsage(call, rival.asked.sendings);
  return { usage, cost: charge(usage, model.price) };
}

/** The usage of the call as it is recorded. */
export function withRival(used: Usage, { asked: { target } }: Rival, { usage, cost }: RivalCost): Usage {
  const { provider = '', model: targetModel = '' } = target ?? {};
  return { ...used, hedge: { provider, targetModel, cost: writeMoney(cost), usage } };
}

interface CallSoFar {
  call: Call;
  model: { price: Price };
  meter: { soFar(): Usage };
  /** The part of the hold that covers this model. */
  covered: Money;
  rival: Rival | undefined;
}

/** What a stream is charged if its process dies now, computed as its settlement is. */
export function costSoFar({ call, model, meter, covered, rival }: CallSoFar): Money {
  const used = meter.soFar();
  const own = charge(used, model.price);
  const other = rivalCost(rival, { call, model });
  // An early usage report may claim anything: at most the hold is charged.
  if (own >= covered) return covered + (other?.cost ?? 0n);
  return rival && other ? charge(withRival(used, rival, other), model.price) : own;
}
