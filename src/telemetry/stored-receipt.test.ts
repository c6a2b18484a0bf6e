import { expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { fc } from '../../test/helpers/property.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { AttemptRecord } from '../routing/tracked-attempt.ts';
import { type CallLabels, CallTrace, createEvents } from './events.ts';
import { readReceipt, receiptOf, writeReceipt } from './receipt.ts';

const AT = 1_790_000_000_000;
const RECORD = callRow({ id: 'req_1', at: AT, provider: 'main', targetModel: 'gpt/4o' });

const ATTEMPT: AttemptRecord = {
  target: { id: 'main/gpt/4o', provider: 'main' },
  credential: 'sk-a-long-secret',
  startedAt: AT + 1,
  answeredAt: AT + 20,
  endedAt: AT + 21,
  status: 200,
  outcome: 'ok',
  errorCode: undefined,
  message: undefined,
};

function traceOf(members: Partial<CallTrace>): CallTrace {
  const trace = new CallTrace(
    createEvents([], () => {}),
    'req_1',
    AT,
    'openai-chat',
  );
  return Object.assign(trace, { hold: 8010n, admittedMs: 0.4567, attempts: [ATTEMPT], ...members });
}

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });

test('a stored receipt is read back as it was, whatever the call was', () => {
  const labels: fc.Arbitrary<CallLabels> = fc.record(
    { clientRequestId: fc.string(), user: fc.string(), tags: fc.array(fc.string()), metadata: fc.constant({ a: 1 }) },
    { requiredKeys: [] },
  );
  const attempt: fc.Arbitrary<AttemptRecord> = fc.record({
    target: fc.constantFrom(
      ATTEMPT.target,
      { id: 'other/gpt/4o', provider: 'other' },
      { id: 'main/gpt-4o', provider: 'main' },
    ),
    credential: maybe(fc.constantFrom('sk-a-long-secret', 'short', '"""""""""""""""')),
    startedAt: fc.constantFrom(AT - 3, AT, AT + 17),
    answeredAt: fc.constantFrom(0, AT + 20),
    endedAt: fc.constantFrom(0, AT + 21),
    status: fc.constantFrom(0, 200, 503),
    outcome: fc.constantFrom('ok', 'ok', 'failed', 'cancelled', 'running'),
    errorCode: maybe(fc.constant('upstream_failed')),
    message: maybe(fc.constant('It failed.')),
  });
  const trace = fc
    .record({
      labels,
      hold: maybe(fc.bigInt({ min: 0n, max: 2n ** 62n })),
      admittedMs: maybe(fc.double({ min: 0, max: 1e6, noNaN: true })),
      attempts: fc.oneof(fc.constant([ATTEMPT]), fc.array(attempt, { maxLength: 3 })),
      warnings: fc.array(fc.string(), { maxLength: 2 }),
      route: maybe(fc.constant(() => ['main/gpt/4o affinity'])),
      limits: maybe(
        fc.constant({ requests: { limit: 5, remaining: 4, resetMs: 10 } } as unknown as CallTrace['limits']),
      ),
      error: maybe(fc.constant(new GatewayError('upstream_failed', 'It failed.', { param: 'x' }))),
    })
    .map(traceOf);
  fc.assert(
    fc.property(trace, (given) => {
      const receipt = writeReceipt(given, RECORD);
      expect(readReceipt({ ...RECORD, receipt })).toEqual(JSON.parse(JSON.stringify(receiptOf(given))));
    }),
  );
});

test('a plain call stores what its record does not say', () => {
  expect(writeReceipt(traceOf({}), RECORD)).toBe('[8010,0.5,1,19,20,"cret"]');
  expect(writeReceipt(traceOf({ attempts: [{ ...ATTEMPT, credential: undefined }] }), RECORD)).toBe(
    '[8010,0.5,1,19,20]',
  );
  const labelled = writeReceipt(traceOf({ labels: { user: 'ada' } }), RECORD);
  expect(labelled).toBe('[8010,0.5,1,19,20,"cret",{"user":"ada"}]');
});

test('a failed attempt, and one at another target than that of the record, is stored with its members', () => {
  for (const changes of [
    { status: 503 },
    { outcome: 'failed' },
    { target: { id: 'main/gpt-5o', provider: 'main' } },
  ] as const) {
    expect(writeReceipt(traceOf({ attempts: [{ ...ATTEMPT, ...changes }] }), RECORD)).toStartWith('{"attempts":[{');
  }
  expect(writeReceipt(traceOf({ attempts: [ATTEMPT, ATTEMPT] }), RECORD)).toStartWith('{"attempts":[{');
});

test('a receipt with all its members, and none at all, is read as well', () => {
  expect(readReceipt({ ...RECORD, receipt: '{"attempts":[],"hold":"0.1"}' })).toEqual({ attempts: [], hold: '0.1' });
  expect(readReceipt(RECORD)).toEqual({ attempts: [] });
});
