/** Computes what caches have saved of a call: those of the provider, and the gateway's own. */
import type { Money } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { charge } from './charge.ts';

/**
 * What the same tokens cost at the same price if none of them is read from or written to a cache, minus what was charged. Negative
 * where writing a cache cost more than reading it saved. 0 where there was no cache.
 */
export function savedBy(usage: Usage, price: Price, charged: Money): Money {
  const { source, cachedInput, cacheWrite, cacheWriteHour } = usage;
  if (source !== 'cached' && !cachedInput && !cacheWrite && !cacheWriteHour) return 0n;
  return charge({ ...usage, source: 'reported', cachedInput: 0, cacheWrite: 0, cacheWriteHour: 0 }, price) - charged;
}
