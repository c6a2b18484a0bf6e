import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { callRow } from '../../../../test/helpers/call-row.ts';
import { type Loopback, startLoopback } from '../../../../test/helpers/loopback.ts';
import type { CallPlace } from '../../../store/rows.ts';
import type { Store } from '../../../store/store.ts';
import { callFormatOf, exportCalls } from './call-export.ts';
import { exportOf } from './call-routes.ts';

const LAST = Date.UTC(2026, 10, 23);

let edge: Loopback;
let callPage: Store['callPage'];
beforeAll(async () => {
  edge = await startLoopback();
  ({ callPage } = edge.store);
});
afterEach(() => {
  edge.store.callPage = callPage;
});
afterAll(() => edge.stop());

/** Calls without end. `read`: how many of them the next page has. */
function endlessCalls(read: () => number | Promise<number>): void {
  edge.store.callPage = async ({ after }) => {
    const at = (after as CallPlace | undefined)?.at ?? LAST;
    const count = await read();
    const calls = Array.from({ length: count }, (_, index) => callRow({ id: `call_${at}_${index}`, at }));
    return { calls, next: { at: at - 1, id: 'call' } };
  };
}

/** A client that has sent the request. */
function asking(accept: string) {
  const socket = connect({ port: Number(new URL(edge.address).port), host: '127.0.0.1' });
  const arrived: Buffer[] = [];
  const text = () => Buffer.concat(arrived).toString('latin1');
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(text())));
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => void arrived.push(bytes));
  const lines = [
    'GET /admin/v1/calls HTTP/1.1',
    'host: x',
    `authorization: Bearer ${edge.adminKey}`,
    `accept: ${accept}`,
  ];
  socket.write([...lines, '', ''].join('\r\n'));
  return { socket, text, closed };
}

/** Resolves when the value has not changed for a while. */
async function settled(value: () => number, most: number): Promise<void> {
  for (let same = 0, before = -1; same < 20; same++) {
    await Bun.sleep(10);
    if (value() !== before || value() === 0) same = 0;
    before = value();
    expect(before).toBeLessThan(most);
  }
}

test.each([
  ['application/vnd.apache.parquet', 'parquet'],
  ['Application/Vnd.Apache.Parquet;q=0.5, text/csv;q=0.4', 'parquet'],
  ['application/vnd.apache.parquet;q=0, text/csv', 'csv'],
  ['text/csv, application/vnd.apache.parquet;q=0.1', 'csv'],
  ['application/vnd.apache.parquet+x', 'json'],
  ['constructor', 'json'],
  ['*/*', 'json'],
] as const)('%s gets %s', (accept, format) => {
  expect(callFormatOf(accept)).toBe(format);
});

const FORMATS = ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet'];

test.each(FORMATS)('%s is read as fast as the client reads, and no further when it has left', async (accept) => {
  let pages = 0;
  let allowed = 1000;
  const more = Promise.withResolvers<void>();
  endlessCalls(async () => {
    await Bun.sleep(0);
    if (++pages > allowed) more.resolve();
    return 500;
  });
  const { socket } = asking(accept);
  socket.pause();
  // What the sockets take is some megabytes.
  await settled(() => pages, 400);
  allowed = pages + 10;
  socket.resume();
  await more.promise;
  socket.destroy();
  await settled(() => pages, allowed + 400);
  expect(edge.troubles).toEqual([]);
});

test('a client that leaves before the first call is found ends the search', async () => {
  const third = Promise.withResolvers<void>();
  let pages = 0;
  endlessCalls(async () => {
    if (++pages === 3) third.resolve();
    await Bun.sleep(1);
    return 0;
  });
  const { socket, text } = asking('text/csv');
  await third.promise;
  expect(text()).toBe('');
  socket.destroy();
  await settled(() => pages, 1000);
});

test.each(FORMATS)(
  '%s: what fails at first is an error, what fails later breaks the connection off',
  async (accept) => {
    let broken = 1;
    let pages = 0;
    endlessCalls(() => {
      if (++pages === broken) throw new Error('the database is gone');
      return 500;
    });
    const headers = { accept };
    const ask = () => edge.ask('GET', '/admin/v1/calls', { key: edge.adminKey, headers });
    expect((await ask()).status).toBe(500);
    expect(edge.troubles.splice(0)).toEqual(['GET /admin/v1/calls failed.']);
    broken = pages + 12;
    const seen = await asking(accept).closed;
    expect(seen).toStartWith('HTTP/1.1 200 OK\r\n');
    expect(seen).toContain('transfer-encoding: chunked\r\n');
    expect(seen).not.toEndWith('\r\n0\r\n\r\n');
    expect(edge.troubles.splice(0)).toEqual(['A connection failed.']);
    // A client library does not take the part for the whole.
    broken = pages + 12;
    expect(await (await ask()).bytes().catch(() => 'broken')).toBe('broken');
    edge.troubles.length = 0;
  },
);

test('an export ends with the key that requested it', async () => {
  const key = await edge.issue('admin', { id: 'key_leaving' });
  let pages = 0;
  endlessCalls(async () => {
    if (++pages === 3) await edge.store.updateKey('key_leaving', { disabledAt: 1 });
    return 10;
  });
  const response = await edge.ask('GET', '/admin/v1/calls', { key, headers: { accept: 'text/csv' } });
  expect(response.status).toBe(200);
  expect(await response.text().catch(() => 'broken')).toBe('broken');
  expect(pages).toBe(3);
  edge.troubles.length = 0;
});

test.each(FORMATS)('%s lets calls go on while it is written for a client that is quick', async (accept) => {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  let pages = 0;
  const page = Array.from({ length: 500 }, (_, index) => callRow({ id: `call_${index}`, at: LAST }));
  edge.store.callPage = async () => ({ calls: page, ...(++pages < 16 && { next: { at: LAST, id: 'call' } }) });
  turn();
  const exported = await exportCalls(exportOf(edge.store, {}), accept === FORMATS[2] ? 'parquet' : 'csv', {});
  await exported.bytes();
  isOver = true;
  // For 100 calls each; none for the pages themselves, which come at once.
  expect(turns).toBeGreaterThan(80);
});
