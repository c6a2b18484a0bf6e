/**
 * Writes Parquet files piece by piece: plain values, not compressed, one page per column and row group. The format:
 * https://parquet.apache.org/docs/file-format/
 */
import { yieldToLoop } from '../../../canonical/yield-to-loop.ts';
import { type Field, putVarint, writeStruct } from './thrift.ts';

/** `amount`: a decimal with nine digits after the point, given as the integer without the point. `time`: milliseconds since 1970. */
export type ParquetType = 'text' | 'integer' | 'boolean' | 'time' | 'amount';
export type ParquetValue = string | number | bigint | boolean | undefined;

export interface ParquetColumn {
  name: string;
  type: ParquetType;
  /** Values may be `undefined`. */
  optional?: boolean;
}

export interface ParquetWriter {
  /** The bytes of a row group: a list of rows, each with its values in the order of the columns. The first has the beginning of the file. */
  rows(rows: readonly (readonly ParquetValue[])[]): Promise<Uint8Array>;
  /** The end of the file. */
  end(): Uint8Array;
}

const BOOLEAN = 0;
const INT64 = 2;
const BYTE_ARRAY = 6;
const PLAIN = 0;
const RLE = 3;

/** The physical type, and what it means (`ConvertedType`). */
const TYPES: { readonly [type in ParquetType]: { physical: number; more: readonly Field[] } } = {
  text: { physical: BYTE_ARRAY, more: [[6, 'i32', 0]] },
  integer: { physical: INT64, more: [] },
  boolean: { physical: BOOLEAN, more: [] },
  time: { physical: INT64, more: [[6, 'i32', 9]] },
  amount: {
    physical: INT64,
    more: [
      [6, 'i32', 5],
      [7, 'i32', 9],
      [8, 'i32', 18],
    ],
  },
};

const MAGIC = new TextEncoder().encode('PAR1');

export function createParquetWriter(columns: readonly ParquetColumn[]): ParquetWriter {
  const groups: Field[][] = [];
  let offset = 0;
  let count = 0;

  function put(parts: Uint8Array[], bytes: Uint8Array): void {
    parts.push(bytes);
    offset += bytes.length;
  }

  return {
    async rows(rows) {
      const parts: Uint8Array[] = [];
      if (offset === 0) put(parts, MAGIC);
      const begun = offset;
      const chunks: Field[][] = [];
      for (const [index, column] of columns.entries()) {
        // A column of thousands of rows takes milliseconds.
        await yieldToLoop();
        const start = offset;
        const values = rows.map((row) => row[index]);
        const data = pageOf(column, values);
        put(parts, headerOf(values.length, data.length));
        put(parts, data);
        chunks.push(chunkOf(column, values.length, { start, size: offset - start }));
      }
      groups.push([
        [1, 'structs', chunks],
        [2, 'i64', offset - begun],
        [3, 'i64', rows.length],
      ]);
      count += rows.length;
      return Buffer.concat(parts);
    },
    end() {
      const head = offset === 0 ? [MAGIC] : [];
      const footer = writeStruct([
        [1, 'i32', 1],
        [2, 'structs', schemaOf(columns)],
        [3, 'i64', count],
        [4, 'structs', groups],
        [6, 'text', 'Modelport'],
      ]);
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, footer.length, true);
      return Buffer.concat([...head, footer, length, MAGIC]);
    },
  };
}

const schemaOf = (columns: readonly ParquetColumn[]): Field[][] => [
  [
    [4, 'text', 'schema'],
    [5, 'i32', columns.length],
  ],
  ...columns.map(({ name, type, optional }): Field[] => [
    [1, 'i32', TYPES[type].physical],
    [3, 'i32', optional ? 1 : 0],
    [4, 'text', name],
    ...TYPES[type].more,
  ]),
];

const headerOf = (values: number, size: number): Uint8Array =>
  writeStruct([
    [1, 'i32', 0],
    [2, 'i32', size],
    [3, 'i32', size],
    [
      5,
      'struct',
      [
        [1, 'i32', values],
        [2, 'i32', PLAIN],
        [3, 'i32', RLE],
        [4, 'i32', RLE],
      ],
    ],
  ]);

function chunkOf({ name, type }: ParquetColumn, values: number, at: { start: number; size: number }): Field[] {
  const metadata: Field[] = [
    [1, 'i32', TYPES[type].physical],
    [2, 'i32s', [PLAIN, RLE]],
    [3, 'texts', [name]],
    [4, 'i32', 0],
    [5, 'i64', values],
    [6, 'i64', at.size],
    [7, 'i64', at.size],
    [9, 'i64', at.start],
  ];
  return [
    [2, 'i64', at.start],
    [3, 'struct', metadata],
  ];
}

function pageOf({ type, optional }: ParquetColumn, values: readonly ParquetValue[]): Uint8Array {
  const given = values.filter((value) => value !== undefined);
  const data = plain(type, given);
  if (!optional) return data;
  const levels = levelsOf(values);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, levels.length, true);
  return Buffer.concat([length, Uint8Array.from(levels), data]);
}

/** Which values are given, as runs of the same. */
function levelsOf(values: readonly ParquetValue[]): number[] {
  const bytes: number[] = [];
  for (let index = 0; index < values.length; ) {
    const isGiven = values[index] !== undefined;
    let end = index + 1;
    while (end < values.length && (values[end] !== undefined) === isGiven) end++;
    putVarint(bytes, (end - index) * 2);
    bytes.push(isGiven ? 1 : 0);
    index = end;
  }
  return bytes;
}

function plain(type: ParquetType, values: readonly (string | number | bigint | boolean)[]): Uint8Array {
  if (type === 'text') return texts(values as readonly string[]);
  if (type === 'boolean') {
    const bits = new Uint8Array(Math.ceil(values.length / 8));
    for (const [index, value] of values.entries()) if (value) bits[index >> 3]! |= 1 << (index & 7);
    return bits;
  }
  const bytes = new Uint8Array(values.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries())
    view.setBigInt64(index * 8, typeof value === 'bigint' ? value : BigInt(Math.round(Number(value))), true);
  return bytes;
}

function texts(values: readonly string[]): Uint8Array {
  const parts: Buffer[] = [];
  for (const value of values) {
    const length = Buffer.alloc(4);
    const text = Buffer.from(value);
    length.writeUInt32LE(text.length);
    parts.push(length, text);
  }
  return Buffer.concat(parts);
}
