import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { admit } from '../admit/admit.ts';
import type { CallContext } from '../call-context.ts';
import { attempt } from './attempt.ts';
import { allFrames } from './upstream.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

interface Admitted extends GatewayCase {
  context: CallContext;
}

/** A case whose call has been let in. */
async function admitted(setup: CaseSetup = {}, more: { [member: string]: unknown } = {}): Promise<Admitted> {
  const at = await bench.open(setup);
  return { ...at, context: await admit(at.deps, at.pendingCall(chatRequest(at.model, more)), at.underWay) };
}

/** What every attempt together failed with. */
async function failure(trying: Promise<unknown>): Promise<GatewayError> {
  const error = await trying.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error('The attempts did not fail.');
  return error;
}

const hosts = ({ transport }: GatewayCase) => transport.sent.map(({ host }) => host);
const keys = ({ transport }: GatewayCase) => transport.sent.map(({ sending }) => sending.headers.authorization);

async function textOf(at: Admitted): Promise<string> {
  const frames = await allFrames(await attempt(at.deps, at.context));
  return frames
    .flatMap(({ events }) => [...events])
    .map((event) => (event.type === 'part-delta' ? event.delta : ''))
    .join('');
}

describe('failover', () => {
  test('after the first target that answers no other is called', async () => {
    const at = await admitted({ targets: 2 });
    at.transport.script(wholeAnswer('Hello'));
    expect(await textOf(at)).toBe('Hello');
    expect(hosts(at)).toEqual(['p0.test']);
    expect(at.context.attempts).toBe(1);
    expect(at.transport.sent[0]?.body.model).toBe('upstream');
  });

  for (const status of [429, 500, 503]) {
    test(`status ${status} sends the call to the next target, in their order`, async () => {
      const at = await admitted({ targets: 3 });
      at.transport.script(errorAnswer(status, 'no'), errorAnswer(status, 'no'), wholeAnswer('third'));
      expect(await textOf(at)).toBe('third');
      expect(hosts(at)).toEqual(['p0.test', 'p1.test', 'p2.test']);
      expect(at.context.target?.provider).toStartWith('p2');
    });
  }

  test('a connection that breaks before the response sends the call to the next target', async () => {
    const at = await admitted({ targets: 2 });
    at.transport.script((request) => request.exchange.broke(new Error('refused')), wholeAnswer('second'));
    expect(await textOf(at)).toBe('second');
  });

  test('an incomplete response has delivered nothing: the next target answers', async () => {
    const at = await admitted({ targets: 2 });
    at.transport.script((request) => {
      request.take();
      request.begin();
      request.push('{"choices":');
      request.exchange.broke(new Error('cut'));
    }, wholeAnswer('second'));
    expect(await textOf(at)).toBe('second');
  });

  test('a refusal of the request itself is returned at once: no other target is called', async () => {
    const at = await admitted({ targets: 2 });
    at.transport.script(errorAnswer(400, 'temperature is too high'));
    const error = await failure(attempt(at.deps, at.context));
    expect([error.code, error.status]).toEqual(['upstream_refused', 400]);
    expect(error.message).toContain('temperature is too high');
    expect(hosts(at)).toEqual(['p0.test']);
  });

  test('a target that has failed often comes last in the next call', async () => {
    const at = await admitted({ targets: 2 });
    for (let call = 0; call < 10; call++) {
      at.transport.script(errorAnswer(500, 'no'), wholeAnswer('second'));
      const order = at.deps.catalog.order(at.context.model, () => 0);
      if (order[0]?.provider.startsWith('p1')) break;
      await attempt(at.deps, at.context);
    }
    const order = at.deps.catalog.order(at.context.model, () => 0);
    expect(order.map(({ provider }) => provider.slice(0, 2))).toEqual(['p1', 'p0']);
  });
});

