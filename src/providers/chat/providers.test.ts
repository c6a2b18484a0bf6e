import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { hasFixtures, type RecordedCase, recordedCases, requestBytes } from '../../../test/helpers/fixtures.ts';
import type { ChatCall } from '../../canonical/call.ts';
import type { JsonObject } from '../../canonical/json.ts';
import { providerDialectNamed } from '../../dialects/index.ts';
import { memberPatches } from '../../dialects/shared/adjust.ts';
import { quirksOf } from '../../dialects/shared/quirks.ts';
import { PROVIDERS, providerOf } from '../index.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import { type Provider, type Signing, spokenDialect } from '../provider.ts';

const CALL = {} as ChatCall;
/** Members that these providers do not require. */
const SIGNING: Signing = { now: () => 0, token: () => Promise.reject(new Error('no token is needed here')) };

/** The provider of a recording, and its folder. */
const RECORDED: {
  readonly [provider: string]: { type: string; baseUrl?: string; settings?: { [name: string]: string } };
} = {
  azure: {
    type: 'azure',
    baseUrl: 'https://resource.services.ai.azure.com/models',
    settings: { apiVersion: '2024-05-01-preview' },
  },
  cerebras: { type: 'cerebras' },
  deepseek: { type: 'deepseek' },
  gpustack: { type: 'vllm', baseUrl: 'http://vllm.test/<GPUSTACK_API_BASE>' },
  groq: { type: 'groq' },
  mistral: { type: 'mistral' },
  openai: { type: 'openai' },
  openrouter: { type: 'openrouter' },
  perplexity: { type: 'perplexity' },
  snowflake: { type: 'snowflake', baseUrl: 'https://account.snowflakecomputing.com/api/v2/cortex/v1' },
  zai: { type: 'zai' },
};

interface Case {
  recording: RecordedCase;
  request: JsonObject;
  provider: Provider;
  target: Target;
}

const cases: Case[] = recordedCases('openai-chat').flatMap((recording) => {
  const row = RECORDED[recording.provider];
  const bytes = recording.status === 200 ? requestBytes(recording) : undefined;
  const provider = row && providerOf(row.type);
  if (!bytes || !provider) return [];
  const request: JsonObject = JSON.parse(Buffer.from(bytes).toString());
  return [{ recording, request, provider, target: targetOf(provider, { model: String(request.model), ...row }) }];
});

function targetOf(provider: Provider, settings: Partial<Target>): Target {
  const baseUrl = settings.baseUrl ?? provider.baseUrl ?? '';
  return {
    model: settings.model ?? 'a-model',
    baseUrl,
    credential: settings.credential,
    settings: settings.settings ?? {},
  };
}

function authorized(provider: Provider, target: Target): Outgoing['headers'] {
  const outgoing: Outgoing = { method: 'POST', url: '', headers: {}, body: undefined };
  expect(provider.authorize(outgoing, target, SIGNING)).toBeUndefined();
  return outgoing.headers;
}

describe('recorded requests', () => {
  test.skipIf(!hasFixtures)('exist for most providers', () => {
    expect(new Set(cases.map((one) => one.recording.provider)).size).toBe(Object.keys(RECORDED).length);
  });

  test.skipIf(!hasFixtures)('were sent to the URL of the provider', () => {
    for (const { recording, provider, target } of cases) {
      const { pathname, search } = new URL(provider.url(target, 'openai-chat', CALL));
      const path = decodeURIComponent(pathname).replace(/^\/(?=<)/, '');
      expect(`POST ${path}${search}`).toBe(recording.endpoint);
    }
  });

  test.skipIf(!hasFixtures)('had no member that the quirks reject or rename', () => {
    for (const { recording, request, provider } of cases) {
      const quirks = quirksOf(provider.quirks ?? {}, String(request.model));
      const { members, warnings } = memberPatches(request, quirks);
      expect({ file: recording.file, warnings }).toEqual({ file: recording.file, warnings: [] });
      expect({ file: recording.file, members }).toEqual({ file: recording.file, members: {} });
    }
  });

  test.skipIf(!hasFixtures)('wrote messages as the quirks say', () => {
    for (const { request, provider } of cases) {
      const {
        requiresToolCallIds,
        supportsDeveloperRole,
        rejectsInMessages = [],
      } = quirksOf(provider.quirks ?? {}, String(request.model));
      for (const message of request.messages as JsonObject[]) {
        expect(rejectsInMessages.filter((member) => member in message)).toEqual([]);
        if (supportsDeveloperRole === false) expect(message.role).not.toBe('developer');
        if (requiresToolCallIds !== 'nine-alphanumeric' || message.tool_call_id === undefined) continue;
        expect(message.tool_call_id).toMatch(/^[a-zA-Z0-9]{9}$/);
      }
    }
  });
});

