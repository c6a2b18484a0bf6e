/** Disputed calls: the provider's report was implausible, so the hold was charged, and the operator decides once. */
import { GatewayError } from '../canonical/errors.ts';
import { type Money, readMoney, writeMoney } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { Audit, CallRow, EntryRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Ledger, MovingKind } from './ledger.ts';
import { charge } from './pricing/charge.ts';

/** `accept`: the provider's report counts. `reject`: the delivered usage counts. */
export type DisputeDecision = 'accept' | 'reject';

/** Amounts in nano-USD. */
export interface Dispute {
  /** The cost by the provider's report, and what was charged: the hold. */
  claimed: Money;
  charged: Money;
  /** Absent while undecided. */
  decision?: DisputeDecision;
}

/** What settling a dispute needs. */
export interface DisputeSettings {
  store: Store;
  ledger: Ledger;
  /** Parses the components of a price version. */
  readPrice(components: string): Price;
}

const NOTES: { readonly [decision in DisputeDecision]: string } = {
  accept: "dispute accepted: the provider's report counts",
  reject: 'dispute rejected: what was delivered counts',
};

/** One idempotency key per call, so that a dispute is settled once. */
const keyOf = (callId: string) => `dispute:${callId}`;

/** `undefined` if the call is not disputed. */
export async function disputeOf(store: Store, call: CallRow): Promise<Dispute | undefined> {
  const { claimed } = call.usage ?? {};
  if (call.outcome !== 'disputed' || !claimed) return undefined;
  const entry = await store.entryByKey(call.account, keyOf(call.id));
  const decision = decisionIn(entry);
  return { claimed: readMoney(claimed.cost) ?? call.cost, charged: call.cost, ...(decision && { decision }) };
}

/**
 * `accept` charges the difference to the provider's report; `reject` refunds what was charged beyond the delivered usage. Repeating the
 * same decision returns the first entry; the other decision throws `conflict`.
 */
export async function settleDispute(
  { store, ledger, readPrice }: DisputeSettings,
  callId: string,
  decision: DisputeDecision,
  at: number,
  audit: (call: CallRow) => Audit<EntryRow>,
): Promise<EntryRow> {
  const call = await store.call(callId);
  if (!call) throw new GatewayError('not_found', `There is no call "${callId}".`, { param: 'id' });
  const dispute = await disputeOf(store, call);
  if (!dispute) throw new GatewayError('conflict', `The call "${callId}" is not disputed.`, { param: 'id' });
  const first = await firstDecision(store, call, decision);
  if (first) return first;
  const { kind, amount } = await movement({ store, readPrice }, call, dispute, decision);
  try {
    return await ledger.topUp(call.account, amount, {
      kind,
      callId,
      note: NOTES[decision],
      idempotencyKey: keyOf(callId),
      at,
      audit: audit(call),
    });
  } catch (thrown) {
    // Another request has decided meanwhile.
    const other = await firstDecision(store, call, decision);
    if (other) return other;
    throw thrown;
  }
}

async function firstDecision(store: Store, call: CallRow, decision: DisputeDecision): Promise<EntryRow | undefined> {
  const entry = await store.entryByKey(call.account, keyOf(call.id));
  const made = decisionIn(entry);
  if (made === undefined || made === decision) return entry;
  const sentence = `The dispute of call "${call.id}" was already settled by "${made}": correct the balance by an adjustment.`;
  throw new GatewayError('conflict', sentence, { param: 'decision' });
}

function decisionIn(entry: EntryRow | undefined): DisputeDecision | undefined {
  if (!entry) return undefined;
  return entry.note === NOTES.accept ? 'accept' : 'reject';
}

async function movement(
  { store, readPrice }: Pick<DisputeSettings, 'store' | 'readPrice'>,
  call: CallRow,
  { claimed, charged }: Dispute,
  decision: DisputeDecision,
): Promise<{ kind: MovingKind; amount: Money }> {
  const given = await store.corrections(call.id);
  if (decision === 'accept') return { kind: 'adjustment', amount: charged - claimed };
  const price = await store.price(call.priceId);
  // If the gateway has no count of its own of what was delivered, the charge stays.
  if (!price || call.usage?.source !== 'counted') return { kind: 'refund', amount: 0n };
  const delivered = charge(call.usage, readPrice(price.components));
  // What was already refunded is not refunded again.
  const left = charged - delivered - given;
  return { kind: 'refund', amount: left > 0n ? left : 0n };
}

/** As the admin API shows it: amounts as decimal strings in USD. */
export function writeDispute({ claimed, charged, decision }: Dispute): object {
  return { claimed: writeMoney(claimed), charged: writeMoney(charged), ...(decision && { decision }) };
}
