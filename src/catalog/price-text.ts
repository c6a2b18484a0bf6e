/** Prices as text: the components the store keeps, and the form people write (`price: { input: 0.15, output: 0.60 }`). */
import { isObject } from '../canonical/json.ts';
import { type Pico, readMoney, readPricePerMillion, writeMoney, writePricePerMillion } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';

type Component = keyof Price;

/** How one component is written by people: under which name, in which unit. */
interface PeoplesComponent {
  component: Component;
  /** What the number means, for error sentences. */
  unit: string;
  read(text: string): bigint | undefined;
  write(value: bigint): string;
}

const perMillion = (component: Component, units: string): PeoplesComponent => ({
  component,
  unit: `USD per million ${units}, with at most 6 decimals`,
  read: readPricePerMillion,
  write: writePricePerMillion,
});
const each = (component: Component, unit: string): PeoplesComponent => ({
  component,
  unit: `USD per ${unit}, with at most 9 decimals`,
  read: readMoney,
  write: writeMoney,
});

/** The people's names, in the order in which prices are written. */
const COMPONENTS: { readonly [name: string]: PeoplesComponent } = {
  input: perMillion('input', 'tokens'),
  cachedInput: perMillion('cachedInput', 'tokens'),
  cacheWrite: perMillion('cacheWrite', 'tokens'),
  cacheWriteHour: perMillion('cacheWriteHour', 'tokens'),
  output: perMillion('output', 'tokens'),
  reasoning: perMillion('reasoning', 'tokens'),
  audioInput: perMillion('audioInput', 'tokens'),
  audioOutput: perMillion('audioOutput', 'tokens'),
  imageInput: perMillion('imageInput', 'tokens'),
  imageOutput: perMillion('imageOutput', 'tokens'),
  perCall: each('perCall', 'call'),
  perImage: each('perImage', 'image'),
  perSecond: each('perSecond', 'second'),
  perMillionCharacters: perMillion('perCharacter', 'characters'),
};

/** The members people may write in a price. */
export const PRICE_MEMBERS: readonly string[] = Object.keys(COMPONENTS);

/** A decimal as text without an exponent: `String(0.00000015)` would be "1.5e-7". */
function decimalText(value: number): string {
  const text = String(value);
  const [mantissa = '', exponent] = text.split('e');
  if (exponent === undefined || Number(exponent) > 0) return text;
  const [whole = '', fraction = ''] = mantissa.split('.');
  const places = -Number(exponent) + fraction.length;
  const digits = (whole + fraction).padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Reads one amount that people wrote as a number or a string; `undefined` where it is none, negative, or too fine. */
function readAmount(value: unknown, read: (text: string) => bigint | undefined): Pico | undefined {
  const text = typeof value === 'number' ? decimalText(value) : value;
  const amount = typeof text === 'string' ? read(text) : undefined;
  return amount === undefined || amount < 0n ? undefined : amount;
}

/** The people's form to a Price; a fault is a sentence that begins with the member at `path`. */
export function readPeoplesPrice(value: unknown, path: string): { price: Price } | { fault: string; param: string } {
  if (!isObject(value)) {
    return {
      param: path,
      fault: `${path} must be an object such as { input: 0.15, output: 0.60 } in USD per million tokens`,
    };
  }
  for (const name of Object.keys(value)) {
    if (COMPONENTS[name]) continue;
    const param = `${path}.${name}`;
    return { param, fault: `${param} is not a part of a price: the parts are ${PRICE_MEMBERS.join(', ')}` };
  }
  const price: Price = {};
  for (const [name, { component, unit, read }] of Object.entries(COMPONENTS)) {
    const written = value[name];
    if (written === undefined || written === null) continue;
    const amount = readAmount(written, read);
    const param = `${path}.${name}`;
    if (amount === undefined) return { param, fault: `${param} must be ${unit}, zero or more (0.15 or "0.15")` };
    price[component] = amount;
  }
  return { price };
}

/** A Price in the form people write, as decimal strings. */
export function writePeoplesPrice(price: Price): { [name: string]: string } {
  const written: { [name: string]: string } = {};
  for (const [name, { component, write }] of Object.entries(COMPONENTS)) {
    const amount = price[component];
    if (amount !== undefined) written[name] = write(amount);
  }
  return written;
}

/** A Price as the store keeps it. Equal prices give equal text. */
export function writeComponents(price: Price): string {
  const components: { [name: string]: string } = {};
  for (const { component } of Object.values(COMPONENTS)) {
    const amount = price[component];
    if (amount !== undefined) components[component] = amount.toString();
  }
  return JSON.stringify(components);
}

/** A Price from the store's text; throws where the row is none, since a call must never be charged by a guess. */
export function readComponents(text: string): Price {
  const components: unknown = JSON.parse(text);
  if (!isObject(components)) throw new Error('a price row holds no price');
  const price: Price = {};
  for (const { component } of Object.values(COMPONENTS)) {
    const amount = components[component];
    if (typeof amount === 'string') price[component] = BigInt(amount);
  }
  return price;
}
