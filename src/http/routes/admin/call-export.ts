/** All calls of a filter as CSV, lines of JSON or Parquet, read page by page while they are sent. */
import type { CallFilter, CallRow, Store } from '../../../store/store.ts';
import { createParquetWriter } from '../usage/parquet.ts';
import { CONTENT_TYPES, csvLine, type TableFormat, type TableValue } from '../usage/table-reply.ts';
import { CALL_COLUMNS } from './call-columns.ts';

type WrittenCall = { readonly [column: string]: TableValue };

interface CallExport {
  store: Pick<Store, 'calls'>;
  filter: Omit<CallFilter, 'limit' | 'after'>;
  /** In this order, for CSV. */
  columns: readonly string[];
  write(call: CallRow): Promise<object>;
}

const PAGE = 500;
/** Readers are quick where a row group is large; one of this size takes about a megabyte. */
const ROW_GROUP = 4000;

export const PARQUET = 'application/vnd.apache.parquet';
export const wantsParquet = (accept: string | null): boolean => accept?.toLowerCase().includes(PARQUET) === true;

/** Some bytes of a file, made from the next calls. */
interface Encoder {
  begin?(): Uint8Array | undefined;
  calls(calls: readonly CallRow[]): Promise<Uint8Array | undefined>;
  /** After the last calls. */
  end?(): Uint8Array;
}

/** Latest first. `limit`: the maximum of calls; absent: all of them. */
export function exportCalls(
  { store, filter, columns, write }: CallExport,
  format: Exclude<TableFormat, 'json'> | 'parquet',
  { limit = Number.POSITIVE_INFINITY, after: first }: { limit?: number | undefined; after?: string | undefined },
): Response {
  let after = first;
  let left = limit;
  const encoder = format === 'parquet' ? parquet() : lines(format, columns, write);
  async function nextPage(): Promise<Uint8Array | undefined> {
    const asked = Math.min(PAGE, left);
    const calls = await store.calls({ ...filter, limit: asked, ...(after !== undefined && { after }) });
    after = calls.at(-1)?.id;
    left = calls.length < asked ? 0 : left - asked;
    return encoder.calls(calls);
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const begin = encoder.begin?.();
      if (begin) controller.enqueue(begin);
    },
    /** Called when the client has read what was sent. */
    async pull(controller) {
      let bytes: Uint8Array | undefined;
      while (left > 0 && !bytes?.length) bytes = await nextPage();
      if (bytes?.length) controller.enqueue(bytes);
      if (left > 0) return;
      const end = encoder.end?.();
      if (end) controller.enqueue(end);
      controller.close();
    },
  });
  const type = format === 'parquet' ? PARQUET : CONTENT_TYPES[format];
  return new Response(body, { headers: { 'content-type': type } });
}

function lines(format: 'csv' | 'ndjson', columns: readonly string[], write: CallExport['write']): Encoder {
  const encoder = new TextEncoder();
  return {
    begin: () => (format === 'csv' ? encoder.encode(csvLine(columns)) : undefined),
    async calls(calls) {
      const texts: string[] = [];
      for (const call of calls) {
        const row = (await write(call)) as WrittenCall;
        texts.push(format === 'csv' ? csvLine(columns.map((column) => row[column])) : `${JSON.stringify(row)}\n`);
      }
      return encoder.encode(texts.join(''));
    },
  };
}

function parquet(): Encoder {
  const writer = createParquetWriter(CALL_COLUMNS);
  let waiting: CallRow[] = [];
  const flush = () => {
    const rows = waiting.map((call) => CALL_COLUMNS.map((column) => column.of(call)));
    waiting = [];
    return writer.rows(rows);
  };
  return {
    async calls(calls) {
      waiting.push(...calls);
      return waiting.length >= ROW_GROUP ? flush() : undefined;
    },
    end: () => (waiting.length > 0 ? Buffer.concat([flush(), writer.end()]) : writer.end()),
  };
}