describe('every row', () => {
  const rows = [...PROVIDERS.values()];

  test.each(rows.map((row) => [row.name, row] as const))('%s is complete', (name, provider) => {
    expect(providerOf(name)).toBe(provider);
    const spoken = Object.entries(provider.speaks);
    expect(spoken.length > 0 || provider.video !== undefined).toBe(true);
    for (const [kind, names] of spoken) {
      for (const spokenName of names) expect(providerDialectNamed(spokenName)?.kind as string).toBe(kind);
    }
    if (provider.baseUrl !== undefined) {
      expect(provider.baseUrl).toMatch(/^https?:\/\/[^/]+(\/.*[^/])?$/);
      expect(new URL(provider.baseUrl).protocol).toBe(
        /localhost|\.invalid/.test(provider.baseUrl) ? 'http:' : 'https:',
      );
    } else if (provider.addressOf) {
      expect(provider.addressOf({ region: 'eu-west-1', location: 'eu-west1' })).toMatch(/^https:\/\/[\w.-]+$/);
    } else if (name !== 'openai-compatible') expect(provider.baseUrlVariable).toMatch(/^[A-Z_]+$/);
    if (provider.needsCredential)
      expect(provider.credentialVariable ?? provider.credentialSetting).toMatch(/^[A-Z_]+$|^secretAccessKey$/);
    for (const row of provider.quirks?.models ?? []) expect(() => new RegExp(row.match)).not.toThrow();
    const { rejects = [], renames = {} } = provider.quirks ?? {};
    expect(rejects.filter((member) => member in renames)).toEqual([]);
  });

  test.each(rows.map((row) => [row.name, row] as const))(
    '%s sends its credential in a lower-case header, and none without one',
    (_name, provider) => {
      const headers = authorized(provider, targetOf(provider, { credential: 'secret' }));
      const carriers = Object.keys(headers).filter((name) => headers[name]?.includes('secret'));
      expect(carriers).toHaveLength(1);
      for (const name of Object.keys(headers)) expect(name).toBe(name.toLowerCase());
      const { [carriers[0] ?? '']: _, ...others } = headers;
      expect(authorized(provider, targetOf(provider, {}))).toEqual(others);
    },
  );

  test('no two share a variable', () => {
    const variables = rows.map((row) => row.credentialVariable).filter((name) => name !== undefined);
    expect(new Set(variables).size).toBe(variables.length);
  });
});

