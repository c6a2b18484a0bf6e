/** The state of a key in one word, the most urgent first. */
import type { Key } from '../../api/types.ts';
import { sharePercent } from '../../format/money.ts';

export type KeyState = {
  s: 'ok' | 'warn' | 'idle';
  word: 'active' | 'disabled' | 'expired' | 'expiresIn' | 'budgetAt';
  n: number;
};

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
const NEARLY = 80;

const WINDOWS = ['month', 'day', 'total'] as const;

/** The budget that is nearest to its end, where the spending is known. */
export function budgetShare({ budget, spent }: Key): { window: (typeof WINDOWS)[number]; percent: number } | undefined {
  const shares = WINDOWS.flatMap((window) => {
    const amount = budget?.[window];
    if (amount === undefined) return [];
    return [{ window, percent: spent ? sharePercent(spent[window], amount) : 0 }];
  });
  return shares.sort((a, b) => b.percent - a.percent)[0];
}

export function stateOf(key: Key, now: number): KeyState {
  if (key.disabledAt) return { s: 'idle', word: 'disabled', n: 0 };
  const left = key.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt) - now;
  if (left <= 0) return { s: 'idle', word: 'expired', n: 0 };
  const used = Math.floor(budgetShare(key)?.percent ?? 0);
  if (used >= NEARLY) return { s: 'warn', word: 'budgetAt', n: used };
  if (left < SOON_DAYS * DAY_MS) return { s: 'idle', word: 'expiresIn', n: Math.max(1, Math.ceil(left / DAY_MS)) };
  return { s: 'ok', word: 'active', n: 0 };
}
