import { expect, test } from 'bun:test';
import { chatRequest, errorAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { RefusedCallRow } from '../store/refused-call-row.ts';
import { CallTrace, createEvents, labelsOf } from './events.ts';
import { type Receipt, readReceipt } from './receipt.ts';
import { createRefusedCalls } from './refused-calls.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

async function receiptsOf(id: string): Promise<Receipt> {
  const call = await bench.store.call(id);
  if (!call) throw new Error(`There is no call ${id}.`);
  return readReceipt(call);
}

test('a receipt has every attempt, the metadata of the request, and no secret', async () => {
  const at = await bench.open({ targets: 2, provider: { credentials: ['sk-secret-number-one'] } });
  const message = 'The key sk-secret-number-one is broken at http://p0.test/v1.';
  at.transport.script(errorAnswer(500, message), wholeAnswer('Hello'));
  const headers = { 'x-request-id': 'mine-1', 'x-modelport-tags': 'team-a, batch,team-a,, ' };
  const members = { user: 'u'.repeat(1000), metadata: { project: 'x', long: 'y'.repeat(5000) } };
  const answer = await at.serve(chatRequest(at.model, members), { headers });
  expect(answer.status).toBe(200);
  const text = JSON.stringify(await receiptsOf(at.calls[0]?.id ?? ''));
  expect(text).not.toContain('secret');
  expect(text).not.toContain('p0.test');
  const receipt = JSON.parse(text) as Receipt;
  expect(receipt).toMatchObject({ clientRequestId: 'mine-1', tags: ['team-a', 'batch'], metadata: { project: 'x' } });
  expect(Object.keys(receipt.metadata ?? {})).toEqual(['project']);
  expect(receipt.user?.length).toBeLessThan(310);
  const [first, second] = receipt.attempts;
  expect(first).toMatchObject({
    provider: `p0-${at.model}`,
    target: `p0-${at.model}/upstream`,
    credential: '-one',
    status: 500,
    outcome: 'failed',
    error: { code: 'upstream_failed' },
  });
  expect(second).toMatchObject({ provider: `p1-${at.model}`, status: 200, outcome: 'ok' });
  expect(second?.firstTokenMs).toBeNumber();
  expect((await bench.store.calls({ tag: 'batch', limit: 9 })).map(({ id }) => id)).toEqual([at.calls[0]?.id ?? '']);
});

test.each([
  ['équipe, 数据', 'utf8', ['équipe', '数据']],
  ['équipe', 'latin1', ['équipe']],
] as const)('tags beyond ASCII are recorded as the client wrote them: %s in %s', (text, encoding, tags) => {
  const sent = Buffer.from(text, encoding).toString('latin1');
  const headers = new Map([
    ['x-modelport-tags', sent],
    ['x-request-id', sent],
  ]);
  expect(labelsOf({}, headers, true)).toEqual({ clientRequestId: text, tags: [...tags] });
});

test('of refused calls a bounded number a second is recorded, and strangers take no place of callers', async () => {
  const written: RefusedCallRow[] = [];
  let clock = 1_000_000;
  const refusals = createRefusedCalls({
    store: { refused: async (rows) => void written.push(...rows) },
    now: () => clock,
    reportError() {},
  });
  const events = createEvents([refusals.sink], () => {});
  const refuse = (count: number, account: string | undefined) => {
    for (let i = 0; i < count; i++) {
      const trace = new CallTrace(events, `req_${clock}_${account}_${i}`, clock, 'openai-chat');
      trace.account = account;
      trace.model = 'no\0such\ud800';
      trace.refused(new GatewayError('model_not_found', 'There is no such model.'));
    }
  };
  refuse(500, undefined);
  refuse(500, 'acct_1');
  await refusals.flush();
  const counts = () => [undefined, 'acct_1'].map((who) => written.filter(({ account }) => account === who).length);
  expect(counts()).toEqual([10, 50]);
  clock += 1000;
  refuse(3, undefined);
  await refusals.flush();
  expect(counts()).toEqual([13, 50]);
  expect(written[0]).toMatchObject({ status: 404, errorCode: 'model_not_found', model: 'nosuch\ufffd' });
  await bench.store.refused(written);
  expect(await bench.store.call(written[0]?.id ?? '')).toMatchObject({ status: 404, outcome: 'refused', cost: 0n });
});
