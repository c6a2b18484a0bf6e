/** Lists that are answered in pages. */
import { type TProperties, type TSchema, Type } from 'typebox';
import type { Page } from '../../store/rows.ts';

export const PAGE_LIMIT = 100;

/** Query parameters of a paged list. */
export const PAGE = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'an integer from 1 to 1000' })),
  after: Type.Optional(Type.String({ description: 'the "next" of the page before' })),
} satisfies TProperties;

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
