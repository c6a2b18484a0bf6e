import { afterEach, beforeEach, expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { runAsProcess } from '../../test/helpers/run-as-process.ts';
import { askServer } from '../transport/ask-server.ts';
import type { CliDeps, SendRequest } from './cli-deps.ts';

let edge: Loopback;
beforeEach(async () => {
  edge = await startLoopback();
});
afterEach(() => edge.stop());

const calls = (changes: Partial<CliDeps>, ...argv: string[]) => runAsProcess(edge, changes, ['calls', ...argv]);

test('it goes on after the server did not answer, and clients cannot control the terminal', async () => {
  const call = callRow({ id: 'call_1', at: Date.now(), account: edge.account, provider: 'a\u001b[2J\u202eb\nc' });
  let turn = 0;
  const wait = async () => {
    if (++turn === 3) await edge.store.ledger([{ type: 'resolve', callId: call.id, amount: 0n, call }]);
    return turn < 4;
  };
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const ask: SendRequest = (asked) => {
    if (turn === 1) return Promise.reject(refused);
    // A proxy before a server that restarts.
    if (turn === 2) return Promise.resolve({ status: 502, header: () => null, text: '<html>' });
    return askServer(asked);
  };
  const { code, err, out } = await calls({ wait, ask }, '--follow');
  expect({ code, err: err.replace(/at \S+\./, 'at URL.').replace(/Start one .*MODELPORT_URL\. /, '') }).toEqual({
    code: 0,
    err: 'No server answers at URL. Trying again every second.',
  });
  expect(out).toContain('a\\u001b[2J\\u202eb\\u000ac');
  expect((await calls({})).out.split('\n')).toHaveLength(2);
});

test('it reads a bounded number of calls every second, however rare the filter is', async () => {
  let turn = 0;
  let requests = 0;
  const wait = async () => ++turn < 3;
  const ask: SendRequest = (asked) => {
    if (turn === 0) return askServer(asked);
    requests++;
    const text = JSON.stringify({ data: [], hasMore: true, next: 'call_1' });
    return Promise.resolve({ status: 200, header: () => null, text });
  };
  const { code, err } = await calls({ wait, ask }, '--follow', '--cost-above', '900');
  expect({ code, err, requests }).toEqual({
    code: 0,
    err: 'Calls that take long may not be shown: there are too many others. Use more filters.',
    requests: 8,
  });
});
