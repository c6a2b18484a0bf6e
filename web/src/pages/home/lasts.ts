/** How long a balance lasts at the rate of the last 24 hours. Pure. */
import { parseMoney } from '../../format/money.ts';

const DAY_MS = 86_400_000;
const WARN_DAYS = 7;

/** Undefined where nothing was spent, or where it lasts longer than a week. */
export function lastsUntil(
  balance: string,
  spentInDay: string,
  now: number,
): { days: number; until: Date } | undefined {
  const [left, rate] = [parseMoney(balance), parseMoney(spentInDay)];
  if (rate <= 0n || left <= 0n) return undefined;
  const milliseconds = Number((left * BigInt(DAY_MS)) / rate);
  if (milliseconds > WARN_DAYS * DAY_MS) return undefined;
  return { days: Math.max(1, Math.round(milliseconds / DAY_MS)), until: new Date(now + milliseconds) };
}
