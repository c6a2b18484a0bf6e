/** Replies that a client may have as JSON, CSV or lines of JSON, by its `Accept` header. */
import { entryOf } from '../../../canonical/entry-of.ts';

export type TableFormat = 'json' | 'csv' | 'ndjson';

const TYPES = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
} as const;

export const TABLE_TYPES: { readonly [format in TableFormat]: string } = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};

/** The known type with the highest quality, the first of equals. Others are answered with JSON. `more`: other types that are known here. */
export function formatOf<Other extends string = never>(
  accept: string | null,
  more?: { readonly [type: string]: Other },
): TableFormat | Other {
  const types: { readonly [type: string]: TableFormat | Other } = { ...TYPES, ...more };
  let best: { format: TableFormat | Other; quality: number } | undefined;
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const format = entryOf(types, type);
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = given === undefined ? 1 : Number(given);
    if (format && quality > (best?.quality ?? 0)) best = { format, quality };
  }
  return best?.format ?? 'json';
}

export type TableValue = string | number | boolean | null | undefined | object;

/** One line of CSV, as RFC 4180 has it. */
export const csvLine = (values: readonly TableValue[]): string => `${values.map(csvValue).join(',')}\r\n`;

function csvValue(value: TableValue): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A spreadsheet would run a text that begins like this as a formula; a negative amount is none.
  const isFormula = typeof value === 'string' && /^[=+@\t\r\n-]/.test(text) && !/^-\d+(\.\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
