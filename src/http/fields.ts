/** Members shared by several routes (amounts, times, pages): their schemas, parsing and writing. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { GatewayError } from '../canonical/errors.ts';
import { type Money, readMoney } from '../canonical/money.ts';
import type { Page } from '../store/rows.ts';

const AN_AMOUNT = 'an amount in USD as a decimal string, such as "5.00"';
const A_TIME = 'a time in ISO 8601, such as "2027-01-31T12:00:00Z", or in seconds since 1970';

/** Responses contain strings. Requests may also send JSON numbers (`5`) if they are exact to one nano-USD. */
export const Usd = Type.String({ description: AN_AMOUNT });
export const UsdInput = Type.Union([Type.String(), Type.Number()], { description: AN_AMOUNT });
export type UsdInput = Static<typeof UsdInput>;

const NANO_DIGITS = 9;
/** Ten million USD: far below the largest database integer, far above any real amount. */
const LARGEST = 10_000_000n * 10n ** 9n;

export function moneyOf(value: UsdInput, param: string): Money {
  const amount = readMoney(typeof value === 'number' ? value.toFixed(NANO_DIGITS) : value);
  if (amount !== undefined && amount <= LARGEST && amount >= -LARGEST) return amount;
  throw new GatewayError(
    'invalid_request',
    `"${param}" must be ${AN_AMOUNT}, with at most nine decimals, and at most ten million.`,
    {
      param,
    },
  );
}

export const Time = Type.String({ format: 'date-time' });
export const TimeInput = Type.Union([Type.String(), Type.Number()], { description: A_TIME });
export type TimeInput = Static<typeof TimeInput>;

/** The largest time that a JavaScript Date can hold. */
const LAST_TIME = 8.64e15;
/** Numbers below this are seconds (until the year 3110), numbers above are milliseconds (since 1971). */
const FIRST_MILLISECONDS = 36_000_000_000;

/** Milliseconds since 1970. */
export function timeOf(value: TimeInput, param: string): number {
  const number = typeof value === 'number' ? value : /^\d+$/.test(value) ? Number(value) : undefined;
  const given = number === undefined ? Date.parse(String(value)) : number < FIRST_MILLISECONDS ? number * 1000 : number;
  const time = Math.round(given);
  if (time >= 0 && time <= LAST_TIME) return time;
  throw new GatewayError('invalid_request', `"${param}" must be ${A_TIME}.`, { param });
}

export const writeTime = (time: number): string => new Date(time).toISOString();

export const PAGE_LIMIT = 100;

/** Query parameters of a paged list. */
export const PAGE = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'an integer from 1 to 1000' })),
  after: Type.Optional(Type.String({ description: 'the "next" of the page before' })),
} satisfies TProperties;

/** A schema that the OpenAPI document shows under its own name, so that generated clients have a type for it. */
export const named = <P extends TProperties>($name: string, properties: P) => Type.Object(properties, { $name });

/** A page of a list in the admin API. `next` is the `after` of the next page; null on the last page. */
export function listOf(row: TSchema) {
  return Type.Object({
    data: Type.Array(row),
    hasMore: Type.Boolean(),
    next: Type.Union([Type.String(), Type.Null()]),
  });
}

/** Reads one row more than requested, to know whether there are more. */
export async function pageOf<Row>(
  query: { limit?: number; after?: string },
  read: (page: Page) => Promise<Row[]>,
  idOf: (row: Row) => string,
  write: (row: Row) => object | Promise<object>,
): Promise<object> {
  const limit = query.limit ?? PAGE_LIMIT;
  const rows = await read({ limit: limit + 1, ...(query.after !== undefined && { after: query.after }) });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { data: await Promise.all(page.map(write)), hasMore, next: hasMore && last ? idOf(last) : null };
}