describe('the error if no target answers', () => {
  test('a rate limit only if every target was limited, with the earliest retry time', async () => {
    const limited = (seconds: string) => errorAnswer(429, 'slow down', { headers: { 'retry-after': seconds } });
    const all = await admitted({ targets: 2 });
    all.transport.script(limited('30'), limited('7'));
    const error = await failure(attempt(all.deps, all.context));
    expect([error.code, error.retryAfterSeconds]).toEqual(['rate_limited', 7]);
    const one = await admitted({ targets: 2 });
    one.transport.script(errorAnswer(500, 'broken'), limited('30'));
    expect((await failure(attempt(one.deps, one.context))).code).not.toBe('rate_limited');
  });

  test('no credential and no address of a provider is in it', async () => {
    const at = await admitted({ model: { retries: 0 } });
    at.transport.script(errorAnswer(500, 'sk-secret-0 at http://p0.test/v1 is broken'));
    const { message } = await failure(attempt(at.deps, at.context));
    expect(message).not.toContain('sk-secret-0');
    expect(message).not.toContain('p0.test');
  });

  test('a failed attempt counts as not sent: a client that disconnects then is not charged', async () => {
    const at = await admitted({ model: { retries: 0 } });
    at.transport.script(errorAnswer(500, 'no'));
    await failure(attempt(at.deps, at.context));
    expect(at.context.cancellation.sent).toBe(false);
  });
});

describe('credentials', () => {
  test('one that is not accepted is followed by the target’s other one, then by the next target', async () => {
    const at = await admitted({ targets: 2, credentials: 2 });
    at.transport.script(errorAnswer(401, 'no'), errorAnswer(401, 'no'), wholeAnswer('second'));
    expect(await textOf(at)).toBe('second');
    expect(hosts(at)).toEqual(['p0.test', 'p0.test', 'p1.test']);
    expect(keys(at).slice(0, 2)).toEqual(['Bearer sk-secret-0', 'Bearer sk-secret-1']);
    expect(at.context.attempts).toBe(3);
  });

  test('a failure of the target is not tried again with another one', async () => {
    const at = await admitted({ credentials: 2, model: { retries: 0 } });
    at.transport.script(errorAnswer(500, 'no'));
    await failure(attempt(at.deps, at.context));
    expect(at.transport.sent).toHaveLength(1);
  });

  test('they are used in turn', async () => {
    const at = await admitted({ credentials: 2 });
    at.transport.script(wholeAnswer('a'), wholeAnswer('b'), wholeAnswer('c'));
    for (let call = 0; call < 3; call++) await attempt(at.deps, at.context);
    expect(keys(at)).toEqual(['Bearer sk-secret-0', 'Bearer sk-secret-1', 'Bearer sk-secret-0']);
  });
});

describe('time limits', () => {
  const LIMITS = [
    ['accepting a connection', 30_000, 'did not accept a connection'],
    ['the head of the answer', 60_000, 'did not begin to answer'],
    ['the first bytes', 90_000, 'headers and then nothing'],
  ] as const;
  for (const [step, [name, ms, sentence]] of LIMITS.entries()) {
    test(`${name}: not before ${ms} ms, and then the next target is called`, async () => {
      const at = await admitted({ targets: 2, model: { firstTokenMs: 600_000 } });
      let stuck = () => {};
      const isStuck = new Promise<void>((resolve) => {
        stuck = resolve;
      });
      at.transport.script((request) => {
        if (step === 0) request.exchange.connecting();
        else request.take();
        if (step === 2) request.begin();
        stuck();
      });
      const trying = attempt(at.deps, at.context);
      await isStuck;
      const [first] = at.transport.sent;
      at.transport.pass(ms / 2);
      expect(first?.exchange.failure).toBeUndefined();
      at.transport.pass(ms);
      expect(first?.exchange.failure).toMatchObject({ code: 'upstream_timeout', retryable: true });
      expect(first?.exchange.failure?.message).toContain(sentence);
      (await at.transport.next()).answer(wholeAnswer('second'));
      await trying;
      expect(hosts(at)).toEqual(['p0.test', 'p1.test']);
    });
  }

  test('the whole call: after it no other target is called', async () => {
    const limits = { connectMs: 1e9, headersMs: 1e9, firstTokenMs: 1e9, silenceMs: 1e9, wholeMs: 50_000 };
    const at = await admitted({ targets: 2, settings: { limits } });
    const trying = failure(attempt(at.deps, at.context));
    await at.transport.next();
    at.transport.pass(50_000);
    const error = await trying;
    expect([error.code, error.status]).toEqual(['upstream_timeout', 504]);
    expect(hosts(at)).toEqual(['p0.test']);
  });
});

