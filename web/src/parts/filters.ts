/** Filters live in the address. Pure functions; the pages hand them to the router. */

export type Search = { readonly [name: string]: string | undefined };

/** Filters of the calls; the address also has `after`, the page, and `call`, the one in the drawer. */
export const CALL_FILTERS = [
  'period',
  'account',
  'key',
  'model',
  'provider',
  'status',
  'outcome',
  'error',
  'tag',
  'cost_above',
] as const;

/** What the addresses of the other lists hold: filters, `after`, the page, and `open`, the row in the drawer. */
export const LIST_FILTERS = [
  'account',
  'status',
  'after',
  'open',
  'subject',
  'actor',
  'action',
  'period',
  'tab',
  'model',
  'kind',
  'key',
] as const;

export type ListSearch = { [N in (typeof LIST_FILTERS)[number]]?: string | undefined };

/** Keeps the named parameters that have a value, as text. The router reads `?status=500` as a number. */
export function readSearch<Name extends string>(
  names: readonly Name[],
  given: Record<string, unknown>,
): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = given[name];
    if (typeof value === 'string' && value !== '') found[name] = value;
    else if (typeof value === 'number' || typeof value === 'boolean') found[name] = String(value);
  }
  return found;
}

/** The search with one filter set or removed; a new filter begins at the newest page. */
export function withFilter<S extends Search>(search: S, name: keyof S & string, value: string | undefined): S {
  const next: Record<string, string | undefined> = { ...search, after: undefined, [name]: value || undefined };
  return Object.fromEntries(Object.entries(next).filter(([, text]) => text !== undefined)) as S;
}

export const PERIODS = ['1h', '24h', '7d', '30d', '90d'] as const;
export type Period = (typeof PERIODS)[number];

const HOUR = 3_600_000;
const LENGTHS: { readonly [P in Period]: number } = {
  '1h': HOUR,
  '24h': 24 * HOUR,
  '7d': 7 * 24 * HOUR,
  '30d': 30 * 24 * HOUR,
  '90d': 90 * 24 * HOUR,
};

export function readPeriod(value: unknown, fallback: Period): Period {
  return PERIODS.find((period) => period === value) ?? fallback;
}

/** The period up to now and the one before it, of the same length. */
export function spanOf(period: Period, now: number): { from: Date; to: Date; before: Date } {
  const length = LENGTHS[period];
  return { from: new Date(now - length), to: new Date(now), before: new Date(now - 2 * length) };
}

/** Where the figures of the period begin: with a slot of the sums they are read from, so that all its steps are whole. */
export function beginningOf(period: Period, now: number): Date {
  const length = LENGTHS[period];
  if (period === '1h') return new Date(now - length);
  const step = period === '24h' ? HOUR : 24 * HOUR;
  return new Date(Math.floor(now / step) * step + step - length);
}
