import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { FakeSink, type GatewayCase, startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import type { Answer, ByteSource } from '../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const textOf = ({ body }: Answer) => Buffer.from(body as Uint8Array).toString();

/** Nothing of any call is left: no money, no place, no form. */
async function expectClean(at: GatewayCase): Promise<void> {
  expect(await at.held()).toBe(0n);
  expect([at.gateway.active, at.loads.size, at.unreleased()]).toEqual([0, 0, 0]);
  expect(at.troubles).toEqual([]);
}

describe('the order of the steps', () => {
  test('a call is answered, charged, recorded', async () => {
    const at = await bench.open();
    at.transport.script(wholeAnswer('Hello'));
    const answer = await at.serve(chatRequest(at.model));
    expect([answer.status, textOf(answer).includes('Hello')]).toEqual([200, true]);
    expect(at.calls).toHaveLength(1);
    await expectClean(at);
  });

  test('an unknown key is refused before the body is read', async () => {
    const at = await bench.open();
    const answer = await at.serve(chatRequest(at.model), { key: 'sk-nobody' });
    expect(answer.status).toBe(401);
    expect(at.loads.size).toBe(0);
    await expectClean(at);
  });

  test('an invalid body is refused; nothing is held, its place is freed', async () => {
    const at = await bench.open();
    const answer = await at.serve({ model: at.model, messages: 'none' });
    expect(answer.status).toBe(400);
    expect(at.transport.sent).toEqual([]);
    expect(at.calls).toEqual([]);
    await expectClean(at);
  });

  test('a call that is not admitted leaves no record', async () => {
    const at = await bench.open({ balance: 0n });
    expect((await at.serve(chatRequest(at.model))).status).toBe(402);
    expect(at.calls).toEqual([]);
    await expectClean(at);
  });

  test('a refusal is written in the client’s format', async () => {
    const at = await bench.open();
    const { messages } = chatRequest(at.model);
    const body = { model: 'none', max_tokens: 10, messages };
    const answer = await at.serve(body, {
      dialect: 'anthropic-messages',
      headers: { 'anthropic-version': '2023-06-01' },
    });
    expect(answer.status).toBe(404);
    expect(JSON.parse(String(answer.body))).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });
});

describe('failures', () => {
  test('a provider’s refusal is returned with its status, costs nothing and is recorded as refused', async () => {
    const at = await bench.open();
    at.transport.script(errorAnswer(400, 'temperature is too high'));
    const answer = await at.serve(chatRequest(at.model));
    expect(answer.status).toBe(400);
    expect(answer.headers['x-modelport-attempts']).toBe('1');
    expect(at.calls[0]).toMatchObject({ outcome: 'refused', status: 400, cost: 0n });
    await expectClean(at);
  });

  test('if every target fails the call is recorded as failed, with the number of attempts', async () => {
    const at = await bench.open({ targets: 2, model: { retries: 0 } });
    at.transport.script(errorAnswer(500, 'no'), errorAnswer(500, 'no'));
    const answer = await at.serve(chatRequest(at.model));
    expect([answer.status, answer.headers['x-modelport-attempts']]).toEqual([502, '2']);
    expect(at.calls[0]).toMatchObject({ outcome: 'failed', attempts: 2, cost: 0n });
    await expectClean(at);
  });

  test('the failure is returned also if it cannot be settled', async () => {
    const at = await bench.open();
    at.deps.ledger = { ...at.deps.ledger, settle: () => Promise.reject(new Error('no database')) };
    at.transport.script(errorAnswer(400, 'temperature is too high'));
    expect((await at.serve(chatRequest(at.model))).status).toBe(400);
    expect(at.troubles).toEqual(['A failed call could not be settled.']);
    expect(at.gateway.active).toBe(0);
  });
});

describe('a client that disconnects before its response', () => {
  test('ends its upstream if the model is configured with abort, and is charged for what was sent', async () => {
    const at = await bench.open({ model: { onDisconnect: 'abort' } });
    const serving = at.serve(chatRequest(at.model));
    const request = await at.transport.next();
    at.client.leave();
    expect(request.isStopped).toBe(true);
    await serving;
    expect(at.calls[0]).toMatchObject({ outcome: 'aborted', status: 499 });
    expect(at.calls[0]?.cost).toBeGreaterThan(0n);
    await expectClean(at);
  });

  test('has its response read to the end if the model is configured with drain', async () => {
    const at = await bench.open({ model: { onDisconnect: 'drain' } });
    const serving = at.serve(chatRequest(at.model));
    const request = await at.transport.next();
    at.client.leave();
    request.answer(wholeAnswer('Hello'));
    await serving;
    expect(at.calls[0]).toMatchObject({ outcome: 'aborted', status: 499, cost: 39_000n });
    await expectClean(at);
  });
});

describe('streams', () => {
  test('a failure before the stream starts is a response with its status', async () => {
    const at = await bench.open();
    at.transport.script(errorAnswer(400, 'no'));
    expect((await at.serve(chatRequest(at.model, { stream: true }))).status).toBe(400);
    await expectClean(at);
  });

  test('the stream is opened while a slow target starts; a later failure is an event in it', async () => {
    const at = await bench.open({ settings: { keepAliveMs: 3 } });
    const answer = await at.serve(chatRequest(at.model, { stream: true }));
    expect(answer.status).toBe(200);
    const sink = new FakeSink();
    (answer.body as ByteSource).start(sink);
    expect(sink.text).toStartWith(':');
    (await at.transport.next()).answer(errorAnswer(400, 'temperature is too high'));
    await sink.over;
    expect(sink.text).toContain('temperature is too high');
    expect(sink.text).not.toContain('[DONE]');
    await expectClean(at);
  });

  for (const isShown of [true, false]) {
    test(`a stream that was opened early names its attempts at the end${isShown ? ', and the provider' : ''}`, async () => {
      const at = await bench.open({ targets: 2, settings: { keepAliveMs: 3, showProvider: isShown } });
      const answer = await at.serve(chatRequest(at.model, { stream: true }));
      expect(answer.headers['x-modelport-attempts']).toBe('1');
      const sink = new FakeSink();
      (answer.body as ByteSource).start(sink);
      at.transport.script(streamAnswer(['Hello']));
      (await at.transport.next()).answer(errorAnswer(503, 'down'));
      expect(await sink.over).toBe('ended');
      const provider = isShown ? `: modelport-provider: p1-${at.model}\n` : '';
      expect(sink.text).toContain(`: modelport-attempts: 2\n${provider}\ndata: `);
      expect(sink.text.includes('modelport-provider')).toBe(isShown);
      expect(sink.text).toEndWith('data: [DONE]\n\n');
      await expectClean(at);
    });
  }

  test('what is in the headers is not repeated', async () => {
    const at = await bench.open({ settings: { keepAliveMs: 3 } });
    const answer = await at.serve(chatRequest(at.model, { stream: true }));
    const sink = new FakeSink();
    (answer.body as ByteSource).start(sink);
    (await at.transport.next()).answer(streamAnswer(['Hello']));
    await sink.over;
    expect(sink.text).not.toContain('modelport-');
    await expectClean(at);
  });

  test('a stream is under way until it is settled', async () => {
    const at = await bench.open();
    at.transport.script(streamAnswer(['Hello']));
    const answer = await at.serve(chatRequest(at.model, { stream: true }));
    expect(at.gateway.active).toBe(1);
    const sink = new FakeSink();
    (answer.body as ByteSource).start(sink);
    expect(await sink.over).toBe('ended');
    await expectClean(at);
  });
});

describe('the stop', () => {
  test('without active calls it ends at once', async () => {
    const at = await bench.open();
    await at.gateway.drain(60_000);
    expect(at.gateway.active).toBe(0);
  });

  test('calls that exceed the drain time are ended and settled', async () => {
    const at = await bench.open();
    const serving = at.serve(chatRequest(at.model));
    const request = await at.transport.next();
    await at.gateway.drain(0);
    expect(request.isStopped).toBe(true);
    expect((await serving).status).toBe(502);
    await expectClean(at);
  });

  test.each([false, true])('calls that are admitted after the drain time are not sent (stream: %p)', async (stream) => {
    const at = await bench.open();
    const { ledger } = at.deps;
    const held = Promise.withResolvers<void>();
    at.deps.ledger = { ...ledger, hold: (request) => held.promise.then(() => ledger.hold(request)) };
    const serving = at.serve(chatRequest(at.model, { stream }));
    await at.gateway.drain(0);
    expect(at.gateway.active).toBe(1);
    held.resolve();
    expect((await serving).status).toBe(502);
    expect(at.transport.sent).toEqual([]);
    expect(at.calls).toMatchObject([{ outcome: 'failed', cost: 0n }]);
    await expectClean(at);
  });
});