describe('streams', () => {
  const [role, delta] = streamAnswer(['Hel']).events ?? [];

  test('a stream starts with its first content; the rest is read on demand', async () => {
    const at = await admitted({}, { stream: true });
    const trying = attempt(at.deps, at.context);
    const request = await at.transport.next();
    request.beginStream();
    request.pushEvents(role, delta);
    const upstream = await trying;
    expect(upstream.same).toBe(true);
    expect(request.isStopped).toBe(false);
    const next = async () => ((await upstream.next()) ?? []).flatMap(({ events }) => [...events]);
    expect((await next()).length).toBeGreaterThan(0);
    request.pushDone();
  });

  test('an error as its first event is a failed attempt: the next target answers', async () => {
    const at = await admitted({ targets: 2 }, { stream: true });
    at.transport.script(
      { events: [{ error: { message: 'overloaded', type: 'server_error' } }] },
      streamAnswer(['two']),
    );
    expect(await textOf(at)).toBe('two');
    expect(hosts(at)).toEqual(['p0.test', 'p1.test']);
  });

  test('a stream that ends without content is a failed attempt', async () => {
    const at = await admitted({ targets: 2 }, { stream: true });
    at.transport.script(
      (request) => {
        request.take();
        request.beginStream();
        request.exchange.finish();
      },
      streamAnswer(['two']),
    );
    expect(await textOf(at)).toBe('two');
  });

  test('too many bytes without content before the response end the attempt', async () => {
    const at = await admitted({ targets: 2 }, { stream: true });
    at.transport.script(
      (request) => {
        request.take();
        request.beginStream();
        request.push(`: ${'x'.repeat(1_100_000)}\n\n`);
      },
      streamAnswer(['two']),
    );
    expect(await textOf(at)).toBe('two');
    expect(at.transport.sent[0]?.isStopped).toBe(true);
  });
});

describe('bounds and ends', () => {
  test('an answer larger than the settings allow is a failure, and the exchange ends', async () => {
    const at = await admitted({ settings: { maxReplyBytes: 100 } });
    at.transport.script(wholeAnswer('x'.repeat(200)));
    expect((await failure(attempt(at.deps, at.context))).code).toBe('upstream_failed');
    const declared = await admitted({ settings: { maxReplyBytes: 100 } });
    const trying = failure(attempt(declared.deps, declared.context));
    const request = await declared.transport.next();
    request.begin(200, { 'content-length': '1000' });
    expect((await trying).message).toContain('larger than 100 bytes');
    expect(request.isStopped).toBe(true);
  });

  test('a cancelled call calls no other target', async () => {
    const at = await admitted({ targets: 2 });
    const trying = failure(attempt(at.deps, at.context));
    const request = await at.transport.next();
    at.context.cancellation.cancel();
    await trying;
    expect(request.isStopped).toBe(true);
    expect(hosts(at)).toEqual(['p0.test']);
  });

  test('a response with status 200 and an error in its body is a failed attempt', async () => {
    const at = await admitted({ targets: 2 });
    at.transport.script({ json: { error: { message: 'overloaded', type: 'server_error' } } }, wholeAnswer('second'));
    expect(await textOf(at)).toBe('second');
  });
});
