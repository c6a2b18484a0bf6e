/** Prices as text: the stored components, and the form in modelport.yaml (`price: { input: 0.15, output: 0.60 }`). */
import { isObject, type JsonObject } from '../canonical/json.ts';
import {
  type Pico,
  readFactor,
  readMoney,
  readPricePerMillion,
  writeFactor,
  writeMoney,
  writePricePerMillion,
} from '../canonical/money.ts';
import type { PiecePrice, Price, Tier, TokenRates } from '../canonical/price.ts';

type Component = Exclude<keyof Price, 'images' | 'clips' | 'tiers'>;

/** One component in the form: its name and unit. */
interface PeoplesComponent {
  component: Component;
  /** The unit, for error messages. */
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

/** Names in the form, in the order in which prices are written. */
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
  perCacheHit: each('perCacheHit', 'call answered from the cache'),
  perToolCall: each('perToolCall', 'call of a provider tool'),
  perToolUse: each('perToolUse', 'call that uses provider tools'),
  perImage: each('perImage', 'image'),
  perInputImage: each('perInputImage', 'input image'),
  perSecond: each('perSecond', 'second'),
  perMillionCharacters: perMillion('perCharacter', 'characters'),
};

/** Token rates: the members of a tier. */
const RATES = Object.entries(COMPONENTS).filter(([name]) => !name.startsWith('per'));
/** Members that may also be a list by size and quality, and the component that holds the list. */
const LISTS = { perImage: 'images', perSecond: 'clips' } as const;
/** The stored names of these lists. That of images was "pictures" in the first version, and price rows never change. */
const STORED_LISTS = { images: 'pictures', clips: 'clips' } as const;

/** The members of a price in the form. */
const PRICE_MEMBERS: readonly string[] = [...Object.keys(COMPONENTS), 'tiers'];

/** A decimal without exponent: `String(0.00000015)` would be "1.5e-7". */
function decimalText(value: number): string {
  const text = String(value);
  const [mantissa = '', exponent] = text.split('e');
  if (exponent === undefined || Number(exponent) > 0) return text;
  const [whole = '', fraction = ''] = mantissa.split('.');
  const places = -Number(exponent) + fraction.length;
  const digits = (whole + fraction).padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Parses an amount given as number or string. `undefined` if it is invalid, negative, or too fine. */
function readAmount(value: unknown, read: (text: string) => bigint | undefined): Pico | undefined {
  const text = typeof value === 'number' ? decimalText(value) : value;
  const amount = typeof text === 'string' ? read(text) : undefined;
  return amount === undefined || amount < 0n ? undefined : amount;
}

/** An error about a member: a sentence that begins with its path. */
interface MemberFault {
  param: string;
  fault: string;
}

/** Parses a price in the form; an error begins with the member at `path`. */
export function readPeoplesPrice(value: unknown, path: string): { price: Price } | MemberFault {
  try {
    return { price: readPrice(value, path) };
  } catch (thrown) {
    if (thrown instanceof PriceFault) return { param: thrown.param, fault: thrown.message };
    throw thrown;
  }
}

class PriceFault extends Error {
  readonly param: string;
  constructor(param: string, rest: string) {
    super(`${param} ${rest}`);
    this.param = param;
  }
}

function readPrice(value: unknown, path: string): Price {
  if (!isObject(value)) {
    throw new PriceFault(path, 'must be an object such as { input: 0.15, output: 0.60 } in USD per million tokens');
  }
  refuseUnknown(value, path, PRICE_MEMBERS, 'a price');
  const price: Price = {};
  for (const [name, how] of Object.entries(COMPONENTS)) {
    const written = value[name];
    if (written == null) continue;
    const list = LISTS[name as keyof typeof LISTS];
    if (list !== undefined && Array.isArray(written)) readPieces(price, list, written, how, `${path}.${name}`);
    else price[how.component] = readOne(written, how, `${path}.${name}`);
  }
  if (value.tiers != null) price.tiers = readTiers(value.tiers, `${path}.tiers`);
  return price;
}

function readOne(written: unknown, { unit, read }: PeoplesComponent, param: string): bigint {
  const amount = readAmount(written, read);
  if (amount === undefined) throw new PriceFault(param, `must be ${unit}, zero or more (0.15 or "0.15")`);
  return amount;
}

/** The row without conditions is the default; without it, the most expensive row applies. */
function readPieces(
  price: Price,
  list: 'images' | 'clips',
  written: readonly unknown[],
  how: PeoplesComponent,
  path: string,
): void {
  const pieces: PiecePrice[] = [];
  for (const [i, one] of written.entries()) {
    const param = `${path}[${i}]`;
    if (!isObject(one)) throw new PriceFault(param, 'must be an object such as { size: 1024x1024, price: 0.04 }');
    refuseUnknown(one, param, ['size', 'quality', 'price'], 'it');
    const { size, quality } = one;
    for (const [name, word] of Object.entries({ size, quality })) {
      if (word != null && typeof word !== 'string') throw new PriceFault(`${param}.${name}`, 'must be a string');
    }
    const amount = readOne(one.price, how, `${param}.price`);
    pieces.push({
      ...(typeof size === 'string' && { size }),
      ...(typeof quality === 'string' && { quality }),
      price: amount,
    });
  }
  if (pieces.length === 0) throw new PriceFault(path, 'must have at least one price');
  const forAll = pieces.find(({ size, quality }) => size === undefined && quality === undefined);
  price[how.component] = forAll?.price ?? pieces.reduce((most, one) => (one.price > most ? one.price : most), 0n);
  price[list] = pieces;
}

function readTiers(written: unknown, path: string): Tier[] {
  if (!Array.isArray(written) || written.length === 0) {
    throw new PriceFault(path, 'must be a list such as [{ from: 200001, input: 4, output: 18 }]');
  }
  const tiers = written.map((one: unknown, i) => readTier(one, `${path}[${i}]`)).sort((a, b) => a.from - b.from);
  const twin = tiers.find(({ from }, i) => from === tiers[i + 1]?.from);
  if (twin) throw new PriceFault(path, `must have one tier from ${twin.from} tokens on, not two`);
  return tiers;
}

function readTier(written: unknown, param: string): Tier {
  if (!isObject(written))
    throw new PriceFault(param, 'must be an object such as { from: 200001, input: 4, output: 18 }');
  const names = RATES.map(([name]) => name);
  refuseUnknown(written, param, ['from', ...names], 'a tier');
  const { from } = written;
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1) {
    throw new PriceFault(`${param}.from`, 'must be a whole number of input tokens above zero');
  }
  const tier: Tier = { from };
  for (const [name, how] of RATES) {
    if (written[name] != null)
      tier[how.component as keyof TokenRates] = readOne(written[name], how, `${param}.${name}`);
  }
  return tier;
}

