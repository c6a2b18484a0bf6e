import { describe, expect, test } from 'bun:test';
import { chatRequest } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { admit } from './admit.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

/** What the call is refused with. */
async function refusal(at: GatewayCase, body: object, dialect?: string): Promise<GatewayError> {
  const error = await admit(at.deps, at.pendingCall(body, dialect), at.underWay).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error('The call was not refused.');
  return error;
}

/** Nothing is held, charged, sent or under way. */
async function expectNothing(at: GatewayCase): Promise<void> {
  expect(await at.held()).toBe(0n);
  expect(await at.spent()).toBe(0n);
  expect(at.transport.sent).toEqual([]);
  expect(at.underWay.size).toBe(0);
}

describe('what may be called', () => {
  test('a name that is much too long is not sent back as a whole', async () => {
    const at = await bench.open();
    const { message } = await refusal(at, chatRequest('m'.repeat(1_000_000)));
    expect(message).toStartWith('The model `mmm');
    expect(message.length).toBeLessThan(400);
  });

  test('an unknown model is not found; the nearest name is named', async () => {
    const at = await bench.open();
    const error = await refusal(at, chatRequest(`${at.model}x`));
    expect([error.code, error.status, error.param]).toEqual(['model_not_found', 404, 'model']);
    expect(error.message).toContain(`Did you mean \`${at.model}\`?`);
    await expectNothing(at);
  });

  test('a key with a list of models is refused for a model that is not in it', async () => {
    const at = await bench.open({ key: { models: ['another'] } });
    const error = await refusal(at, chatRequest(at.model));
    expect([error.code, error.status, error.param]).toEqual(['model_not_allowed', 403, 'model']);
    await expectNothing(at);
  });

  test('a key with scopes is refused on other endpoints', async () => {
    const at = await bench.open({ key: { scopes: ['embeddings'] } });
    expect((await refusal(at, chatRequest(at.model))).code).toBe('scope_not_allowed');
    await expectNothing(at);
  });

  test('a model of another kind is refused with the endpoint that serves it', async () => {
    const at = await bench.open({ model: { kind: 'embed', price: { input: 1 } } });
    const error = await refusal(at, chatRequest(at.model));
    expect(error.code).toBe('invalid_request');
    expect(error.message).toContain('POST /v1/embeddings');
    await expectNothing(at);
  });

  test('more choices than a call may have are refused', async () => {
    const at = await bench.open();
    const error = await refusal(at, chatRequest(at.model, { n: 129 }));
    expect(error.param).toBe('n');
    await expectNothing(at);
  });

  test('images are limited by the model, else by the settings', async () => {
    const image = { kind: 'image', price: { perImage: 0.01 } };
    const own = await bench.open({ model: { ...image, maxImages: 2 } });
    const usual = await bench.open({ model: image });
    const drawing = (at: GatewayCase, n: number) => ({ model: at.model, prompt: 'A cat', n });
    expect((await refusal(own, drawing(own, 3), 'openai-images')).message).toContain('from 1 to 2');
    expect((await refusal(usual, drawing(usual, 5), 'openai-images')).code).toBe('too_many_images');
    await expectNothing(usual);
  });
});

describe('money', () => {
  test('a balance that does not cover the call refuses it', async () => {
    const at = await bench.open({ balance: 1000n });
    const error = await refusal(at, chatRequest(at.model));
    expect([error.code, error.status]).toEqual(['insufficient_balance', 402]);
    await expectNothing(at);
  });

  test('the hold covers the input and the longest output that was requested', async () => {
    const at = await bench.open();
    const context = await admit(at.deps, at.pendingCall(chatRequest(at.model, { max_tokens: 50 })), at.underWay);
    const input = BigInt(context.meter.soFar().input) * 1000n;
    expect(input).toBeGreaterThan(0n);
    expect(await at.held()).toBe(context.hold.amount);
    expect(context.hold.amount).toBeGreaterThanOrEqual(input + 50n * 4000n);
    expect(at.underWay.all()).toEqual([context]);
  });

  test('the hold covers an image at a model that counts more tokens for it', async () => {
    const provider = { name: 'mini' };
    const targets = [{ provider: provider.name, model: 'gpt-4o-mini' }];
    const at = await bench.open({ provider, model: { targets } });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const body = { model: at.model, max_tokens: 50, messages: [{ role: 'user', content: [image] }] };
    const context = await admit(at.deps, at.pendingCall(body), at.underWay);
    expect(context.hold.amount).toBeGreaterThanOrEqual(25_501n * 1000n + 50n * 4000n);
  });

  test('without a limit of its own a call is held as long as the model may answer; choices each', async () => {
    const at = await bench.open();
    const amountOf = async (more: object) =>
      (await admit(at.deps, at.pendingCall({ ...chatRequest(at.model), ...more }), at.underWay)).hold.amount;
    const [one, three, short] = [await amountOf({}), await amountOf({ n: 3 }), await amountOf({ max_tokens: 5 })];
    expect(one).toBeGreaterThanOrEqual(100n * 4000n);
    expect(three - one).toBeGreaterThanOrEqual(2n * 100n * 4000n);
    expect(short).toBeLessThan(100n * 4000n);
  });
});

describe('limits', () => {
  test('a key at its limit of calls is refused, and admitted again once one has ended', async () => {
    const at = await bench.open({ key: { concurrency: 1 } });
    const first = await admit(at.deps, at.pendingCall(chatRequest(at.model)), at.underWay);
    const error = await refusal(at, chatRequest(at.model));
    expect([error.code, error.status]).toEqual(['rate_limited', 429]);
    first.pace.end(0);
    expect((await admit(at.deps, at.pendingCall(chatRequest(at.model)), at.underWay)).model.name).toBe(at.model);
  });

  test('a refusal after the limits frees the place', async () => {
    const at = await bench.open({ key: { concurrency: 1 }, balance: 1000n });
    for (let call = 0; call < 3; call++)
      expect((await refusal(at, chatRequest(at.model))).code).toBe('insufficient_balance');
  });

  test('a refusal before the limits takes no place', async () => {
    const at = await bench.open({ key: { requestsPerMinute: 1 } });
    expect((await refusal(at, chatRequest(at.model, { n: 129 }))).code).toBe('invalid_request');
    expect((await admit(at.deps, at.pendingCall(chatRequest(at.model)), at.underWay)).pace.limits).toBeDefined();
    expect((await refusal(at, chatRequest(at.model))).code).toBe('rate_limited');
  });

  test('a call that can never fit the token limit is refused at once', async () => {
    const at = await bench.open({ key: { tokensPerMinute: 20 } });
    expect((await refusal(at, chatRequest(at.model, { max_tokens: 50 }))).message).toContain('20');
    await expectNothing(at);
  });
});

test('a call with a URL that cannot be fetched is refused before anything is held, and its place is freed', async () => {
  const at = await bench.open({ key: { concurrency: 1 }, type: 'ollama' });
  const image = { type: 'image_url', image_url: { url: 'http://127.0.0.1/cat.png' } };
  const body = { model: at.model, messages: [{ role: 'user', content: [image] }] };
  for (let call = 0; call < 2; call++) {
    const error = await refusal(at, body);
    expect([error.code, error.param]).toEqual(['invalid_request', 'messages[0].content[0].image_url.url']);
  }
  await expectNothing(at);
});
