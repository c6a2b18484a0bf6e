/** Providers whose URLs and bodies depend on more than a key: Bedrock, Vertex AI, Azure. */
import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { providerOf } from '../index.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import { type Provider, type Signing, spokenDialect, type TokenExchange } from '../provider.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

function providerNamed(name: string): Provider {
  const provider = providerOf(name);
  if (!provider) throw new Error(`there is no ${name}`);
  return provider;
}

function targetOf(provider: Provider, overrides: Partial<Target>): Target {
  const settings = overrides.settings ?? {};
  const baseUrl = overrides.baseUrl ?? provider.baseUrl ?? provider.addressOf?.(settings) ?? '';
  return { model: 'm', baseUrl, credential: undefined, settings, ...overrides };
}

/** Returns the token `fetched`, and records the exchange. */
function signingWith(exchanges: TokenExchange[] = []): Signing {
  return {
    now: () => NOW,
    token(exchange) {
      exchanges.push(exchange);
      return Promise.resolve('fetched');
    },
  };
}

async function headersOf(
  provider: Provider,
  overrides: Partial<Target>,
  sent: Outgoing['headers'] = {},
  exchanges: TokenExchange[] = [],
) {
  const outgoing: Outgoing = { method: 'POST', url: 'https://example.com/x', headers: { ...sent }, body: undefined };
  await provider.authorize(outgoing, targetOf(provider, overrides), signingWith(exchanges));
  return outgoing.headers;
}

