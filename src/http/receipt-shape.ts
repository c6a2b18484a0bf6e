/** A call with its receipt, as the admin API and its own caller see it. */
import { Type } from 'typebox';
import { type Pico, writeFactor, writeMoney } from '../canonical/money.ts';
import { readComponents } from '../catalog/price-text.ts';
import { listCharge } from '../ledger/pricing/charge.ts';
import { type ChargeItem, itemize } from '../ledger/pricing/itemize.ts';
import type { CallRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { ReceiptAttempt } from '../telemetry/receipt.ts';
import { Time, writeTime } from './fields/time.ts';
import { Usd } from './fields/usd.ts';

export const ATTEMPT = Type.Object({
  provider: Type.String(),
  target: Type.String({ description: 'the provider and its name of the model, such as main/gpt-4o' }),
  credential: Type.Optional(Type.String({ description: 'the last four characters' })),
  status: Type.Optional(Type.Integer({ description: 'the HTTP status; absent: no response came' })),
  outcome: Type.String({ description: 'ok, failed, cancelled (the client left, or another target was faster)' }),
  startedMs: Type.Number({ description: 'milliseconds since the call began' }),
  firstTokenMs: Type.Optional(Type.Number({ description: 'until the first token of a stream, or the whole response' })),
  durationMs: Type.Optional(Type.Number()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.Optional(Type.String()) })),
});

/** Of admins and callers. */
const LABELS = {
  clientRequestId: Type.Optional(Type.String({ description: 'the `x-request-id` of the request' })),
  user: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.Object({})),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'from the header `x-modelport-tags`' })),
  hold: Type.Optional(Usd),
  losses: Type.Optional(Type.Array(Type.String(), { description: 'what translation dropped or approximated' })),
  limits: Type.Optional(Type.Object({}, { description: "what was left of the caller's rate limits" })),
  error: Type.Optional(
    Type.Object({ code: Type.String(), message: Type.String(), param: Type.Optional(Type.String()) }),
  ),
  listCost: Type.Optional({ ...Usd, description: 'of an account in a price group: the cost at list price' }),
  priceFactor: Type.Optional(
    Type.String({ description: '`cost` is `listCost` times this, rounded up to a billionth' }),
  ),
  charge: Type.Array(
    Type.Object({
      component: Type.String({ description: 'of the price: input, output, perCall …' }),
      quantity: Type.Integer({ description: 'tokens, pieces, or milliseconds' }),
      rate: Type.String({ description: 'USD for one' }),
      amount: Type.String({ description: 'USD, exact; `listCost` or `cost` is the sum, rounded up to a billionth' }),
    }),
  ),
};

export const RECEIPT = {
  ...LABELS,
  attempts: Type.Array(ATTEMPT),
  admittedMs: Type.Optional(Type.Number({ description: 'milliseconds until the hold was taken' })),
  route: Type.Optional(Type.Array(Type.String(), { description: 'the targets in order, each with its reason' })),
  entries: Type.Array(
    Type.Object({
      seq: Type.Integer(),
      kind: Type.String(),
      amount: Usd,
      balanceAfter: Usd,
      at: Time,
      note: Type.Optional(Type.String()),
    }),
  ),
};

const PICO_DIGITS = 12;

type Charged = Pick<CallRow, 'usage' | 'priceId' | 'cost'>;

/** Usage times list price, component by component; of an account in a price group also the sum of that, and the factor. */
export async function chargeOf(store: Store, call: Charged): Promise<object> {
  const { usage, price } = (await pricedUsage(store, call)) ?? {};
  if (!usage || !price) return { charge: [] };
  const charge = itemize(usage, price).map((item) => writeItem(item));
  if (price.factor === undefined) return { charge };
  return { charge, listCost: writeMoney(listCharge(usage, price)), priceFactor: writeFactor(price.factor) };
}

/** What the account holder sees: rates times the factor. Group, factor and list price are the operator's margin. */
export async function ownChargeOf(store: Store, call: Charged): Promise<object> {
  const { usage, price } = (await pricedUsage(store, call)) ?? {};
  return { charge: usage && price ? itemize(usage, price).map((item) => writeItem(item, price.factor)) : [] };
}

async function pricedUsage(store: Store, { usage, priceId, cost }: Charged) {
  const version = usage && priceId !== '' && cost > 0n ? await store.price(priceId) : undefined;
  return usage && version ? { usage, price: readComponents(version.components) } : undefined;
}

const writeItem = ({ component, quantity, rate, amount }: ChargeItem, factor?: bigint) => ({
  component,
  quantity,
  rate: writePico(withFactor(rate, factor)),
  amount: writePico(withFactor(amount, factor)),
});

/** To a trillionth, never below. */
const withFactor = (pico: Pico, factor: bigint | undefined): Pico =>
  factor === undefined ? pico : (pico * factor + 999_999n) / 1_000_000n;

export async function entriesOf(store: Store, { id }: Pick<CallRow, 'id'>): Promise<object[]> {
  return (await store.entriesOfCall(id)).map(({ seq, kind, amount, balanceAfter, at, note }) => ({
    seq,
    kind,
    amount: writeMoney(amount),
    balanceAfter: writeMoney(balanceAfter),
    at: writeTime(at),
    ...(note !== undefined && { note }),
  }));
}

function writePico(pico: Pico): string {
  const digits = String(pico).padStart(PICO_DIGITS + 1, '0');
  const fraction = digits.slice(-PICO_DIGITS).replace(/0+$/, '');
  return `${digits.slice(0, -PICO_DIGITS)}${fraction && `.${fraction}`}`;
}

/** What a caller sees of an attempt, where the operator does not show providers. */
export function plainAttempt({ status, outcome, startedMs, firstTokenMs, durationMs, error }: ReceiptAttempt): object {
  return {
    ...(status !== undefined && { status }),
    outcome,
    startedMs,
    ...(firstTokenMs !== undefined && { firstTokenMs }),
    ...(durationMs !== undefined && { durationMs }),
    ...(error && { error: { code: error.code } }),
  };
}
