import { expect, jest, test } from 'bun:test';
import { createFakeTransport } from '../../../test/helpers/fake-transport.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import { Cancellation } from '../../transport/cancellation.ts';
import { followTask } from './follow-task.ts';

const LIMITS = { connectMs: 1e9, headersMs: 1e9, firstTokenMs: 1e9, silenceMs: 1e9, wholeMs: 1e9 };
const SUBMIT = { method: 'POST', url: 'http://p.test/tasks', headers: {}, body: new Uint8Array() };
const DONE = { json: { state: 'done' } };
const RUNNING = { json: { state: 'running' } };

/** A task that was started with this answer, and is polled until it is done. */
async function following(first: { json: unknown }, deadlineMs = Number.POSITIVE_INFINITY) {
  const transport = createFakeTransport();
  const cancellation = new Cancellation();
  transport.script(first);
  const submitted = await transport.send(SUBMIT, LIMITS, Number.POSITIVE_INFINITY, cancellation);
  const last = followTask(submitted, {
    next: ({ state }) => (state === 'running' ? 'http://p.test/tasks/1' : undefined),
    send: (outgoing) => transport.send(outgoing, LIMITS, Number.POSITIVE_INFINITY, cancellation),
    maxBytes: 1000,
    deadlineMs,
    cancellation,
  });
  return { transport, cancellation, last };
}

/** Lets all that needs no time happen. */
async function settleDown(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

async function withFakeTimers(run: (pass: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  jest.useFakeTimers();
  try {
    await run(async (ms) => {
      await settleDown();
      jest.advanceTimersByTime(ms);
      await settleDown();
    });
  } finally {
    jest.useRealTimers();
  }
}

test('a final answer is not polled', async () => {
  const { transport, last } = await following(DONE);
  expect(JSON.parse(Buffer.from(await last).toString())).toEqual(DONE.json);
  expect(transport.sent).toHaveLength(1);
});

test('a running task is polled until it is done, in growing pauses', () =>
  withFakeTimers(async (pass) => {
    const { transport, last } = await following(RUNNING);
    transport.script(RUNNING, DONE);
    await pass(499);
    expect(transport.sent).toHaveLength(1);
    await pass(1);
    expect(transport.sent).toHaveLength(2);
    await pass(699);
    expect(transport.sent).toHaveLength(2);
    await pass(1);
    expect(transport.sent.map(({ sending }) => sending.method)).toEqual(['POST', 'GET', 'GET']);
    expect(Buffer.from(await last).toString()).toContain('done');
  }));

test('five failed polls in a row are retried, the sixth is an error', () =>
  withFakeTimers(async (pass) => {
    const { transport, last } = await following(RUNNING);
    const failed = last.catch((thrown: unknown) => thrown as GatewayError);
    const wrong = { json: {}, status: 500 };
    transport.script(...Array.from({ length: 5 }, () => wrong), RUNNING, ...Array.from({ length: 6 }, () => wrong));
    for (let question = 0; question < 12; question++) await pass(3000);
    expect(await failed).toMatchObject({ code: 'upstream_failed' });
    expect(transport.sent).toHaveLength(13);
  }));

test('no poll is sent after the time limit of the call', async () => {
  const { transport, last } = await following(RUNNING, performance.now() + 100);
  expect(await last.catch((thrown: unknown) => thrown)).toMatchObject({ code: 'upstream_timeout', retryable: false });
  expect(transport.sent).toHaveLength(1);
});

test('a call that is cancelled ends in the pause, not after it', async () => {
  const { transport, cancellation, last } = await following(RUNNING);
  await settleDown();
  cancellation.cancel();
  expect(await last.catch((thrown: unknown) => thrown)).toMatchObject({ code: 'upstream_failed', retryable: false });
  expect(transport.sent).toHaveLength(1);
});

test('an answer that cannot be read is a failure', async () => {
  const { last } = await following({ json: 'no object' });
  expect(await last.catch((thrown: unknown) => thrown)).toMatchObject({ code: 'upstream_failed' });
});
