/** Money: nano-USD (1e-9 USD) as `bigint`; prices per token in pico-USD (1e-12 USD). Users write decimal strings in USD. */

/** An amount in nano-USD. */
export type Money = bigint;
/** A price per unit (token, character …) in pico-USD. */
export type Pico = bigint;

const NANO_DIGITS = 9;
const NANO = 10 ** NANO_DIGITS;
const NANO_PER_USD = BigInt(NANO);
const ZEROS = Array.from({ length: NANO_DIGITS }, (_, count) => '0'.repeat(count));
const MOST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);
const LEAST_EXACT = -MOST_EXACT;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
/** Far above any amount. Reading a million digits would hold up all calls of a process for seconds. */
const LONGEST_TEXT = 200;

/** Parses a decimal string as an integer with `digits` decimal places. `undefined` if it is not a decimal or has more places. */
function readDecimal(text: string, digits: number): bigint | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const match = DECIMAL.exec(text.trim());
  if (!match) return undefined;
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  if (fraction.length > digits) return undefined;
  const whole = BigInt(match[2] + fraction.padEnd(digits, '0'));
  return match[1] ? -whole : whole;
}

/** "5.00" -> 5_000_000_000n. `undefined` if the text is not an amount, or is finer than a nano-USD. */
export function readMoney(text: string): Money | undefined {
  return readDecimal(text, NANO_DIGITS);
}

/** All digits of an amount, without a point. Converting a bigint to text costs several times as much as a number. */
export function digitsOf(amount: Money): string {
  return amount <= MOST_EXACT && amount >= LEAST_EXACT ? String(Number(amount)) : String(amount);
}

/** 5_000_000_000n -> "5", 1_500n -> "0.0000015": exact to the nano-USD, without trailing zeros. */
export function writeMoney(amount: Money): string {
  if (amount < 0n) return `-${writeMoney(-amount)}`;
  if (amount > MOST_EXACT) {
    const whole = amount / NANO_PER_USD;
    return withFraction(String(whole), Number(amount - whole * NANO_PER_USD));
  }
  const number = Number(amount);
  const nanos = number % NANO;
  return withFraction(String((number - nanos) / NANO), nanos);
}

function withFraction(whole: string, nanos: number): string {
  if (nanos === 0) return whole;
  let fraction = nanos;
  let places = NANO_DIGITS;
  while (fraction % 10 === 0) {
    fraction /= 10;
    places--;
  }
  const digits = String(fraction);
  return `${whole}.${ZEROS[places - digits.length]}${digits}`;
}

/** USD per million units, as written in prices ("0.15"), to pico-USD per unit. `undefined` if finer than a pico-USD. */
export function readPricePerMillion(text: string): Pico | undefined {
  return readDecimal(text, 6);
}

/** Pico-USD per unit to USD per million units, as written in prices. */
export function writePricePerMillion(price: Pico): string {
  return writeMoney(price * 1000n);
}

/** Pico-USD to nano-USD, rounded up. Used once, at the end of a charge. */
export function roundUp(pico: Pico): Money {
  return (pico + 999n) / 1000n;
}

const FACTOR_DIGITS = 6;
const FACTOR_ONE = 10n ** BigInt(FACTOR_DIGITS);
/** Far above any real margin; the product stays far below the largest database integer. */
const LARGEST_FACTOR = 1000n * FACTOR_ONE;

/** "1.2" -> 1_200_000n, in millionths. `undefined` unless it is a decimal above zero, up to 1000, with at most six places. */
export function readFactor(text: string): bigint | undefined {
  const factor = readDecimal(text, FACTOR_DIGITS);
  return factor !== undefined && factor > 0n && factor <= LARGEST_FACTOR ? factor : undefined;
}

/** 1_200_000n -> "1.2". */
export const writeFactor = (factor: bigint): string => writePricePerMillion(factor);

/** An amount at list price times a factor in millionths, rounded up to the nano-USD. */
export function timesFactor(amount: Money, factor: bigint): Money {
  return (amount * factor + FACTOR_ONE - 1n) / FACTOR_ONE;
}

/** Adds counts times rates exactly. Uses a number while it is exact, because bigints cost many times as much. */
export class RateSum {
  #small = 0;
  #large = 0n;

  /** `count` is an integer; neither argument is negative. */
  add(count: number, rate: Pico): void {
    const sum = this.#small + count * Number(rate);
    // Below this limit neither the rate nor the product nor the sum was rounded.
    if (sum <= Number.MAX_SAFE_INTEGER) this.#small = sum;
    else this.#large += BigInt(count) * rate;
  }

  /** Rounded up. */
  total(): Money {
    if (this.#large > 0n) return roundUp(this.#large + BigInt(this.#small));
    const rest = this.#small % 1000;
    return BigInt((this.#small - rest) / 1000 + (rest > 0 ? 1 : 0));
  }
}

/** The factor by which a price group multiplies list prices: in millionths, and as it is written in ids of price versions. */
export interface PriceFactor {
  readonly millionths: bigint;
  readonly text: string;
}

/** Each factor once. Throws an Error for a text that is no factor: no charge is guessed. */
export function readPriceFactor(text: string): PriceFactor {
  const millionths = readFactor(text);
  if (millionths === undefined) throw new Error(`"${text}" is not a factor of a price group.`);
  return { millionths, text: writeFactor(millionths) };
}
