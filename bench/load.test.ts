import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:http';
import { LinePool } from './lines.ts';
import { type Load, type LoadReport, runLoad } from './load.ts';
import { readReport, startLoadSession } from './running.ts';

const STREAMS = 8;
let server: Server;
let streams: Server;
let silent: Server;
/** The answers that are still owed. */
const owed: (() => void)[] = [];
/** Ends the streams that have begun. */
const begun: (() => void)[] = [];

beforeAll(async () => {
  let requestCount = 0;
  server = createServer((_request, response) => {
    const answer = () => response.end('{}');
    if (requestCount++ % 2 === 0) answer();
    else owed.push(answer);
  });
  streams = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: {"content": "at ${Date.now()}"}\n\n`);
    begun.push(() => response.end('data: [DONE]\n\n'));
  });
  silent = createServer(() => {});
  for (const one of [server, streams, silent])
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const answer of owed) answer();
  for (const one of [server, streams, silent]) {
    one.closeAllConnections();
    one.close();
  }
});

/** What every load has. */
function sendTo(server: Server) {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return { port: address.port, path: '/', headers: {}, body: '{}', lateMs: 60_000 };
}

test('a request without an answer is a failure: a gateway slower than the rate does not look fast', async () => {
  const shape = { type: 'paced', perSecond: 200, seconds: 0.1, graceSeconds: 0.4 } as const;
  const report = await runLoad({ ...sendTo(server), shape });
  expect(report.answers + report.failures).toBe(20);
  expect(report.failures).toBeGreaterThanOrEqual(10);
});

test('streams that are open at the same time are counted, and chunks with blanks in their JSON', async () => {
  const shape = { type: 'once', connections: STREAMS, boundSeconds: 60, spreadSeconds: 0.05 } as const;
  let chunks = 0;
  const last = await runLoad({ ...sendTo(streams), shape, everySeconds: 0.02 }, (interval) => {
    chunks += interval.chunks;
    if (interval.mostStreams === STREAMS) for (const end of begun.splice(0)) end();
  });
  expect(chunks + last.chunks).toBe(STREAMS);
  // It would have run until its bound if not all had been open at once.
  expect(last.failures).toBe(0);
});

test('a load without an answer has no latency, also as the report of another process', async () => {
  const shape = { type: 'paced', perSecond: 100, seconds: 0.01, graceSeconds: 0.01 } as const;
  const report = await runLoad({ ...sendTo(silent), shape });
  expect(report).toMatchObject({ answers: 0, p50Ms: Number.NaN, p99Ms: Number.NaN });
  expect(readReport(JSON.stringify(report))).toEqual(report);
});

test('loads over one pool share connections', async () => {
  let connections = 0;
  const answering = createServer((_request, response) => response.end('{}')).on('connection', () => connections++);
  await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve));
  const pool = new LinePool();
  try {
    const load: Load = { ...sendTo(answering), shape: { type: 'once', connections: 2, boundSeconds: 60 } };
    expect(await runLoad(load, undefined, pool)).toMatchObject({ answers: 2, failures: 0 });
    expect(await runLoad(load, undefined, pool)).toMatchObject({ answers: 2, failures: 0 });
    expect(connections).toBe(2);
  } finally {
    pool.close();
    answering.closeAllConnections();
    answering.close();
  }
});

test('a connection that still owes an answer, or has ended, is not kept', async () => {
  const { port } = sendTo(silent);
  const pool = new LinePool();
  const free = await pool.take(port);
  const busy = await pool.take(port);
  const usageCounter = {
    ...{ latencies: [], firstBytes: [], failures: 0 },
    ...{ chunks: 0, lateChunks: 0, openStreams: 0, mostStreams: 0 },
  };
  busy.ask({ bytes: Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'), usageCounter, lateMs: 1 }, () => {});
  pool.give(busy);
  pool.give(free);
  expect([busy.alive, free.alive]).toEqual([false, true]);
  expect(await pool.take(port)).toBe(free);
  free.close();
  pool.give(free);
  const another = await pool.take(port);
  expect(another).not.toBe(free);
  another.close();
});

test('a session runs one load after the other in one process', async () => {
  const session = startLoadSession();
  try {
    const shape = { type: 'once', connections: 1, boundSeconds: 30 } as const;
    const intervals: LoadReport[] = [];
    const streamed = session.run({ ...sendTo(streams), shape, everySeconds: 0.02 }, (interval) => {
      intervals.push(interval);
      if (begun.length === 1) begun.shift()?.();
    });
    const { answers } = await streamed;
    expect(answers + intervals.reduce((sum, interval) => sum + interval.answers, 0)).toBe(1);
    expect(intervals).not.toBeEmpty();
    const paced = { type: 'paced', perSecond: 100, seconds: 0.01, graceSeconds: 0.01 } as const;
    expect(await session.run({ ...sendTo(silent), shape: paced })).toMatchObject({ answers: 0, p99Ms: Number.NaN });
  } finally {
    await session.stop();
  }
});
