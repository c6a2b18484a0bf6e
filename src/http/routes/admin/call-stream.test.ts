import { afterAll, beforeAll, expect, test } from 'bun:test';
import { callRow } from '../../../../test/helpers/call-row.ts';
import { type Loopback, startLoopback } from '../../../../test/helpers/loopback.ts';
import type { CallRow } from '../../../store/rows.ts';
import { createLiveCalls } from '../../../telemetry/live-calls.ts';
import { type CallStream, matches, streamCalls } from './call-stream.ts';

const TRACE = undefined as never;

/** Text as it arrives, with a way to wait for a part of it. */
function readerOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`"${part}" did not come: ${text}`);
        text += decoder.decode(value);
      }
      return text;
    },
    async rest(): Promise<string> {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return text;
        text += decoder.decode(value);
      }
    },
    cancel: () => reader.cancel(),
  };
}

function opened(more: Partial<CallStream> = {}) {
  const live = createLiveCalls();
  const stored: CallRow[] = [];
  let looks = 0;
  const stream = streamCalls({
    who: 'ann',
    live,
    store: {
      callPage: async () => {
        looks++;
        return { calls: stored.toReversed() };
      },
    },
    filter: {},
    write: async ({ id }) => ({ id }),
    mayGoOn: async () => true,
    now: () => 1_000_000,
    reportError: (sentence) => {
      throw new Error(sentence);
    },
    tickMs: 1,
    ...more,
  });
  const looked = async () => {
    for (const before = looks; looks < before + 2; ) await Bun.sleep(1);
  };
  return { live, stored, looked, reader: readerOf(stream!), end: (call: CallRow) => live.sink.ended?.(TRACE, call) };
}

test('calls of this process and of others come once, and only those that match', async () => {
  const { stored, looked, reader, end } = opened({ filter: { model: 'm' } });
  stored.push(callRow({ id: 'earlier', at: 1 }));
  await reader.until(': calls');
  await looked();
  end(callRow({ id: 'own', at: 2 }));
  end(callRow({ id: 'not', at: 2, model: 'other' }));
  stored.push(callRow({ id: 'own', at: 2 }), callRow({ id: 'theirs', at: 3 }));
  const text = await reader.until('"theirs"');
  expect(text).toContain('event: call\ndata: {"id":"own"}\n\n');
  expect(text.match(/"own"/g)).toHaveLength(1);
  expect(text).not.toContain('"not"');
  expect(text).not.toContain('"earlier"');
  await reader.cancel();
});

test('a reader that is too slow gets a notice, and loses the waiting events', async () => {
  const { looked, reader, end, live } = opened({ most: 3 });
  await looked();
  for (let index = 0; index < 10; index++) end(callRow({ id: `c${index}`, at: 2 }));
  expect(await reader.rest()).toEndWith('event: end\ndata: {"reason":"slow-reader"}\n\n');
  // It does not listen any more.
  live.sink.ended?.(TRACE, callRow({ id: 'z', at: 3 }));
});

test('a stream ends with the right to read, and with the process', async () => {
  let isAllowed = true;
  const { looked, reader } = opened({ mayGoOn: async () => isAllowed });
  await looked();
  isAllowed = false;
  expect(await reader.rest()).toContain('"signed-out"');
  const other = opened();
  other.live.close();
  expect(await other.reader.rest()).toContain('"stopping"');
  expect(streamCalls({ ...({} as CallStream), live: other.live, filter: {}, now: () => 0 })).toBeUndefined();
});

test('a stream ends when a call cannot be read, and does not go on behind', async () => {
  const errors: string[] = [];
  const failing = {
    write: () => Promise.reject(new Error('lost')),
    reportError: (sentence: string) => errors.push(sentence),
  };
  const { looked, reader, end } = opened(failing);
  await looked();
  end(callRow({ id: 'a', at: 2 }));
  expect(await reader.rest()).toEndWith('event: end\ndata: {"reason":"failed"}\n\n');
  expect(errors).toEqual(['A live list of calls could not be read.']);
});

test.each([10_000, -10_000])('a silent stream has heartbeats, also while the clock is set back, %i', async (step) => {
  let time = 1_000_000_000;
  const { looked, reader } = opened({ now: () => (time += step) });
  await looked();
  await reader.until(': alive\n\n');
  await reader.cancel();
});

test.each<[CallStream['filter'], boolean]>([
  [{ key: 'key_1', account: 'acc_1', status: 200, outcome: 'ok' as const }, true],
  [{ provider: 'x' }, false],
  [{ error: 'rate_limited' }, false],
  [{ tag: 'a', costAbove: 4n }, true],
  [{ tag: 'b' }, false],
  [{ costAbove: 5n }, false],
  [{ from: 11 }, false],
  [{ from: 10, to: 11 }, true],
])('a filter decides as the list does, case %#', (filter, expected) => {
  expect(matches(callRow({ id: 'a', at: 10, cost: 5n, tags: ['a'] }), filter)).toBe(expected);
});

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

test('GET /admin/v1/calls/stream is served piece by piece, and ends when its key is disabled', async () => {
  const key = await edge.issue('admin');
  const response = await edge.ask('GET', '/admin/v1/calls/stream?model=m', { key });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const reader = readerOf(response.body!);
  await reader.until(': calls');
  edge.deps.live.sink.ended?.(TRACE, callRow({ id: 'req_live', at: Date.now(), cost: 5n }));
  expect(await reader.until('"req_live"')).toContain('"cost":"0.000000005"');
  const { data } = (await edge.admin('GET', '/keys?limit=1000')).body;
  const { id } = data.findLast(({ kind }: { kind: string }) => kind === 'admin');
  await edge.store.updateKey(id, { disabledAt: 1 });
  expect(await reader.rest()).toContain('"signed-out"');
});

test('a stream that was opened with the key before a rotation ends', async () => {
  const { key, id } = (await edge.admin('POST', '/keys', { kind: 'admin', name: 'leaked' })).body;
  const reader = readerOf((await edge.ask('GET', '/admin/v1/calls/stream', { key })).body!);
  await reader.until(': calls');
  await edge.admin('POST', `/keys/${id}/rotate`, {});
  expect(await reader.rest()).toContain('"signed-out"');
});

test('a wrong filter is refused before the stream begins', async () => {
  expect((await edge.admin('GET', '/calls/stream?account=nobody')).status).toBe(404);
});
