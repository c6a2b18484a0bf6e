/**
 * What a settlement makes of a usage report: whether it is believed, where it costs much more than was held; the tokens that count in rate
 * limits; what the providers charge.
 */
import type { Call } from '../../canonical/call.ts';
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Model } from '../../catalog/catalog.ts';
import type { Frame } from '../../dialects/dialect.ts';
import { isBeyondDoubt, isDisputed, mostOf } from '../../ledger/doubt.ts';
import { charge, MAXIMUM_BESIDE_CHARGE } from '../../ledger/pricing/charge.ts';
import { choices, type Extras, outputCeiling } from '../../ledger/pricing/quote.ts';
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
  for (const event of frame.events)
    if (event.type === 'usage') return !isBeyondDoubt(charge(event.usage, model.price), covered);
  return false;
}

interface Counted {
  readonly call: Call;
  readonly model: { readonly maxOutputTokens: number };
  readonly estimatedInput: number;
  readonly sendings: number;
}

/** Input is estimated at three bytes per token, and a token has at least one byte. */
const INPUT_TIMES = 3;
/** Hidden reasoning, and prompts of the provider. */
const OUTPUT_TIMES = 2;
const OWN_PROMPT_TOKENS = 2000;

/** A report that claims more costs nothing where the model is free, and would keep every other call out for hours. */
export function countedTokens({ call, model, estimatedInput, sendings }: Counted, { input, output }: Usage): number {
  const sent = INPUT_TIMES * estimatedInput * sendings + OWN_PROMPT_TOKENS;
  const asked = OUTPUT_TIMES * outputCeiling(call, model.maxOutputTokens) * choices(call);
  return Math.min(input + output, sent + asked);
}

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

/** `undefined`: not known, or by tokens that cannot be true. `used` is absent where nothing was delivered, which providers do not charge. */
export function providerCost(
  used: Usage | undefined,
  { target, rival, disputed, meter }: CostedCall,
): Money | undefined {
  if (used?.source === 'cached') return 0n;
  // Of a reply that two targets wrote it is not known which tokens are whose.
  if (!target?.cost || disputed || meter.isContinued) return undefined;
  if (!used) return 0n;
  const { hedge, ...own } = used;
  const other = hedge ? rival?.asked.target?.cost : {};
  if (!other) return undefined;
  const cost = charge(own, target.cost) + (hedge ? charge(hedge.usage, other) : 0n);
  return cost > MAXIMUM_BESIDE_CHARGE ? undefined : cost;
}
