/** All calls of a filter as CSV, lines of JSON or Parquet, read page by page while they are sent. */
import type { CallFilter, CallRow, Store } from '../../../store/store.ts';
import { createParquetWriter } from '../usage/parquet.ts';
import { CONTENT_TYPES, csvLine, type TableFormat, type TableValue } from '../usage/table-reply.ts';
import { CALL_COLUMNS } from './call-columns.ts';

type WrittenCall = { readonly [column: string]: TableValue };

export interface CallExport {
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

export type CallFormat = Exclude<TableFormat, 'json'> | 'parquet';

interface ExportRange {
  /** The maximum of calls; absent: all of them. */
  limit?: number | undefined;
  after?: string | undefined;
}

/** Latest first. */
export function exportCalls(calls: CallExport, format: CallFormat, part: ExportRange): Response {
  const pieces = callPieces(calls, format, part);
  const body = new ReadableStream<Uint8Array>({
    /** Called when the client has read what was sent. */
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const type = format === 'parquet' ? PARQUET : CONTENT_TYPES[format];
  return new Response(body, { headers: { 'content-type': type } });
}

/** The bytes of the file. A page of calls is in memory, of Parquet a row group. */
export async function* callPieces(
  { store, filter, columns, write }: CallExport,
  format: CallFormat,
  { limit = Number.POSITIVE_INFINITY, after: first }: ExportRange = {},
): AsyncGenerator<Uint8Array, undefined> {
  let after = first;
  let left = limit;
  const encoder = format === 'parquet' ? parquet() : lines(format, columns, write);
  const begin = encoder.begin?.();
  if (begin) yield begin;
  while (left > 0) {
    const asked = Math.min(PAGE, left);
    const calls = await store.calls({ ...filter, limit: asked, ...(after !== undefined && { after }) });
    after = calls.at(-1)?.id;
    left = calls.length < asked ? 0 : left - asked;
    const bytes = await encoder.calls(calls);
    if (bytes?.length) yield bytes;
  }
  const end = encoder.end?.();
  if (end) yield end;
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
