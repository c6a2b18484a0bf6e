/** The list of calls while new ones arrive. */
import type { CallRow, Page } from '../../api/types.ts';

/** The page with a call that has ended, in the place of its beginning. The oldest row gives way; "Older" begins after it again. */
export function withCall(page: Page<CallRow>, call: CallRow, most: number): Page<CallRow> {
  const others = page.data.filter(({ id }) => id !== call.id);
  const at = others.findIndex((row) => row.at < call.at || (row.at === call.at && row.id < call.id));
  const data = at < 0 ? [...others, call] : [...others.slice(0, at), call, ...others.slice(at)];
  if (data.length <= most) return { ...page, data };
  const kept = data.slice(0, most);
  return { ...page, data: kept, hasMore: true, next: kept.at(-1)?.id ?? null };
}
