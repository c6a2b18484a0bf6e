/**
 * Money is decimal text of USD. It is never a floating-point number here: amounts are integers of a trillionth of a dollar (the unit of the
 * gateway's receipts), so that sums and comparisons are exact.
 */
export const DIGITS = 12;
const SCALE = 10n ** BigInt(DIGITS);
const MINUS = '−';

export type Pico = bigint;

export function parseMoney(text: string): Pico {
  const match = /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(text);
  if (!match) throw new Error(`not an amount: ${text}`);
  const [, sign, whole, fraction = ''] = match;
  const amount = BigInt(whole as string) * SCALE + BigInt(fraction.padEnd(DIGITS, '0'));
  return sign ? -amount : amount;
}

export function compareMoney(a: string, b: string): number {
  const difference = parseMoney(a) - parseMoney(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The amount with so many decimals, half away from zero; `minimum` decimals stay even if they are zeros. */
export function rounded(amount: Pico, decimals: number, minimum: number): string {
  const unit = 10n ** BigInt(DIGITS - decimals);
  const absolute = amount < 0n ? -amount : amount;
  const units = (absolute + unit / 2n) / unit;
  const digits = String(units).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals);
  const kept = fraction.replace(/0+$/, '').padEnd(minimum, '0');
  const sign = amount < 0n && units > 0n ? MINUS : '';
  return `${sign}$${groupThousands(whole)}${kept && `.${kept}`}`;
}

const groupThousands = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ',');

export const isZero = (text: string) => /^-?0(\.0+)?$/.test(text);

/** Cents, as in figures and balances: `$1,284.51`; below a cent six decimals, so that a small amount is not shown as nothing. */
export function shortMoney(text: string | undefined): string {
  if (text === undefined) return '–';
  if (isZero(text)) return '$0';
  const amount = parseMoney(text);
  const absolute = amount < 0n ? -amount : amount;
  return absolute < SCALE / 100n ? rounded(amount, 6, 2) : rounded(amount, 2, 2);
}

/** Only for the height of a bar or a point of a line, never for text. */
export function chartValue(text: string): number {
  return Number(text);
}

/** `a` as a share of `b` in percent, for bars; 0 where `b` is nothing. */
export function sharePercent(a: string, b: string): number {
  const whole = parseMoney(b);
  if (whole <= 0n) return 0;
  return Number((parseMoney(a) * 10_000n) / whole) / 100;
}

/** The change from `before` to `now` in percent; undefined where there was nothing before. */
export function changePercent(now: string, before: string): number | undefined {
  const base = parseMoney(before);
  if (base <= 0n) return undefined;
  return Number(((parseMoney(now) - base) * 100_000n) / base) / 1000;
}
