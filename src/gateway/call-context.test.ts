import { describe, expect, test } from 'bun:test';
import { chatRequest } from '../../test/helpers/chat-answers.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { type CaseSetup, type GatewayCase, startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import { admit } from './admit/admit.ts';
import { type CallContext, conclude, isFinished, watch } from './call-context.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

async function admitted(setup: CaseSetup = {}, more = {}): Promise<GatewayCase & { context: CallContext }> {
  const at = await bench.open(setup);
  return { ...at, context: await admit(at.deps, at.pendingCall(chatRequest(at.model, more)), at.underWay) };
}

const OK = { outcome: 'ok', status: 200 } as const;
const LEFT = { outcome: 'aborted', status: 499 } as const;
const failed = { outcome: 'failed', status: 502, error: new GatewayError('upstream_failed', 'It failed.') } as const;
const textDelta = (delta: string): ReplyEvent => ({ type: 'part-delta', choice: 0, part: 0, delta });
const used = (input: number, output: number): ReplyEvent => ({
  type: 'usage',
  usage: { input, output, source: 'reported' },
});
const ended = (choice: number): ReplyEvent => ({ type: 'choice-end', choice, finish: { reason: 'stop' } });

describe('a call is settled once', () => {
  test('the first settlement counts: later ones return the same cost', async () => {
    const at = await admitted();
    watch(at.context, [textDelta('Hello'), used(10, 5)]);
    const costs = await Promise.all([conclude(at.deps, at.context, OK), conclude(at.deps, at.context, failed)]);
    expect(costs).toEqual([30_000n, 30_000n]);
    expect(at.calls.map(({ outcome }) => outcome)).toEqual(['ok']);
    expect(await at.spent()).toBe(30_000n);
  });

  test('everything the call has reserved is released with it', async () => {
    const at = await admitted({ key: { concurrency: 1 } });
    expect([at.underWay.size, at.loads.size, at.unreleased()]).toEqual([1, 1, 1]);
    await conclude(at.deps, at.context, failed);
    expect([at.underWay.size, at.loads.size, at.unreleased()]).toEqual([0, 0, 0]);
    expect(await at.held()).toBe(0n);
    await admit(at.deps, at.pendingCall(chatRequest(at.model)), at.underWay);
  });

  test('it is released too if the ledger cannot settle', async () => {
    const at = await admitted();
    const deps = { ...at.deps, ledger: { ...at.deps.ledger, settle: () => Promise.reject(new Error('no database')) } };
    await expect(conclude(deps, at.context, OK)).rejects.toThrow('no database');
    expect([at.underWay.size, at.loads.size, at.unreleased()]).toEqual([0, 0, 0]);
  });
});

describe('what is charged', () => {
  test('nothing delivered: nothing', async () => {
    const at = await admitted();
    at.context.cancellation.markSent();
    watch(at.context, [used(10, 5)]);
    expect(await conclude(at.deps, at.context, failed)).toBe(0n);
    expect(at.calls[0]).toMatchObject({ cost: 0n, errorCode: 'upstream_failed' });
    expect(at.calls[0]?.usage).toBeUndefined();
  });

  test('nothing delivered, but the client disconnected after its request was sent: the input', async () => {
    const at = await admitted();
    at.context.cancellation.markSent();
    expect(await conclude(at.deps, at.context, LEFT)).toBeGreaterThan(0n);
    expect(at.calls[0]?.usage).toMatchObject({ output: 0, source: 'estimated' });
  });

  test('the client disconnected before its request was sent: nothing', async () => {
    const at = await admitted();
    expect(await conclude(at.deps, at.context, LEFT)).toBe(0n);
  });

  test('without a usage report the delivered output is counted', async () => {
    const at = await admitted();
    watch(at.context, [textDelta('Hello')]);
    await conclude(at.deps, at.context, OK);
    expect(at.calls[0]?.usage).toMatchObject({ output: 5, source: 'counted' });
  });

  test('a report that costs far more than was held is disputed: the hold is charged, the claim stored', async () => {
    const at = await admitted();
    watch(at.context, [textDelta('Hello'), used(10, 5_000_000)]);
    expect(await conclude(at.deps, at.context, OK)).toBe(at.context.hold.amount);
    expect(at.calls[0]?.outcome).toBe('disputed');
    expect(at.calls[0]?.usage?.claimed?.usage).toMatchObject({ output: 5_000_000 });
    expect(await at.spent()).toBe(at.context.hold.amount);
  });
});

test('a call is finished when all requested choices have ended', async () => {
  const at = await admitted({}, { n: 2 });
  expect(isFinished(at.context)).toBe(false);
  watch(at.context, [ended(0)]);
  expect(isFinished(at.context)).toBe(false);
  watch(at.context, [ended(1)]);
  expect(isFinished(at.context)).toBe(true);
});

test('the record has what is known of the call', async () => {
  const at = await admitted();
  at.context.attempts = 2;
  at.context.target = at.context.route.targets[0];
  at.context.firstByteMs = 12.4;
  await conclude(at.deps, at.context, failed);
  expect(at.calls[0]).toMatchObject({
    account: at.caller.account,
    key: at.caller.key,
    model: at.model,
    targetModel: 'upstream',
    dialect: 'openai-chat',
    stream: false,
    attempts: 2,
    firstByteMs: 12,
    status: 502,
    outcome: 'failed',
  });
});
