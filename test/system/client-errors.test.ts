/**
 * Every refusal and failure as each official library throws it, non-streaming and streaming: class, status, readable message, and charge.
 */
import { describe, expect, test } from 'bun:test';
import type { Client, Conversation, ConversationView } from '../clients/formats-client.ts';
import { CLIENTS, FORMATS, startFormatsClient } from '../clients/formats-client.ts';
import { FORMAT_OF } from '../e2e/scenario.ts';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import { costOf, nanoCost, type Stage, type StageSetup } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { inEachFormat, sideBySide } from '../helpers/side-by-side.ts';
import type { Answer } from '../upstream/answer.ts';

const MOST_BYTES = 20_000;
/** Long enough for a busy machine, short enough to wait for. */
const PATIENCE = {
  MODELPORT_CONNECT_TIMEOUT_MS: '3000',
  MODELPORT_HEADERS_TIMEOUT_MS: '3000',
  MODELPORT_FIRST_TOKEN_TIMEOUT_MS: '3000',
};

const scene = useScene({ environment: { ...PATIENCE, MODELPORT_MAX_BODY_BYTES: String(MOST_BYTES) } });
/** A gateway with keep-alives after 100 ms. In `scene` every failure is answered with its status before the first keep-alive. */
const quick = useScene({ environment: { MODELPORT_KEEP_ALIVE_MS: '100' } });
const libraries = useClient(startFormatsClient);

type TestRequest = Partial<Conversation> & Pick<Conversation, 'client' | 'stream'>;

function talk(stage: Stage, request: TestRequest): Promise<ConversationView> {
  return libraries.run({
    url: new URL(stage.at.baseURL).origin,
    apiKey: stage.caller.key,
    model: stage.model,
    ...request,
  });
}

function newStage(provider: ProviderName, more: StageSetup = {}, where = scene): Promise<Stage> {
  const { type, upstreamModel } = PROVIDERS[provider];
  return where.stage({ type, upstreamModel, ...more });
}

const shared = new Map<string, Promise<Stage>>();

/** With an account of its own and the models of an earlier stage: for calls after which the provider is as good as before. */
async function nextStage(provider: ProviderName, more: StageSetup = {}, where = scene): Promise<Stage> {
  const key = JSON.stringify([provider, more, where === scene]);
  const first = shared.get(key);
  if (first) return (await first).again();
  const made = newStage(provider, more, where);
  shared.set(key, made);
  return made;
}

/** A stream of four texts that fails before its last events. */
function unfinished(provider: ProviderName, does: 'cut' | 'silence'): Answer {
  const answer = PROVIDERS[provider].stream({ texts: ['one ', 'two ', 'three ', 'four'] });
  const events = answer.events?.length ?? 0;
  return { ...answer, fault: { before: events - (provider === 'gemini' ? 1 : 3), does } };
}

/** A key of the stage's account with its own limits. */
async function keyWith({ caller }: Stage, limits: object): Promise<string> {
  const body = { account: caller.account, name: 'limited', ...limits };
  return (await scene.gateway.admin<{ key: string }>('POST', '/keys', body)).key;
}

async function disabledKey({ caller }: Stage): Promise<string> {
  const body = { account: caller.account, name: 'disabled' };
  const { id, key } = await scene.gateway.admin<{ id: string; key: string }>('POST', '/keys', body);
  await scene.gateway.admin('POST', `/keys/${id}/disable`);
  return key;
}

const CLASSES: { readonly [status: number]: string } = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
};
const ANTHROPIC_CLASSES: typeof CLASSES = {
  402: 'PaymentRequiredError',
  413: 'ContentTooLargeError',
  504: 'GatewayTimeoutError',
};

/** The exception class of a client for a status. */
function classOf(client: Client, status: number): string {
  if (client.startsWith('ai-')) return 'APICallError';
  if (client === 'gemini') return 'ApiError';
  const own = client === 'messages' ? ANTHROPIC_CLASSES[status] : undefined;
  return own ?? CLASSES[status] ?? (status >= 500 ? 'InternalServerError' : 'APIError');
}

interface Condition {
  name: string;
  status: number;
  /** The error type of the messages format. */
  type: string;
  message: RegExp;
  /** What differs in the request; a limited key is made here. */
  ask?(stage: Stage, client: Client): Partial<Conversation> | Promise<Partial<Conversation>>;
  stage?: StageSetup;
  /** `ask` calls the provider. */
  asksProvider?: true;
  /** The provider's answers; without them nothing may arrive there. */
  answer?(provider: ProviderName): Answer;
}

