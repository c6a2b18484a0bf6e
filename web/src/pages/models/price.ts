/** Prices as the API writes them: components with an amount each, some with tiers. Pure. */
import type { Model, Price } from '../../api/types.ts';
import { sumMoney } from '../../format/amounts.ts';
import { parseMoney } from '../../format/money.ts';

/** The components with a plain amount, in the order of the API. */
export function plainComponents(price: Price): readonly (readonly [component: string, amount: string])[] {
  return Object.entries(price).flatMap(([component, amount]) =>
    typeof amount === 'string' ? [[component, amount] as const] : [],
  );
}

/** Components that are more than an amount: tiers, sizes, seasons. */
export function otherComponents(price: Price): readonly (readonly [component: string, value: unknown])[] {
  return Object.entries(price).filter(([, value]) => typeof value !== 'string');
}

const MILLION = 1_000_000n;
const SAMPLE = { input: 1000n, output: 500n };

/** What a call of 1,000 tokens in and 500 out costs, exact; undefined where tokens are not what is priced. */
export function sampleCost({ input, output }: Price): string | undefined {
  if (typeof input !== 'string' || typeof output !== 'string') return undefined;
  const pico = (parseMoney(input) * SAMPLE.input + parseMoney(output) * SAMPLE.output) / MILLION;
  return sumMoney([writePico(pico)]);
}

const DIGITS = 12;

function writePico(pico: bigint): string {
  const digits = String(pico).padStart(DIGITS + 1, '0');
  return `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}

export interface PriceChange {
  component: string;
  before: string | undefined;
  after: string | undefined;
}

const written = (value: unknown) =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);

/** What one version changed of the one before it. */
export function priceDiff(before: Price, after: Price): readonly PriceChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((component) => ({ component, before: written(before[component]), after: written(after[component]) }))
    .filter((change) => change.before !== change.after);
}

/** The request that sets these amounts; what the price has beside them stays. */
export function newPrice(
  { name, priceId, price }: Pick<Model, 'name' | 'priceId' | 'price'>,
  amounts: { readonly [component: string]: string | undefined },
): object {
  return { model: name, price: { ...price, ...amounts }, replaces: priceId };
}
