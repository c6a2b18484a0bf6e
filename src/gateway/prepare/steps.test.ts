import { describe, expect, test } from 'bun:test';
import { chatRequest } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import type { Call, ImageCall } from '../../canonical/call.ts';
import { isTextOnly } from '../../canonical/text-only.ts';
import { uploadOf } from '../../canonical/upload.ts';
import { type Quirks, quirksOf } from '../../dialects/shared/quirks.ts';
import { admit } from '../admit/admit.ts';
import type { CallContext } from '../call-context.ts';
import { routeTo, type TargetRoute } from '../target-route.ts';
import { runSteps, TargetCall } from './steps.ts';
import { hasUploads } from './uploaded-images.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

interface Prepared extends GatewayCase {
  context: CallContext;
  prepared: TargetCall;
}

/** An admitted call on its way to its first target. */
async function prepare(
  more: { [member: string]: unknown } = {},
  { dialect = 'openai-chat', ...setup }: CaseSetup & { dialect?: string } = {},
  { quirks = {}, ...route }: Omit<Partial<TargetRoute>, 'quirks'> & { quirks?: Quirks } = {},
): Promise<Prepared> {
  const at = await bench.open(setup);
  const context = await admit(at.deps, at.pendingCall(chatRequest(at.model, more), dialect), at.underWay);
  const [target] = context.route.targets;
  if (!target) throw new Error('The model has no target.');
  const found = routeTo(at.deps, context.call, context.dialect, target, context.model);
  return {
    ...at,
    context,
    prepared: new TargetCall(at.deps, context, { ...found, ...route, quirks: quirksOf(quirks, 'm') }),
  };
}

test('a plain call passes no step: it is returned at once, unchanged', async () => {
  const { prepared, context } = await prepare();
  expect(runSteps(prepared)).toBe(prepared);
  expect(prepared.call).toBe(context.call);
  expect(prepared.losses).toEqual([]);
});

test.each(['openai-compatible', 'anthropic', 'google'])(
  'no step applies to a text at %s, whether it is marked as one or looked through',
  async (type) => {
    const { prepared, context } = await prepare({}, { type });
    expect(isTextOnly(context.call)).toBe(true);
    expect(runSteps(prepared)).toBe(prepared);
    delete context.call.origin.plainTurns;
    expect(isTextOnly(context.call)).toBe(false);
    expect(runSteps(prepared)).toBe(prepared);
    expect(prepared.call).toBe(context.call);
  },
);

test('a text conversation whose signatures may be missing needs a step', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'And?' },
  ];
  const dialect = bench.dialect('anthropic-messages');
  const more = { messages, max_tokens: 9000, reasoning_effort: 'high' };
  const { prepared, context } = await prepare(more, {}, { dialect });
  expect(isTextOnly(context.call)).toBe(true);
  const running = runSteps(prepared);
  expect(running).toBeInstanceOf(Promise);
  await running;
});

test('so is a conversation with earlier turns, tools and several choices for a target of its own format', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'And?' },
  ];
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const { prepared } = await prepare({ messages, tools, n: 3 });
  expect(runSteps(prepared)).toBe(prepared);
});

describe('a step runs where it applies', () => {
  test('split: several choices at a target whose format has one', async () => {
    const messages = { max_tokens: 10, n: 3 };
    const { prepared, deps } = await prepare(messages, {}, { dialect: bench.dialect('anthropic-messages') });
    await runSteps(prepared);
    expect(prepared.pieces).toHaveLength(3);
    expect(deps).toBe(prepared.deps);
  });

  test('change kind: a conversation at a model that generates images', async () => {
    const { prepared, context } = await prepare({}, {}, { kind: 'image' });
    await runSteps(prepared);
    expect(prepared.call.kind).toBe('image');
    expect(context.call.kind).toBe('chat');
  });

  test('later steps see the result of earlier ones: images are requested in groups as large as the model accepts', async () => {
    const { prepared } = await prepare({ n: 3 }, {}, { kind: 'image', quirks: { maxImagesPerCall: 2 } });
    await runSteps(prepared);
    expect(prepared.pieces?.map((piece: Call) => piece.kind === 'image' && piece.n)).toEqual([2, 1]);
  });

  test('signatures: a conversation with earlier turns at a target that signs its reasoning', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And?' },
    ];
    const found: string[] = [];
    const { prepared } = await prepare(
      { messages, reasoning_effort: 'high' },
      {},
      { dialect: bench.dialect('gemini') },
    );
    const store = prepared.deps.memory.signatureStore;
    prepared.deps.memory = {
      ...prepared.deps.memory,
      signatureStore: {
        ...store,
        restore(account, owner, call, now) {
          found.push(account);
          return store.restore(account, owner, call, now);
        },
      },
    };
    await runSteps(prepared);
    expect(found).toEqual([prepared.context.caller.account]);
  });

  test.each([true, false])('uploads: a target that takes files (%s) gets them as they are', async (takesFiles) => {
    const { prepared } = await prepare({}, {}, { kind: 'image' });
    const dialect = { ...bench.dialect('openai-images'), takesUploads: () => takesFiles };
    const upload = {
      kind: 'image',
      mimeType: 'image/png',
      source: { type: 'upload', upload: uploadOf(Buffer.from('a')) },
    };
    const call = { ...prepared.call, kind: 'image', images: [upload], n: 1 } as unknown as ImageCall;
    const changed = new TargetCall(prepared.deps, prepared.context, { ...prepared.route, dialect });
    changed.call = call;
    await runSteps(changed);
    expect(changed.call === call).toBe(takesFiles);
    expect(hasUploads(changed.call)).toBe(takesFiles);
  });

  test('media: an image named by its URL is refused where it may not be fetched', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/cat.png' } }];
    const { prepared } = await prepare(
      { messages: [{ role: 'user', content }] },
      {},
      { quirks: { supportsMediaUrls: [] } },
    );
    const running = Promise.resolve(runSteps(prepared));
    expect(await running.catch(({ code }: { code: string }) => code)).toBe('invalid_request');
  });
});