const WRONG: { readonly [format in (typeof FORMATS)[number]]: object } = {
  chat: { temperature: 3 },
  messages: { max_tokens: 0 },
  gemini: { temperature: 9 },
  responses: { temperature: 3 },
};

const refuses = (status: number, type: string): Condition => ({
  name: `the provider refuses the request with ${status}`,
  status,
  type,
  message: /The image is too large/,
  answer: (provider) => PROVIDERS[provider].error(status, 'The image is too large.'),
});
const fails = (statusCode: number, status = 502, type = 'api_error'): Condition => ({
  name: `the provider answers ${statusCode}`,
  status,
  type,
  message: /./,
  answer: (provider) => PROVIDERS[provider].error(statusCode, 'secret of account acct_9 at https://provider.example'),
});

const CONDITIONS: readonly Condition[] = [
  {
    name: 'an unknown key',
    status: 401,
    type: 'authentication_error',
    message: /key/,
    ask: () => ({ apiKey: 'sk-wrong' }),
  },
  {
    name: 'a disabled key',
    status: 401,
    type: 'authentication_error',
    message: /disabled/,
    ask: async (stage) => ({ apiKey: await disabledKey(stage) }),
  },
  {
    name: 'a model the key may not call',
    status: 403,
    type: 'permission_error',
    message: /model/,
    ask: async (stage) => ({ apiKey: await keyWith(stage, { models: ['another'] }) }),
  },
  {
    name: 'an address the key may not call from',
    status: 403,
    type: 'permission_error',
    message: /address/,
    ask: async (stage) => ({ apiKey: await keyWith(stage, { addresses: ['10.0.0.0/8'] }) }),
  },
  { name: 'an empty balance', status: 402, type: 'billing_error', message: /balance/, stage: { amount: '0' } },
  {
    name: "a key's budget used up",
    status: 402,
    type: 'billing_error',
    message: /budget/,
    ask: async (stage) => ({ apiKey: await keyWith(stage, { budget: '0.000000001' }) }),
  },
  {
    name: 'an unknown model',
    status: 404,
    type: 'not_found_error',
    message: /does not exist/,
    ask: ({ model }) => ({ model: model.toUpperCase() }),
  },
  {
    name: 'a member out of range',
    status: 400,
    type: 'invalid_request_error',
    message: /temperature|max_tokens|top_?p/i,
    ask: (_, client) =>
      client.startsWith('ai-') ? { extra: { topP: 9 } } : { extra: { ...WRONG[FORMAT_OF[client]] } },
  },
  {
    name: 'a body too large',
    status: 413,
    type: 'request_too_large',
    message: /large|bytes/,
    ask: () => ({ prompt: 'x'.repeat(MOST_BYTES) }),
  },
  {
    name: 'too many requests in a minute',
    status: 429,
    type: 'rate_limit_error',
    message: /minute/,
    asksProvider: true,
    ask: async (stage) => {
      const apiKey = await keyWith(stage, { requestsPerMinute: 1 });
      // It uses the only request of the minute.
      stage.script(PROVIDERS.chat.error(400, 'no'));
      await talk(stage, { client: 'chat', stream: false, apiKey });
      return { apiKey };
    },
  },
  refuses(400, 'invalid_request_error'),
  refuses(404, 'not_found_error'),
  refuses(422, 'invalid_request_error'),
  fails(401),
  fails(403),
  fails(429, 429, 'rate_limit_error'),
  fails(500),
  fails(503),
  {
    name: 'the provider does not answer',
    status: 504,
    type: 'timeout_error',
    message: /time/,
    answer: () => ({ json: {}, fault: { before: 'headers', does: 'silence' } }),
  },
];

