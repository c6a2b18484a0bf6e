/** All calls of a filter as CSV or lines of JSON, read page by page while they are sent. */
import type { CallFilter, CallRow, Store } from '../../../store/store.ts';
import { CONTENT_TYPES, csvLine, type TableFormat, type TableValue } from '../usage/table-reply.ts';

type WrittenCall = { readonly [column: string]: TableValue };

interface CallExport {
  store: Pick<Store, 'calls'>;
  filter: Omit<CallFilter, 'limit' | 'after'>;
  /** In this order, for CSV. */
  columns: readonly string[];
  write(call: CallRow): Promise<object>;
}

const PAGE = 500;

/** Latest first. `limit`: the maximum of calls; absent: all of them. */
export function exportCalls(
  { store, filter, columns, write }: CallExport,
  format: Exclude<TableFormat, 'json'>,
  { limit = Number.POSITIVE_INFINITY, after: first }: { limit?: number | undefined; after?: string | undefined },
): Response {
  let after = first;
  let left = limit;
  const encoder = new TextEncoder();
  async function nextPage(): Promise<string> {
    const asked = Math.min(PAGE, left);
    const calls = await store.calls({ ...filter, limit: asked, ...(after !== undefined && { after }) });
    after = calls.at(-1)?.id;
    left = calls.length < asked ? 0 : left - asked;
    const lines: string[] = [];
    for (const call of calls) {
      const row = (await write(call)) as WrittenCall;
      lines.push(format === 'csv' ? csvLine(columns.map((column) => row[column])) : `${JSON.stringify(row)}\n`);
    }
    return lines.join('');
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (format === 'csv') controller.enqueue(encoder.encode(csvLine(columns)));
    },
    /** Called when the client has read what was sent. */
    async pull(controller) {
      if (left > 0) {
        const text = await nextPage();
        if (text !== '') controller.enqueue(encoder.encode(text));
      }
      if (left === 0) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': CONTENT_TYPES[format] } });
}