describe('bedrock', () => {
  const bedrock = providerNamed('bedrock');
  const ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123';

  test.each([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', undefined, 'anthropic-messages'],
    ['anthropic.claude-opus-4-7', undefined, 'anthropic-messages'],
    [
      'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0',
      undefined,
      'anthropic-messages',
    ],
    ['us.amazon.nova-2-lite-v1:0', undefined, 'bedrock-converse'],
    ['openai.gpt-oss-120b-1:0', undefined, 'bedrock-converse'],
    [ARN, undefined, 'bedrock-converse'],
    [ARN, 'anthropic-messages', 'anthropic-messages'],
  ])('%s, with setting %p, is called in %s whatever the client uses', (model, speaks, dialect) => {
    const target = targetOf(bedrock, { model, settings: { region: 'us-east-1', ...(speaks && { speaks }) } });
    for (const own of ['anthropic-messages', 'openai-chat', 'gemini']) {
      expect(spokenDialect(bedrock, chatCall(), own, target)).toBe(dialect);
    }
  });

  test('names are encoded, ARNs too; the region is in the URL', () => {
    const settings = { region: 'eu-west-1' };
    const url = (model: string, dialect: string, stream: boolean) =>
      bedrock.url(targetOf(bedrock, { model, settings }), dialect, chatCall({ stream }));
    const base = 'https://bedrock-runtime.eu-west-1.amazonaws.com/model';
    expect(url('eu.amazon.nova-pro-v1:0', 'bedrock-converse', false)).toBe(
      `${base}/eu.amazon.nova-pro-v1%3A0/converse`,
    );
    expect(url(ARN, 'bedrock-converse', true)).toBe(`${base}/${encodeURIComponent(ARN)}/converse-stream`);
    expect(url('anthropic.claude-x', 'anthropic-messages', false)).toBe(`${base}/anthropic.claude-x/invoke`);
    expect(url('anthropic.claude-x', 'anthropic-messages', true)).toBe(
      `${base}/anthropic.claude-x/invoke-with-response-stream`,
    );
    expect(bedrock.addressOf?.({ region: 'cn-north-1' })).toBe('https://bedrock-runtime.cn-north-1.amazonaws.com.cn');
    expect(bedrock.addressOf?.({})).toBeUndefined();
  });

  test("Claude's version and betas are in the body; none of Anthropic's headers are sent", async () => {
    const target = targetOf(bedrock, { settings: { region: 'us-east-1' } });
    const call = chatCall({ headers: { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1, b-2' } });
    expect(bedrock.members?.(target, 'anthropic-messages', call)).toEqual({
      model: undefined,
      stream: undefined,
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['a-1', 'b-2'],
    });
    expect(await headersOf(bedrock, { credential: 'k' }, { ...call.headers })).toEqual({ authorization: 'Bearer k' });
  });

  test('a guardrail of the settings is sent', () => {
    const target = targetOf(bedrock, { settings: { region: 'us-east-1', guardrail: 'g1', guardrailVersion: '2' } });
    const guardrailConfig = { guardrailIdentifier: 'g1', guardrailVersion: '2' };
    expect(bedrock.members?.(target, 'bedrock-converse', chatCall())).toEqual({ guardrailConfig });
  });
});

describe('bedrock-mantle', () => {
  test.each([
    ['anthropic.claude-haiku-4-5', 'openai-chat', 'anthropic-messages', '/anthropic/v1/messages'],
    ['openai.gpt-oss-20b', 'openai-responses', 'openai-responses', '/v1/responses'],
    ['openai.gpt-oss-20b', 'gemini', 'openai-chat', '/v1/chat/completions'],
    ['openai.gpt-5.6-luna', 'openai-chat', 'openai-responses', '/openai/v1/responses'],
  ])('%s called in %s: %s', (model, own, dialect, path) => {
    const mantle = providerNamed('bedrock-mantle');
    const target = targetOf(mantle, { model, settings: { region: 'us-west-2' } });
    expect(spokenDialect(mantle, chatCall(), own, target)).toBe(dialect);
    expect(mantle.url(target, dialect, chatCall())).toBe(`https://bedrock-mantle.us-west-2.api.aws${path}`);
  });
});

describe('vertex', () => {
  const vertex = providerNamed('vertex');
  const ACCOUNT = {
    type: 'service_account',
    project_id: 'p1',
    client_email: 'a@p1',
    private_key: 'x',
    token_uri: 'https://t/token',
  };
  const credential = JSON.stringify(ACCOUNT);
  const GLOBAL = 'https://aiplatform.googleapis.com';

  test.each([
    [
      'gemini-2.5-flash',
      {},
      'gemini',
      true,
      `${GLOBAL}/v1beta1/projects/p1/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`,
    ],
    [
      'gemini-2.5-flash',
      { project: 'p2', location: 'europe-west4' },
      'gemini',
      false,
      'https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p2/locations/europe-west4/publishers/google/models/gemini-2.5-flash:generateContent',
    ],
    [
      'claude-sonnet-4-5@20250929',
      { location: 'us' },
      'anthropic-messages',
      false,
      'https://aiplatform.us.rep.googleapis.com/v1/projects/p1/locations/us/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
    ],
    [
      'claude-opus-5',
      {},
      'anthropic-messages',
      true,
      `${GLOBAL}/v1/projects/p1/locations/global/publishers/anthropic/models/claude-opus-5:streamRawPredict`,
    ],
    [
      'endpoints/77',
      { location: 'us-central1' },
      'gemini',
      false,
      'https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p1/locations/us-central1/endpoints/77:generateContent',
    ],
    [
      'projects/x/locations/y/endpoints/77',
      {},
      'gemini',
      false,
      `${GLOBAL}/v1beta1/projects/x/locations/y/endpoints/77:generateContent`,
    ],
    [
      'meta/llama-4-maverick-17b-128e-instruct-maas',
      { location: 'us-east5' },
      'openai-chat',
      false,
      'https://us-east5-aiplatform.googleapis.com/v1/projects/p1/locations/us-east5/endpoints/openapi/chat/completions',
    ],
  ] as const)('%s with %j in %s, streamed %p', (model, settings, dialect, stream, url) => {
    const target = targetOf(vertex, { model, settings, credential });
    expect(spokenDialect(vertex, chatCall(), 'openai-responses', target)).toBe(dialect);
    expect(vertex.url(target, dialect, chatCall({ stream }))).toBe(url);
  });

  test('a base URL may have a version or not', () => {
    const url = (baseUrl: string) =>
      vertex.url(targetOf(vertex, { baseUrl, credential, model: 'claude-x' }), 'anthropic-messages', chatCall());
    expect(url('https://proxy.example/v1')).toBe(url('https://proxy.example'));
  });

  test('keys of express mode have no project', async () => {
    const target = targetOf(vertex, { model: 'gemini-x', credential: 'AQ.abc' });
    expect(vertex.url(target, 'gemini', chatCall({ stream: false }))).toBe(
      `${GLOBAL}/v1beta1/publishers/google/models/gemini-x:generateContent`,
    );
    expect(await headersOf(vertex, { credential: 'AQ.abc' })).toEqual({ 'x-goog-api-key': 'AQ.abc' });
    expect(await headersOf(vertex, { credential: 'ya29.token' })).toEqual({ authorization: 'Bearer ya29.token' });
  });

  test("an account's token is fetched, and Anthropic's version is in the body", async () => {
    const exchanges: TokenExchange[] = [];
    const sent = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b' };
    expect(await headersOf(vertex, { credential }, sent, exchanges)).toEqual({
      authorization: 'Bearer fetched',
      'anthropic-beta': 'b',
    });
    expect(exchanges).toHaveLength(1);
    expect(vertex.members?.(targetOf(vertex, {}), 'anthropic-messages', chatCall())).toEqual({
      model: undefined,
      anthropic_version: 'vertex-2023-10-16',
    });
  });

  test("a user's refresh token is exchanged too; other kinds are refused without quoting them", async () => {
    const person = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' };
    const exchanges: TokenExchange[] = [];
    await headersOf(vertex, { credential: JSON.stringify(person) }, {}, exchanges);
    const request = await exchanges[0]?.request(NOW);
    expect(request?.url).toBe('https://oauth2.googleapis.com/token');
    expect(Buffer.from(request?.body ?? []).toString()).toBe(
      'grant_type=refresh_token&client_id=c&client_secret=s&refresh_token=r',
    );
    const other = JSON.stringify({ type: 'external_account', secret: 'hidden' });
    await expect(headersOf(vertex, { credential: other })).rejects.toThrow(
      /^The gateway's credential for the provider cannot be used\.$/,
    );
    await expect(headersOf(vertex, { credential: '{ broken' })).rejects.toThrow(/cannot be used/);
  });

  test('without a project an attempt fails', () => {
    const target = targetOf(vertex, { credential: 'ya29.x' });
    expect(() => vertex.url(target, 'gemini', chatCall())).toThrow(/cannot be used/);
  });
});

describe('azure', () => {
  const azure = providerNamed('azure');
  const RESOURCE = 'https://r.openai.azure.com';

  test.each([
    [RESOURCE, undefined, `${RESOURCE}/openai/v1/responses`],
    [`${RESOURCE}/openai/v1`, undefined, `${RESOURCE}/openai/v1/responses`],
    [`${RESOURCE}/openai/v1`, 'preview', `${RESOURCE}/openai/v1/responses?api-version=preview`],
    [RESOURCE, '2025-04-01-preview', `${RESOURCE}/openai/responses?api-version=2025-04-01-preview`],
  ])('Responses at %s, version %p', (baseUrl, apiVersion, url) => {
    const target = targetOf(azure, { baseUrl, model: 'my-deployment', settings: apiVersion ? { apiVersion } : {} });
    expect(spokenDialect(azure, chatCall(), 'openai-responses', target)).toBe('openai-responses');
    expect(azure.url(target, 'openai-responses', chatCall())).toBe(url);
  });

  test.each([
    [RESOURCE, '2024-10-21'],
    ['https://r.services.ai.azure.com/models', '2024-05-01-preview'],
  ])('at %s, version %s, there is no Responses', (baseUrl, apiVersion) => {
    const target = targetOf(azure, { baseUrl, settings: { apiVersion } });
    expect(spokenDialect(azure, chatCall(), 'openai-responses', target)).toBe('openai-chat');
  });

  test("an API key, an Entra token, or an application's secret that is exchanged for one", async () => {
    expect(await headersOf(azure, { credential: 'abc' })).toEqual({ 'api-key': 'abc' });
    expect(await headersOf(azure, { credential: 'eyJh.eyJb.c-_' })).toEqual({ authorization: 'Bearer eyJh.eyJb.c-_' });
    const exchanges: TokenExchange[] = [];
    const settings = { tenantId: 't1', clientId: 'c1' };
    expect(await headersOf(azure, { credential: 'secret', settings }, {}, exchanges)).toEqual({
      authorization: 'Bearer fetched',
    });
    const request = await exchanges[0]?.request(NOW);
    expect(request?.url).toBe('https://login.microsoftonline.com/t1/oauth2/v2.0/token');
    expect(Object.fromEntries(new URLSearchParams(Buffer.from(request?.body ?? []).toString()))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'c1',
      client_secret: 'secret',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
    await expect(headersOf(azure, { credential: 'secret', settings: { tenantId: 't1' } })).rejects.toThrow(
      /cannot be used/,
    );
  });
});