for (const client of CLIENTS) {
  describe(client, () => {
    test(
      'every refusal and failure is its proper exception, and free',
      () =>
        sideBySide(
          CONDITIONS.flatMap((condition) => [false, true].map((stream) => ({ condition, stream }))),
          ({ condition, stream }) => `${condition.name}, ${stream ? 'streamed' : 'whole'}`,
          async ({ condition, stream }) => {
            const { status, type, message, answer, ask } = condition;
            const provider =
              FORMATS[(CONDITIONS.indexOf(condition) + CLIENTS.indexOf(client)) % FORMATS.length] ?? 'chat';
            // A call that is refused here does not reach the provider.
            const stage = await (answer || condition.asksProvider ? newStage : nextStage)(provider, condition.stage);
            if (answer) stage.script(answer(provider));
            const otherwise = await ask?.(stage, client);
            const before = stage.journal().length;
            const { error, turns } = await talk(stage, { client, stream, ...otherwise });
            const expected = client === 'messages' && status === 503 ? 529 : status;
            expect({ status: error?.status, class: error?.class }).toEqual({
              status: expected,
              class: classOf(client, expected),
            });
            expect(error?.message).toMatch(message);
            expect(error?.message).not.toMatch(/sk-wrong|127\.0\.0\.1|acct_9|provider\.example|<html/);
            if (client === 'messages') expect(error?.type).toBe(type);
            expect(turns).toEqual([]);
            expect(stage.journal()).toHaveLength(before + (answer ? 1 : 0));
            for (const call of await stage.settled()) expect(call.cost).toBe('0');
          },
        ),
      60_000,
    );

    test(
      'an interrupted stream is an error, no answer, and charged as delivered',
      inEachFormat(async (provider) => {
        const stage = await newStage(provider);
        stage.script({ ...unfinished(provider, 'cut'), paceMs: 5 });
        const { error, turns, received } = await talk(stage, { client, stream: true });
        expect(error).toBeDefined();
        expect(turns).toEqual([]);
        expect(received.join('')).toStartWith('one ');
        const call = await stage.settledCall();
        expect(call).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
        expect(nanoCost(call)).toBeGreaterThan(0n);
      }),
      60_000,
    );

    test(
      'an abort in mid-stream ends the upstream at once; what was delivered is charged once',
      inEachFormat(async (provider) => {
        const stage = await nextStage(provider);
        stage.script(unfinished(provider, 'silence'));
        const { error, received } = await talk(stage, { client, stream: true, abortAfter: 2 });
        expect(error?.status ?? null).toBeNull();
        expect(received.join('')).toStartWith('one two ');
        await stage.upstreamAborted();
        const call = await stage.settledCall();
        expect(call).toMatchObject({
          outcome: 'aborted',
          usage: { source: expect.stringMatching(/^(counted|partial)$/) },
        });
        expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
        expect(nanoCost(call)).toBeGreaterThan(0n);
      }),
      60_000,
    );

    test(
      "a failure that passes: the client's own retry gets it through, one call is charged",
      inEachFormat(async (provider) => {
        const stage = await newStage(provider);
        stage.script(PROVIDERS[provider].error(500, 'busy'), PROVIDERS[provider].whole({ texts: ['Hello'] }));
        const view = await talk(stage, { client, stream: false, retries: 2 });
        expect(view).toMatchObject({ attempts: 2, turns: [{ text: 'Hello' }] });
        const [failed, ok] = await stage.settled();
        expect(failed).toMatchObject({ outcome: 'failed', cost: '0' });
        expect(ok && nanoCost(ok)).toBe(costOf({ input: 11, output: 7 }));
      }),
      60_000,
    );

    test('an empty balance is not retried', async () => {
      const stage = await newStage('chat', { amount: '0' });
      const view = await talk(stage, { client, stream: false, retries: 2 });
      expect(view).toMatchObject({ attempts: 1, error: { status: 402 } });
      expect(stage.journal()).toEqual([]);
    });

    test(
      'silence before the first word and within the answer is bridged',
      inEachFormat(async (provider) => {
        const stage = await nextStage(provider, {}, quick);
        const answer = PROVIDERS[provider].stream({ texts: ['one ', 'two ', 'three'] });
        const spoken = PROVIDERS[provider].stream({ texts: ['one ', 'two ', 'three'] });
        stage.script({ ...answer, fault: { before: 0, does: 350 } }, { ...spoken, fault: { before: 2, does: 350 } });
        for (const _ of [1, 2]) {
          const { error, turns } = await talk(stage, { client, stream: true });
          expect(error).toBeUndefined();
          expect(turns).toMatchObject([{ text: 'one two three', usage: { input: 11, output: 7 } }]);
        }
        expect(await stage.settled()).toHaveLength(2);
      }),
      60_000,
    );
  });
}
