/** Recomputes bills from stored usage and the price version that each call names. */
import type { Money } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { Audit, CallPlace, CallRow, EntryRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { charge, MAXIMUM_CALL_COST } from './pricing/charge.ts';

/** A call whose bill differs from its usage times price. */
export interface ChargeDifference {
  call: CallRow;
  /** What was charged, including corrections and refunds. */
  charged: Money;
  due: Money;
}

/** Counts of calls. */
export interface Replayed {
  calls: number;
  /** Calls that cannot be recomputed: without usage, without a price, or disputed. */
  skipped: number;
  differences: number;
}

/** Calls from `from` to before `to`, in milliseconds since 1970. */
export interface ReplayOptions {
  from: number;
  to: number;
  /** Parses the components of a price version. */
  readPrice(components: string): Price;
  found(difference: ChargeDifference): void | Promise<void>;
}

const CALLS_AT_ONCE = 500;
/** Calls that one query reads. */
const EXAMINED = 20_000;

/** Only reads; `found` may enter a correction. */
export async function replay(store: Store, { from, to, readPrice, found }: ReplayOptions): Promise<Replayed> {
  const prices = new Map<string, Price | undefined>();
  async function priceOf(id: string): Promise<Price | undefined> {
    if (!prices.has(id)) {
      const row = await store.price(id);
      prices.set(id, row && readPrice(row.components));
    }
    return prices.get(id);
  }

  const replayed = { calls: 0, skipped: 0, differences: 0 };
  let after: CallPlace | undefined;
  do {
    const page = { from, to, limit: CALLS_AT_ONCE, ...(after && { after }) };
    const { calls, next } = await store.callPage(page, EXAMINED);
    for (const call of calls) {
      replayed.calls++;
      // A disputed call was charged its hold, whatever its usage.
      const isDue = call.usage !== undefined && call.outcome !== 'disputed';
      const price = isDue ? await priceOf(call.priceId) : undefined;
      if (!price || call.usage === undefined) {
        replayed.skipped++;
        continue;
      }
      const due = charge(call.usage, price);
      if (due > MAXIMUM_CALL_COST) {
        replayed.skipped++;
        continue;
      }
      if (due === call.cost) continue;
      // Earlier corrections count; they are read only for calls that differ.
      const charged = call.cost - (await store.corrections(call.id));
      if (due === charged) continue;
      replayed.differences++;
      await found({ call, charged, due });
    }
    // A place, not the id of a call: retention may remove the call meanwhile.
    after = next;
  } while (after);
  return replayed;
}

/** Enters the difference. The same difference is entered only once. */
export async function enterCorrection(
  ledger: Ledger,
  { call, charged, due }: ChargeDifference,
  at: number,
  audit: Audit<EntryRow>,
): Promise<void> {
  await ledger.topUp(call.account, charged - due, {
    kind: 'adjustment',
    callId: call.id,
    note: 'recomputed from usage and price',
    idempotencyKey: `replay:${call.id}:${charged}:${due}`,
    at,
    audit,
  });
}