describe('URLs', () => {
  test('have no double slash', () => {
    const provider = providerOf('openai')!;
    const url = provider.url(targetOf(provider, { baseUrl: 'https://example.com/v1/' }), 'openai-chat', CALL);
    expect(url).toBe('https://example.com/v1/chat/completions');
  });

  test.each([
    ['https://r.openai.azure.com', undefined, 'openai-chat', 'https://r.openai.azure.com/openai/v1/chat/completions'],
    [
      'https://r.openai.azure.com/openai/v1',
      undefined,
      'openai-completions',
      'https://r.openai.azure.com/openai/v1/completions',
    ],
    [
      'https://r.openai.azure.com',
      '2024-10-21',
      'openai-chat',
      'https://r.openai.azure.com/openai/deployments/my%20model/chat/completions?api-version=2024-10-21',
    ],
    [
      'https://r.services.ai.azure.com/models',
      '2024-05-01-preview',
      'openai-chat',
      'https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview',
    ],
  ])('azure at %s, version %s, %s', (baseUrl, apiVersion, dialect, url) => {
    const azure = providerOf('azure')!;
    const target = targetOf(azure, { model: 'my model', baseUrl, settings: apiVersion ? { apiVersion } : {} });
    expect(azure.url(target, dialect, CALL)).toBe(url);
  });

  test.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['https://example.com/proxy/', 'https://example.com/proxy/v1/messages'],
    ['https://api.anthropic.com/v1', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
  ])('anthropic at %s', (baseUrl, url) => {
    const anthropic = providerOf('anthropic')!;
    expect(anthropic.url(targetOf(anthropic, { baseUrl }), 'anthropic-messages', CALL)).toBe(url);
  });

  test.each([
    ['https://g.example/v1beta', 'gemini-x', false, 'https://g.example/v1beta/models/gemini-x:generateContent'],
    ['https://g.example', 'gemini-x', true, 'https://g.example/v1beta/models/gemini-x:streamGenerateContent?alt=sse'],
    ['https://g.example/v1/', 'models/gemini-x', false, 'https://g.example/v1/models/gemini-x:generateContent'],
    ['https://g.example/v1alpha', 'tunedModels/y', false, 'https://g.example/v1alpha/tunedModels/y:generateContent'],
  ])('google at %s for %s, streamed %p', (baseUrl, model, stream, url) => {
    const google = providerOf('google')!;
    expect(google.url(targetOf(google, { baseUrl, model }), 'gemini', { ...CALL, stream })).toBe(url);
  });

  test("anthropic is sent a version, or the client's own", () => {
    const anthropic = providerOf('anthropic')!;
    const target = targetOf(anthropic, { credential: 'k' });
    expect(authorized(anthropic, target)).toEqual({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' });
    const outgoing = { method: 'POST', url: '', headers: { 'anthropic-version': '2026-10-21' }, body: undefined };
    void anthropic.authorize(outgoing, target, SIGNING);
    expect(outgoing.headers['anthropic-version']).toBe('2026-10-21');
  });

  test('a dialect without a path is an internal error', () => {
    const provider = providerOf('groq')!;
    expect(() => provider.url(targetOf(provider, {}), 'gemini', CALL)).toThrow('The gateway failed on its own side.');
  });

  test('azure has its own header for the key', () => {
    const azure = providerOf('azure')!;
    expect(authorized(azure, targetOf(azure, { credential: 'k' }))).toEqual({ 'api-key': 'k' });
  });

  test('openai accepts an organization and a project', () => {
    const openai = providerOf('openai')!;
    const target = targetOf(openai, { credential: 'k', settings: { organization: 'o', project: 'p' } });
    expect(authorized(openai, target)).toEqual({
      authorization: 'Bearer k',
      'openai-organization': 'o',
      'openai-project': 'p',
    });
  });
});

describe('the dialect', () => {
  test.each([
    ['openai', 'openai-completions', 'gpt-4o', 'openai-chat'],
    ['openai', 'openai-completions', 'gpt-3.5-turbo-instruct', 'openai-completions'],
    ['openai', 'openai-chat', 'gpt-3.5-turbo-instruct', 'openai-completions'],
    ['openai', 'openai-chat', 'gpt-4o', 'openai-chat'],
    ['openai', 'anthropic-messages', 'babbage-002', 'openai-completions'],
    ['groq', 'openai-completions', 'llama-3.1-8b-instant', 'openai-chat'],
    ['vllm', 'openai-completions', 'Llama-3.1-8B-Instruct', 'openai-completions'],
    ['sandbox', 'openai-completions', 'sandbox-chat', 'openai-completions'],
    ['azure', 'openai-chat', 'Llama-3.3-70B-Instruct', 'openai-chat'],
    ['anthropic', 'openai-chat', 'claude-sonnet-5', 'anthropic-messages'],
    ['google', 'openai-completions', 'gemini-3.8-flash', 'gemini'],
    ['openai', 'gemini', 'gpt-4o', 'openai-chat'],
    ['openai', 'openai-responses', 'gpt-4o', 'openai-responses'],
    ['openai', 'openai-responses', 'gpt-4o-audio-preview', 'openai-chat'],
    ['openai', 'openai-responses', 'babbage-002', 'openai-completions'],
    ['openai', 'openai-chat', 'gpt-6-astra', 'openai-responses'],
    ['openai', 'anthropic-messages', 'gpt-6.1-sol', 'openai-responses'],
    ['openai', 'openai-chat', 'gpt-6.1-terra', 'openai-chat'],
    ['openai', 'openai-chat', 'gpt-5-pro-2025-10-06', 'openai-responses'],
    ['openai', 'openai-chat', 'gpt-5.1-codex-mini', 'openai-responses'],
    ['groq', 'openai-responses', 'llama-3.1-8b-instant', 'openai-responses'],
    ['xai', 'openai-responses', 'grok-4', 'openai-responses'],
    ['mistral', 'openai-responses', 'mistral-small-latest', 'openai-chat'],
  ])('%s called in %s for %s: %s', (type, own, model, dialect) => {
    expect(spokenDialect(providerOf(type)!, chatCall(), own, targetOf(providerOf(type)!, { model }))).toBe(dialect);
  });

  test.each([
    ['gpt-6-luna', undefined, 'openai-responses'],
    ['gpt-6-luna', { effort: 'low' }, 'openai-responses'],
    ['gpt-6-luna', { effort: 'none' }, 'openai-chat'],
    ['gpt-5.5', undefined, 'openai-chat'],
    ['gpt-5.5', { effort: 'none' }, 'openai-chat'],
    ['gpt-5.5', { effort: 'high' }, 'openai-responses'],
    ['gpt-5.5', { budgetTokens: 2000 }, 'openai-responses'],
    ['gpt-4o', { effort: 'high' }, 'openai-chat'],
  ] as const)('tools of a chat client for %s at OpenAI, thinking %j: %s', (model, reasoning, dialect) => {
    const call = chatCall({ tools: [{ type: 'function', name: 'look_up' }], ...(reasoning && { reasoning }) });
    expect(spokenDialect(providerOf('openai')!, call, 'openai-chat', targetOf(providerOf('openai')!, { model }))).toBe(
      dialect,
    );
  });
});

describe('models of one provider that differ', () => {
  const patched = (type: string, model: string, members: JsonObject) =>
    memberPatches(members, quirksOf(providerOf(type)!.quirks!, model)).members;

  test.each([
    'o1',
    'o3-mini',
    'o4-mini',
    'gpt-5',
    'gpt-5-nano',
    'gpt-5.2',
    'gpt-5.6-luna',
    'gpt-6-sol',
    'gpt-6.1-terra',
  ])('%s has its token limit under the new name', (model) => {
    expect(patched('openai', model, { max_tokens: 5 })).toEqual({ max_tokens: undefined, max_completion_tokens: 5 });
  });

  test.each(['gpt-4o', 'gpt-4.1-nano', 'gpt-3.5-turbo', 'chatgpt-4o-latest', 'gpt-5-chat-latest'])(
    '%s accepts everything',
    (model) => {
      expect(
        patched('openai', model, { max_tokens: 5, temperature: 0.2, top_p: 0.5, stop: ['x'], logprobs: true }),
      ).toEqual({});
    },
  );

  test('a reasoning model accepts only default sampling', () => {
    const sampling = { temperature: 0.2, top_p: 1, presence_penalty: 0, logprobs: true };
    expect(patched('openai', 'gpt-5-nano', sampling)).toEqual({ temperature: undefined, logprobs: undefined });
    expect(patched('openai', 'gpt-5.1', sampling)).toEqual({});
    expect(patched('moonshot', 'kimi-k2.6', { temperature: 0.6 })).toEqual({ temperature: undefined });
    expect(patched('moonshot', 'kimi-k2-turbo-preview', { temperature: 0.6 })).toEqual({});
  });

  test.each([
    ['grok-3', true],
    ['grok-3-mini', false],
    ['grok-4', true],
    ['grok-4-1-fast-reasoning', true],
    ['grok-4.20-0309-reasoning', true],
    ['grok-4.20-multi-agent-0309', false],
    ['grok-4.3', false],
    ['grok-code-fast-1', true],
  ])('%s rejects an effort: %p', (model, refuses) => {
    expect('reasoning_effort' in patched('xai', model, { reasoning_effort: 'low' })).toBe(refuses);
  });

  test("xAI's reasoning models reject stop sequences and penalties", () => {
    const members = { stop: ['x'], presence_penalty: 1 };
    expect(patched('xai', 'grok-4-1-fast-reasoning', members)).toEqual({
      stop: undefined,
      presence_penalty: undefined,
    });
    expect(patched('xai', 'grok-4-1-fast-non-reasoning', members)).toEqual({ presence_penalty: undefined });
    expect(patched('xai', 'grok-2', members)).toEqual({});
  });

  test('mistral has other names and rejects unknown members', () => {
    expect(
      patched('mistral', 'mistral-large-latest', {
        max_completion_tokens: 9,
        seed: 1,
        user: 'u',
        stream_options: {},
        logprobs: null,
      }),
    ).toEqual({
      max_completion_tokens: undefined,
      max_tokens: 9,
      seed: undefined,
      random_seed: 1,
      user: undefined,
      stream_options: undefined,
      logprobs: undefined,
    });
  });
});
