/** Writes structs in Thrift's compact protocol, as far as Parquet's metadata need it. */

const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

type List =
  | readonly [id: number, type: 'structs', value: readonly (readonly Field[])[]]
  | readonly [id: number, type: 'i32s', value: readonly number[]]
  | readonly [id: number, type: 'texts', value: readonly string[]];

/** A field of a struct: its id and value. Fields are in the order of their ids. */
export type Field =
  | List
  | readonly [id: number, type: 'i32', value: number]
  | readonly [id: number, type: 'i64', value: number]
  | readonly [id: number, type: 'text', value: string]
  | readonly [id: number, type: 'struct', value: readonly Field[]];

export function writeStruct(fields: readonly Field[]): Uint8Array {
  const bytes: number[] = [];
  putStruct(bytes, fields);
  return Uint8Array.from(bytes);
}

function putStruct(bytes: number[], fields: readonly Field[]): void {
  let previous = 0;
  for (const field of fields) {
    const [id] = field;
    // All ids of these structs are less than 16 apart.
    const head = (id - previous) << 4;
    previous = id;
    if (field[1] === 'i32' || field[1] === 'i64') {
      bytes.push(head | (field[1] === 'i32' ? I32 : I64));
      putZigzag(bytes, field[2]);
    } else if (field[1] === 'text') {
      bytes.push(head | BINARY);
      putText(bytes, field[2]);
    } else if (field[1] === 'struct') {
      bytes.push(head | STRUCT);
      putStruct(bytes, field[2]);
    } else {
      bytes.push(head | LIST);
      putList(bytes, field);
    }
  }
  bytes.push(0);
}

function putList(bytes: number[], [, type, value]: List): void {
  const element = type === 'structs' ? STRUCT : type === 'i32s' ? I32 : BINARY;
  if (value.length < 15) bytes.push((value.length << 4) | element);
  else {
    bytes.push(0xf0 | element);
    putVarint(bytes, value.length);
  }
  for (const one of value) {
    if (typeof one === 'number') putZigzag(bytes, one);
    else if (typeof one === 'string') putText(bytes, one);
    else putStruct(bytes, one);
  }
}

function putText(bytes: number[], text: string): void {
  const encoded = new TextEncoder().encode(text);
  putVarint(bytes, encoded.length);
  for (const byte of encoded) bytes.push(byte);
}

/** Figures here are never negative. */
const putZigzag = (bytes: number[], value: number): void => putVarint(bytes, value * 2);

/** By division: offsets in large files exceed 32 bits. */
export function putVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
