/** All calls of a filter as CSV, lines of JSON or Parquet, read page by page while they are sent. */
import { yieldToLoop } from '../../../canonical/yield-to-loop.ts';
import type { Client } from '../../../http1/client-request.ts';
import type { CallFilter, CallRow } from '../../../store/rows.ts';
import type { Store } from '../../../store/store.ts';
import { createParquetWriter, type ParquetValue } from '../usage/parquet.ts';
import { streamedReply } from '../usage/streamed-reply.ts';
import { csvLine, formatOf, TABLE_TYPES, type TableFormat, type TableValue } from '../usage/table-reply.ts';
import { EXPORTED_COLUMNS } from './call-columns.ts';

type WrittenCall = { readonly [column: string]: TableValue };

export interface CallExport {
  store: Pick<Store, 'callPage'>;
  filter: Omit<CallFilter, 'limit' | 'after'>;
  /** In this order, for CSV. */
  columns: readonly string[];
  write(call: CallRow): Promise<object>;
}

const PAGE = 500;
/** Calls that one query reads: between two queries it is seen that the client has left. */
const EXAMINED = 20_000;
/** Calls that are written before others get their turn: about four milliseconds. */
const CALLS_AT_ONCE = 100;
/** Readers are quick where a row group is large; one of this size takes about a megabyte. */
const ROW_GROUP = 4000;

export const PARQUET = 'application/vnd.apache.parquet';
/** What the client accepts. */
export const callFormatOf = (accept: string | null) => formatOf(accept, { [PARQUET]: 'parquet' });

/** Some bytes of a file, made from the next calls. */
interface Encoder {
  begin?(): Uint8Array | undefined;
  calls(calls: readonly CallRow[]): Promise<Uint8Array | undefined>;
  /** After the last calls. */
  end?(): Promise<Uint8Array>;
}

export type CallFormat = Exclude<TableFormat, 'json'> | 'parquet';

interface ExportRange {
  /** The maximum of calls; absent: all of them. */
  limit?: number | undefined;
  after?: string | undefined;
  /** Who reads it: if it has left, no more calls are read. */
  client?: Pick<Client, 'hasLeft'>;
  /** Whether it may still read calls. Asked before each page but the first. */
  mayGoOn?: () => Promise<boolean>;
}

/** Latest first. Rejects if the calls that the first piece is made of cannot be read. */
export const exportCalls = (calls: CallExport, format: CallFormat, part: ExportRange): Promise<Response> =>
  streamedReply(callPieces(calls, format, part), format === 'parquet' ? PARQUET : TABLE_TYPES[format]);

/** The bytes of the file, none of them before the first calls are read. A page of calls is in memory, of Parquet a row group. */
export async function* callPieces(
  { store, filter, columns, write }: CallExport,
  format: CallFormat,
  { limit = Number.POSITIVE_INFINITY, after: first, client, mayGoOn }: ExportRange = {},
): AsyncGenerator<Uint8Array, undefined> {
  const encoder = format === 'parquet' ? parquet() : lines(format, columns, write);
  let head = encoder.begin?.();
  let after: CallFilter['after'] = first;
  for (let left = limit; left > 0 && !client?.hasLeft; ) {
    const page = { ...filter, limit: Math.min(PAGE, left), ...(after !== undefined && { after }) };
    // On SQLite a page may be read, and sent to a quick client, without a turn of the event loop.
    await yieldToLoop();
    const { calls, next } = await store.callPage(page, EXAMINED);
    left -= calls.length;
    const bytes = await encoder.calls(calls);
    if (bytes?.length) {
      yield head ? Buffer.concat([head, bytes]) : bytes;
      head = undefined;
    }
    if (!next) break;
    if (mayGoOn && !(await mayGoOn())) throw new Error('Who asked for an export may not read calls any more.');
    after = next;
  }
  const end = (await encoder.end?.()) ?? head;
  if (end) yield end;
}

function lines(format: 'csv' | 'ndjson', columns: readonly string[], write: CallExport['write']): Encoder {
  const encoder = new TextEncoder();
  return {
    begin: () => (format === 'csv' ? encoder.encode(csvLine(columns)) : undefined),
    async calls(calls) {
      const texts: string[] = [];
      for (const call of calls) {
        if (texts.length % CALLS_AT_ONCE === 0) await yieldToLoop();
        const row = (await write(call)) as WrittenCall;
        texts.push(format === 'csv' ? csvLine(columns.map((column) => row[column])) : `${JSON.stringify(row)}\n`);
      }
      return encoder.encode(texts.join(''));
    },
  };
}

function parquet(): Encoder {
  const writer = createParquetWriter(EXPORTED_COLUMNS);
  let waiting: ParquetValue[][] = [];
  const flush = () => {
    const rows = waiting;
    waiting = [];
    return writer.rows(rows);
  };
  return {
    async calls(calls) {
      for (const call of calls) {
        waiting.push(EXPORTED_COLUMNS.map((column) => column.of(call)));
        if (waiting.length % CALLS_AT_ONCE === 0) await yieldToLoop();
      }
      return waiting.length >= ROW_GROUP ? flush() : undefined;
    },
    async end() {
      const last = waiting.length > 0 ? await flush() : undefined;
      return last ? Buffer.concat([last, writer.end()]) : writer.end();
    },
  };
}
