/** The official openai library with recorded replies: through the gateway its user sees what the provider's own user sees. */
import { describe, expect, test } from 'bun:test';
import { type ClientView, type Scenario, startOpenaiClient } from '../clients/openai-client.ts';
import { hasFixtures, type RecordedCase, recordedCases, requestBytes } from '../helpers/fixtures.ts';
import { recordedUsage } from '../helpers/recorded-usage.ts';
import { costOf, nanoCost, PRICE, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { CHUNKINGS, type Chunking } from '../upstream/answer.ts';

/** The row of the providers table for a recording's provider. */
const ROWS: { [provider: string]: string } = {
  alibaba: 'dashscope',
  gpustack: 'vllm',
  moonshotai: 'moonshot',
  'anthropic-openai-compat': 'openai-compatible',
  'google-openai-compat': 'openai-compatible',
};

const scene = useScene({}, { checksEachTest: false });
const client = useClient(() => startOpenaiClient());
let directs = 0;

const CHAT = recordedCases('openai-chat');
const WHOLE = CHAT.filter((recorded) => !recorded.stream && recorded.status === 200);
const STREAMS = CHAT.filter((recorded) => recorded.stream);
const PROVIDERS = [...new Set(CHAT.map((recorded) => recorded.provider))];

type Request = { model: string; [member: string]: unknown };

/** The recorded request or a plain one; a stream asks for its usage. */
function requestOf(recorded: RecordedCase): Request {
  const bytes = requestBytes(recorded);
  const plain = { model: 'recorded-model', messages: [{ role: 'user', content: 'Hello' }] };
  const recordedRequest = (bytes && JSON.parse(Buffer.from(bytes).toString())) ?? plain;
  // Wishes in OpenRouter's words are for the gateway, which has other providers: src/gateway/wishes.test.ts.
  const { provider: _, models: __, ...request } = recordedRequest;
  return recorded.stream ? { ...request, stream_options: { include_usage: true } } : request;
}

interface Seen {
  view: ClientView;
  sent: { [member: string]: unknown };
}

async function direct(way: Scenario['way'], recorded: RecordedCase, chunking: Chunking): Promise<ClientView> {
  const prefix = `/direct-${++directs}/`;
  scene.upstream.script(prefix, { fixture: recorded.file, chunking });
  const at = { baseURL: `${scene.upstream.url}${prefix}v1`, apiKey: 'sk-fake' };
  return client.run({ way, ...at, request: requestOf(recorded) });
}

async function through(stage: Stage, way: Scenario['way'], recorded: RecordedCase, chunking: Chunking): Promise<Seen> {
  stage.script({ fixture: recorded.file, chunking });
  const view = await client.run({ way, ...stage.at, request: { ...requestOf(recorded), model: stage.model } });
  return { view, sent: stage.journal().at(-1)?.body ?? {} };
}

const stageFor = (recorded: RecordedCase) =>
  scene.stage({
    // Some recordings search, at providers that charge for it.
    price: { ...PRICE, perToolCall: 0 },
    maxOutputTokens: 32_768,
    type: ROWS[recorded.provider] ?? recorded.provider,
    upstreamModel: requestOf(recorded).model,
  });

/**
 * What both views must have in common. Roles, finish reasons and empty chunks may be repeated or omitted. If the provider left an id, a
 * finish reason or an annotation's number empty, the gateway must have set it.
 */
function common(view: ClientView, native: ClientView) {
  const { ids, object, error } = view;
  const choices = view.choices.map(({ roles: _, finishes: __, annotations, ...choice }, index) => {
    const other = native.choices[index];
    const calls = choice.calls?.map((call, at) => ({
      ...call,
      id: other?.calls[at]?.id === '' && call.id ? '' : call.id,
    }));
    const finish = other?.finish === '' && choice.finish ? '' : choice.finish;
    return {
      ...choice,
      calls,
      finish,
      annotations: annotations?.map(({ index: _index, ...annotation }) => annotation),
    };
  });
  return { choices, ids, object, error };
}

function assertUsage(view: ClientView, native: ClientView, recorded: RecordedCase): void {
  const usage = recordedUsage(recorded);
  if (native.usage) expect(view.usage).toBeTruthy();
  if (usage && view.usage) {
    expect(view.usage.prompt_tokens).toBe(usage.input);
    expect(view.usage.completion_tokens).toBe(usage.output);
  }
}

type Message = { role: string; content?: unknown; [member: string]: unknown };

/** Providers accept reasoning under different names, so its position may differ. */
/** Without `models`, which is not passed on: other models have other prices than the held one. */
function relevantMembers({
  model: _,
  models: _m,
  stream: __,
  stream_options: ___,
  ...body
}: {
  [member: string]: unknown;
}) {
  const messages = (body.messages ?? []) as Message[];
  return {
    ...body,
    messages: messages.map(
      ({ reasoning: _r, reasoning_content: _c, reasoning_details: _d, thinking: _t, ...message }) => message,
    ),
  };
}

/** A recorded request comes from the provider's own client, so it is sent unchanged. */
function assertSentAsAsked(sent: Seen['sent'], recorded: RecordedCase): void {
  const original = requestOf(recorded);
  expect(sent.model).toBe(original.model);
  expect(relevantMembers(sent)).toMatchObject(relevantMembers(original));
  expect(Object.keys(relevantMembers(sent)).sort()).toEqual(Object.keys(relevantMembers(original)).sort());
}

async function assertCharged(stage: Stage, recorded: RecordedCase): Promise<void> {
  const calls = await stage.settled();
  const usage = recordedUsage(recorded);
  for (const call of calls) {
    expect(call).toMatchObject({ outcome: 'ok', status: 200, attempts: 1 });
    if (usage) {
      expect(call.usage).toMatchObject({ source: 'reported', input: usage.input, output: usage.output });
      expect(nanoCost(call)).toBe(costOf(usage));
    } else {
      expect(call.usage?.source).toBe('counted');
      expect(nanoCost(call)).toBeGreaterThan(0n);
    }
  }
}

const READS_ALL = process.env.MODELPORT_TEST_THOROUGH === '1';

/**
 * The ways of reading and of splitting a stream that are tried together: each recording is read in both ways and split in all four, each
 * splitting with one of the ways in turn; with the setting above with both.
 */
function pairsOf(recorded: RecordedCase): (readonly [way: 'stream' | 'helper', chunking: Chunking])[] {
  const ways = ['stream', 'helper'] as const;
  const place = STREAMS.indexOf(recorded);
  return CHUNKINGS.flatMap((chunking, at) =>
    ways.filter((_, way) => READS_ALL || (place + at) % ways.length === way).map((way) => [way, chunking] as const),
  );
}

const each = (cases: readonly RecordedCase[], check: (recorded: RecordedCase) => Promise<void>) =>
  sideBySide(cases, (recorded) => recorded.file, check);

describe.skipIf(!hasFixtures)('recorded replies through the gateway', () => {
  for (const provider of PROVIDERS) {
    const whole = WHOLE.filter((recorded) => recorded.provider === provider);
    const streams = STREAMS.filter((recorded) => recorded.provider === provider);
    const audio = streams.filter(({ native_sdk }) => native_sdk?.helper?.startsWith('ok'));
    const repaired = streams.filter(
      ({ native_sdk }) => native_sdk?.helper?.startsWith('FAIL') && !native_sdk.helper.includes('APIError'),
    );

    test.skipIf(whole.length === 0)(
      `${provider}: ${whole.length} non-streaming responses`,
      () =>
        each(whole, async (recorded) => {
          const stage = await stageFor(recorded);
          const { view, sent } = await through(stage, 'chat', recorded, 'event');
          const native = await direct('chat', recorded, 'event');
          expect(common(view, native)).toEqual(common(native, view));
          assertUsage(view, native, recorded);
          expect(view.models).toEqual([stage.model]);
          expect(view.requestId).toBeString();
          assertSentAsAsked(sent, recorded);
          await assertCharged(stage, recorded);
        }),
      60_000,
    );

    test.skipIf(audio.length === 0)(
      `${provider}: ${audio.length} streams, each split in four ways, raw and by the helper`,
      () =>
        each(audio, async (recorded) => {
          const stage = await stageFor(recorded);
          const natives = {
            stream: await direct('stream', recorded, 'event'),
            helper: await direct('helper', recorded, 'event'),
          };
          for (const [way, chunking] of pairsOf(recorded)) {
            const native = natives[way];
            const { view, sent } = await through(stage, way, recorded, chunking);
            expect(common(view, native)).toEqual(common(native, view));
            expect(view.models).toEqual([stage.model]);
            assertUsage(view, native, recorded);
            for (const choice of way === 'stream' ? view.choices : []) expect(choice.finishes).toBe(1);
            assertSentAsAsked(sent, recorded);
          }
          await assertCharged(stage, recorded);
        }),
      60_000,
    );

    test.skipIf(repaired.length === 0)(
      `${provider}: ${repaired.length} streams that its own library cannot read`,
      () =>
        each(repaired, async (recorded) => {
          const stage = await stageFor(recorded);
          const native = await direct('stream', recorded, 'event');
          for (const chunking of CHUNKINGS) {
            const helped = await through(stage, 'helper', recorded, chunking);
            expect(helped.view.error).toBeUndefined();
            const { view } = await through(stage, 'stream', recorded, chunking);
            expect(view.error).toBeUndefined();
            expect(view.ids.length).toBeLessThanOrEqual(1);
            for (const [index, choice] of view.choices.entries()) {
              expect(choice.roles).toBeGreaterThan(0);
              expect(choice.finishes).toBe(1);
              expect(helped.view.choices[index]).toMatchObject({
                text: choice.text,
                calls: choice.calls,
                finish: choice.finish,
              });
              if (native.error) continue;
              const { text, reasoning, calls = [] } = native.choices[index] ?? {};
              expect(choice).toMatchObject({ text, reasoning });
              expect(choice.calls.map(({ name, args }) => [name, args])).toEqual(
                calls.map(({ name, args }) => [name, args]),
              );
            }
          }
          await assertCharged(stage, recorded);
        }),
      60_000,
    );
  }

  test(
    "errors inside a stream reach the user with the provider's message",
    () =>
      each(
        STREAMS.filter(({ native_sdk }) => native_sdk?.raw?.startsWith('FAIL APIError')),
        async (recorded) => {
          for (const chunking of CHUNKINGS) {
            const stage = await stageFor(recorded);
            const native = await direct('stream', recorded, 'event');
            const { view } = await through(stage, 'stream', recorded, chunking);
            expect(view.error?.isApiError).toBe(true);
            expect(view.error?.message).toContain(native.error?.message ?? '');
            expect((await stage.settledCall()).outcome).toMatch(/broken|failed|refused/);
          }
        },
      ),
    60_000,
  );

  test(
    "errors before a reply: the provider's own if it refused the request, the gateway's if it refused the credential",
    () =>
      each(
        CHAT.filter((recorded) => recorded.status >= 400),
        async (recorded) => {
          const stage = await stageFor(recorded);
          const native = await direct('chat', recorded, 'event');
          const { view } = await through(stage, 'chat', recorded, 'event');
          const [call] = await stage.settled();
          // An out-of-range request is not sent.
          if (!call) return expect(view.error).toMatchObject({ status: 400, code: 'invalid_request' });
          expect(call.cost).toBe('0');
          expect(view.error?.isApiError).toBe(true);
          expect(view.error?.requestId).toBeString();
          // xAI answers 400 for an invalid key.
          const ours =
            [401, 402, 403, 407].includes(recorded.status) || /API key|credential/i.test(native.error?.message ?? '');
          if (recorded.status === 429) expect(view.error?.class).toBe('RateLimitError');
          else if (ours || recorded.status >= 500)
            expect(view.error).toMatchObject({ status: 502, code: 'upstream_failed' });
          else expect(view.error).toMatchObject({ status: recorded.status, class: native.error?.class });
          if (ours) expect(view.error?.message).not.toMatch(/sk-|org-|key/i);
        },
      ),
    60_000,
  );
});
