/** Exports of calls as Parquet, read by a library of others. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createParquetWriter } from '../../src/http/routes/usage/parquet.ts';
import type { CallRow } from '../../src/store/rows.ts';
import { installPackages } from '../clients/install.ts';
import { callRow } from '../helpers/call-row.ts';
import { type Loopback, startLoopback } from '../helpers/loopback.ts';

const FOLDER = join(import.meta.dirname, '..', 'parquet');
const FROM = Date.parse('2026-02-01T00:00:00Z');

type Row = { [column: string]: unknown };
interface Library {
  parquetReadObjects(options: { file: ArrayBuffer }): Promise<Row[]>;
  parquetMetadata(file: ArrayBuffer): { num_rows: bigint; row_groups: { num_rows: bigint }[]; schema: Row[] };
}

let edge: Loopback;
let library: Library;

beforeAll(async () => {
  await installPackages(FOLDER);
  library = (await import(Bun.resolveSync('hyparquet', FOLDER))) as Library;
  edge = await startLoopback();
}, 120_000);
afterAll(() => edge.stop());

test('every call of a time is in the file, with exact amounts, in bounded row groups', async () => {
  const { account } = edge;
  const usage = { input: 10, output: 5, source: 'reported' } as const;
  const calls = Array.from({ length: 4501 }, (_, index): CallRow => {
    const id = `call_${String(index).padStart(5, '0')}`;
    const failed = { outcome: 'failed', status: 502, errorCode: 'upstream_failed' } as const;
    const ended = index % 7 === 0 ? failed : { usage, firstByteMs: index, providerCost: BigInt(index) };
    return callRow({ id, account, key: 'key_1', at: FROM + index, model: 'größer "m"', cost: 0n, ...ended });
  });
  calls[9]!.cost = 1_234_567_891n;
  const topUp = { type: 'enter', account, kind: 'top-up', amount: 10n ** 12n, counter: 'cash', at: FROM } as const;
  await edge.store.ledger([
    topUp,
    ...calls.map((call) => ({ type: 'resolve' as const, callId: call.id, amount: call.cost, call })),
  ]);
  const read = async (query: string) => {
    const headers = { accept: 'application/vnd.apache.parquet' };
    const path = `/admin/v1/calls?from=${FROM}&to=${FROM + 3_600_000}${query}`;
    const response = await edge.ask('GET', path, { key: edge.adminKey, headers });
    expect(response.headers.get('content-type')).toBe(headers.accept);
    return response.arrayBuffer();
  };
  const file = await read('');
  const { num_rows, row_groups, schema } = library.parquetMetadata(file);
  expect([num_rows, row_groups.map((group) => group.num_rows)]).toEqual([4501n, [4000n, 501n]]);
  expect(schema.find(({ name }) => name === 'cost')).toMatchObject({ converted_type: 'DECIMAL', scale: 9 });
  const rows = await library.parquetReadObjects({ file });
  expect(rows.map(({ id }) => id)).toEqual(calls.map(({ id }) => id).reverse());
  const row = (index: number) => rows[rows.length - 1 - index]!;
  expect(row(9)).toMatchObject({ at: new Date(FROM + 9), model: 'größer "m"', status: 200n, firstByteMs: 9n });
  // The library gives decimals as floats.
  expect(row(9)).toMatchObject({ cost: 1.234567891, provisional: false });
  expect(Math.round((row(9).providerCost as number) * 1e9)).toBe(9);
  expect(JSON.parse(row(9).usage as string)).toEqual(usage);
  expect(row(7)).toMatchObject({ errorCode: 'upstream_failed', outcome: 'failed', status: 502n });
  expect([row(7).usage, row(7).providerCost, row(9).errorCode].every((value) => value == null)).toBe(true);
  expect(rows.filter(({ errorCode }) => errorCode != null)).toHaveLength(643);
  const none = await read('&model=none');
  expect(library.parquetMetadata(none)).toMatchObject({ num_rows: 0n, row_groups: [] });
  expect(await library.parquetReadObjects({ file: await read('&limit=3') })).toHaveLength(3);
});

test('the largest and smallest values are exact', async () => {
  const writer = createParquetWriter([
    { name: 'n', type: 'integer' },
    { name: 'b', type: 'boolean', optional: true },
  ]);
  const values = [9_007_199_254_740_993n, -(2n ** 63n), 2n ** 63n - 1n];
  const bytes = Buffer.concat([
    await writer.rows(values.map((value, index) => [value, index === 1 ? undefined : index === 0])),
    await writer.rows([[7, true]]),
    writer.end(),
  ]);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const rows = await library.parquetReadObjects({ file });
  expect(rows.map(({ n }) => n)).toEqual([...values, 7n]);
  expect(rows.map(({ b }) => b ?? undefined)).toEqual([true, undefined, false, true]);
});
