/** What the providers charge for a call, by the `cost` of its target. */
import type { Money } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { charge } from '../../ledger/pricing/charge.ts';

interface CostedTarget {
  readonly cost?: Price;
}

interface CostedCall {
  readonly target: CostedTarget | undefined;
  /** The other request of a hedged call. */
  readonly rival: { readonly asked: { readonly target: CostedTarget | undefined } } | undefined;
  /** The reported usage was not believed. */
  readonly disputed: object | undefined;
  readonly meter: { readonly isContinued: boolean };
}

/** `undefined`: not known. `used` is absent where nothing was delivered, which providers do not charge. */
export function providerCost(
  used: Usage | undefined,
  { target, rival, disputed, meter }: CostedCall,
): Money | undefined {
  if (used?.source === 'cached') return 0n;
  // Of a reply that two targets wrote it is not known which tokens are whose.
  if (!target?.cost || disputed || meter.isContinued) return undefined;
  if (!used) return 0n;
  const { hedge, ...own } = used;
  if (!hedge) return charge(own, target.cost);
  const other = rival?.asked.target?.cost;
  return other && charge(own, target.cost) + charge(hedge.usage, other);
}
