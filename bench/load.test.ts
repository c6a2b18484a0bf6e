import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:http';
import { runLoad } from './load.ts';

let server: Server;
/** The answers that are still owed. */
const owed: (() => void)[] = [];

beforeAll(async () => {
  let asked = 0;
  server = createServer((_request, response) => {
    const answer = () => response.end('{}');
    if (asked++ % 2 === 0) answer();
    else owed.push(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const answer of owed) answer();
  server.closeAllConnections();
  server.close();
});

test('a request without an answer is a failure: a gateway slower than the rate does not look fast', async () => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  const shape = { type: 'paced', perSecond: 200, seconds: 0.1, graceSeconds: 0.4 } as const;
  const report = await runLoad({ port: address.port, path: '/', headers: {}, body: '{}', shape, lateMs: 50 });
  expect(report.answers + report.failures).toBe(20);
  expect(report.failures).toBeGreaterThanOrEqual(10);
});