function refuseUnknown(value: JsonObject, path: string, members: readonly string[], whole: string): void {
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown === undefined) return;
  throw new PriceFault(`${path}.${unknown}`, `is not a member of ${whole}: the members are ${members.join(', ')}`);
}

/** A price in the form: decimal strings, lists by size and quality, tiers. */
export type PeoplesPrice = { [name: string]: string | readonly { [name: string]: string | number }[] };

/** Writes a price in the form, with decimal strings. */
export function writePeoplesPrice(price: Price): PeoplesPrice {
  const written: PeoplesPrice = {};
  for (const [name, { component, write }] of Object.entries(COMPONENTS)) {
    const amount = price[component];
    const pieces = price[LISTS[name as keyof typeof LISTS]];
    if (pieces) written[name] = pieces.map((piece) => ({ ...piece, price: write(piece.price) }));
    else if (amount !== undefined) written[name] = write(amount);
  }
  if (price.tiers) written.tiers = price.tiers.map(({ from, ...rates }) => ({ from, ...writeRates(rates) }));
  return written;
}

function writeRates(rates: TokenRates): { [name: string]: string } {
  const written: { [name: string]: string } = {};
  for (const [name, { component, write }] of RATES) {
    const rate = rates[component as keyof TokenRates];
    if (rate !== undefined) written[name] = write(rate);
  }
  return written;
}

/** Writes a price on one line: "input 2, output 12, tiers (from 200001, input 4, output 18)". */
export function priceLine(price: PeoplesPrice): string {
  const members = Object.entries(price).map(([name, written]) => {
    if (typeof written === 'string') return `${name} ${written}`;
    const lines = written.map((line) => Object.entries(line).map(([word, value]) => `${word} ${value}`));
    return `${name} ${lines.map((words) => `(${words.join(', ')})`).join(' ')}`;
  });
  return members.join(', ');
}

/** A price as it is stored in a price version: JSON with integers as text, in a fixed order, so that equal prices are equal texts. */
export function writeComponents(price: Price): string {
  const components: { [name: string]: unknown } = {};
  for (const { component } of Object.values(COMPONENTS)) {
    const amount = price[component];
    if (amount !== undefined) components[component] = amount.toString();
  }
  for (const list of Object.values(LISTS)) {
    const pieces = price[list];
    if (pieces)
      components[STORED_LISTS[list]] = pieces.map(({ size, quality, price: each }) => [size, quality, each.toString()]);
  }
  if (price.factor !== undefined) components.factor = writeFactor(price.factor);
  if (price.tiers) {
    components.tiers = price.tiers.map((tier) => {
      const rates = RATES.map(([, { component }]) => [component, tier[component as keyof TokenRates]] as const);
      const given = rates.filter(([, rate]) => rate !== undefined).map(([name, rate]) => [name, String(rate)]);
      return { from: tier.from, ...Object.fromEntries(given) };
    });
  }
  return JSON.stringify(components);
}

/** Parses a stored price. Throws if it is invalid, because a call must never be charged by a guess. */
export function readComponents(text: string): Price {
  const components: unknown = JSON.parse(text);
  if (!isObject(components)) throw new Error('a price row holds no price');
  const price: Price = {};
  for (const { component } of Object.values(COMPONENTS)) {
    const amount = components[component];
    if (typeof amount === 'string') price[component] = BigInt(amount);
  }
  for (const list of Object.values(LISTS)) {
    const pieces = components[STORED_LISTS[list]] as [string | null, string | null, string][] | undefined;
    if (!pieces) continue;
    price[list] = pieces.map(([size, quality, each]) => ({
      ...(size !== null && { size }),
      ...(quality !== null && { quality }),
      price: BigInt(each),
    }));
  }
  if (components.factor !== undefined) {
    const factor = readFactor(String(components.factor));
    if (factor === undefined) throw new Error('a price row has no valid factor');
    price.factor = factor;
  }
  const tiers = components.tiers as { [name: string]: string | number }[] | undefined;
  if (tiers) price.tiers = tiers.map(readStoredTier);
  return price;
}

function readStoredTier(stored: { [name: string]: string | number }): Tier {
  const tier: Tier = { from: Number(stored.from) };
  for (const [, { component }] of RATES) {
    const rate = stored[component];
    if (typeof rate === 'string') tier[component as keyof TokenRates] = BigInt(rate);
  }
  return tier;
}
