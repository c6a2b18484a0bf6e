/** Amounts as they are typed, summed and shown exactly. Not in money.ts: the first page has only figures. */
import { DIGITS, isZero, type Pico, parseMoney, rounded } from './money.ts';

/** What a person typed: `1,000.50` or `$5`. Undefined where it is not an amount. */
export function readAmount(typed: string): string | undefined {
  const text = typed.trim().replace(/^\$/, '').replaceAll(',', '');
  return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? text : undefined;
}

export function sumMoney(amounts: readonly string[]): string {
  return writeDecimal(amounts.reduce((sum, amount) => sum + parseMoney(amount), 0n));
}

export function multiplyMoney(amount: string, factor: number | bigint): string {
  return writeDecimal(parseMoney(amount) * BigInt(factor));
}

export function subtractMoney(from: string, amount: string): string {
  return writeDecimal(parseMoney(from) - parseMoney(amount));
}

function writeDecimal(amount: Pico): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -DIGITS)}${fraction && `.${fraction}`}`;
}

/** Exact, as on receipts: `$0.0225216`. At least two decimals. */
export function exactMoney(text: string | undefined): string {
  if (text === undefined) return '–';
  return isZero(text) ? '$0' : rounded(parseMoney(text), DIGITS, 2);
}

/** Six decimals, as in lists of calls: `$0.022522`. */
export function listMoney(text: string | undefined): string {
  if (text === undefined) return '–';
  return isZero(text) ? '$0' : rounded(parseMoney(text), 6, 6);
}
