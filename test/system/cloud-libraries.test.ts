/** What the gateway sends to a cloud equals what the cloud's own library sends for the same call: both call the same scripted upstream. */
import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { googleExchange } from '../../src/providers/clouds/google-token.ts';
import { type CloudCall, startCloudsClient } from '../clients/clouds-client.ts';
import { hasFixtures, recordedCases } from '../helpers/fixtures.ts';
import { messageAnswer } from '../helpers/message-answer.ts';
import type { Stage, StageSetup } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { verifySignature } from '../helpers/signature-v4.ts';
import type { Answer } from '../upstream/answer.ts';
import type { JournalEntry } from '../upstream/scripted-upstream.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const KEYS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: SECRET };
const NOVA = 'us.amazon.nova-2-lite-v1:0';
const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const scene = useScene({}, { checksEachTest: false });
const libraries = useClient(startCloudsClient);
let last = 0;

interface Sent {
  /** Below the configured URL. */
  path: string;
  body: unknown;
  entry: JournalEntry;
}

/** What the library sends, and what it returns for the answer. */
async function direct({ call, at, request }: CloudCall, answer: Answer): Promise<Sent & { reply: unknown }> {
  const prefix = `/direct-${++last}`;
  scene.upstream.script(`${prefix}/`, answer);
  const { reply, error } = await libraries.run({
    call,
    at: { key: KEYS, ...at, url: scene.upstream.url + prefix },
    request,
  });
  expect(error).toBeUndefined();
  return { ...sentOf(scene.upstream.journal(`${prefix}/`), prefix), reply };
}

/** What the gateway sends for a client's request to the same model. */
async function through(setup: StageSetup, path: string, request: object, answer: Answer): Promise<Sent> {
  const stage: Stage = await scene.stage(setup);
  stage.script(answer);
  const at = path.replace('MODEL', stage.model);
  const response = await fetch(scene.gateway.url + at, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stage.caller.key}`,
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-1m-2025-08-07',
    },
    body: JSON.stringify(path.includes('MODEL') ? request : { model: stage.model, ...request }),
  });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  // The scene's URLs end with a version of their own.
  const prefix = /^\/[^/]+\/t0\/v1/.exec(stage.journal()[0]?.path ?? '')?.[0] ?? '';
  return sentOf(stage.journal(), prefix);
}

function sentOf([entry]: JournalEntry[], prefix: string): Sent {
  if (!entry) throw new Error('nothing was sent');
  expect(entry.method).toBe('POST');
  expect(entry.headers['content-type']).toContain('application/json');
  return { path: entry.path.slice(prefix.length), body: entry.body, entry };
}

function assertSigned({ entry }: Sent): void {
  const { method, path, headers, body } = entry;
  const { ok, scope } = verifySignature({ method, path, headers, body: JSON.stringify(body) }, SECRET);
  expect(ok).toBe(true);
  expect(scope).toEndWith('/us-east-1/bedrock/aws4_request');
}

const bedrock = (upstreamModel: string): StageSetup => ({
  type: 'bedrock',
  credential: `${KEYS.accessKeyId}:${SECRET}`,
  settings: { region: 'us-east-1' },
  upstreamModel,
});
const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Ja' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
};

describe('the AWS SDK', () => {
  const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const conversation = {
    system: [{ text: 'Be brief.' }],
    messages: [
      {
        role: 'user',
        content: [
          { text: 'What is this, and the weather?' },
          { image: { format: 'png', source: { bytes: { base64: PNG } } } },
        ],
      },
      {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: 'tooluse_1', name: 'get_weather', input: { city: 'Ōsaka' } } }],
      },
      { role: 'user', content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'sunny' }] } }] },
    ],
    inferenceConfig: { maxTokens: 300, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
    toolConfig: {
      tools: [{ toolSpec: { name: 'get_weather', description: 'The weather.', inputSchema: { json: SCHEMA } } }],
      toolChoice: { any: {} },
    },
  };
  const chat = {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this, and the weather?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'tooluse_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Ōsaka"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'tooluse_1', content: 'sunny' },
    ],
    max_tokens: 300,
    temperature: 0.5,
    top_p: 0.9,
    stop: ['END'],
    tools: [{ type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters: SCHEMA } }],
    tool_choice: 'required',
  };

  test('Converse: equal path and body, and a valid signature', async () => {
    const sdk = await direct({ call: 'converse', request: { modelId: NOVA, ...conversation } }, { json: CONVERSED });
    const ours = await through(bedrock(NOVA), '/v1/chat/completions', chat, { json: CONVERSED });
    expect(ours.path).toBe(sdk.path);
    expect(ours.body).toEqual(sdk.body);
    assertSigned(sdk);
    assertSigned(ours);
  });

  test('an inference profile by ARN is in the path as the SDK writes it', async () => {
    const modelId = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123';
    const request = { modelId, messages: [{ role: 'user', content: [{ text: 'Hello' }] }] };
    const sdk = await direct({ call: 'converse', request }, { json: CONVERSED });
    const ours = await through(
      bedrock(modelId),
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'Hello' }] },
      { json: CONVERSED },
    );
    expect(ours.path).toBe(sdk.path);
    expect(ours.body).toEqual(sdk.body);
    assertSigned(ours);
  });

  test('an API key is sent as a bearer token', async () => {
    const key = 'bedrock-api-key-1234567890';
    const request = { modelId: NOVA, messages: [{ role: 'user', content: [{ text: 'Hello' }] }] };
    const sdk = await direct({ call: 'converse', at: { url: '', key }, request }, { json: CONVERSED });
    const ours = await through(
      { ...bedrock(NOVA), credential: key },
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'Hello' }] },
      { json: CONVERSED },
    );
    expect(ours.entry.headers.authorization).toBe(`Bearer ${key}`);
    expect(sdk.entry.headers.authorization).toBe(ours.entry.headers.authorization);
  });

  test.skipIf(!hasFixtures)('ConverseStream: an equal request, and recordings are read as by the SDK', async () => {
    const recorded = recordedCases('bedrock-converse').find(
      ({ stream, features }) => stream && features.includes('tool-results-in-request'),
    );
    const answer = { fixture: recorded?.file ?? '', chunking: { seed: 5 } };
    const request = { modelId: NOVA, messages: [{ role: 'user', content: [{ text: 'Hello' }] }] };
    const sdk = await direct({ call: 'converse stream', request }, answer);
    const ours = await through(
      bedrock(NOVA),
      '/v1/chat/completions',
      { stream: true, messages: [{ role: 'user', content: 'Hello' }] },
      answer,
    );
    expect(ours.path).toBe(sdk.path);
    expect(ours.body).toEqual(sdk.body);
    assertSigned(ours);
    expect((sdk.reply as { events: object[] }).events.length).toBeGreaterThan(3);
  });

  test("Nova's reasoning, and structured output for models that support it", async () => {
    const thinking = {
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
    };
    const messages = [{ role: 'user', content: [{ text: 'Hello' }] }];
    const hello = [{ role: 'user', content: 'Hello' }];
    const sdk = await direct(
      { call: 'converse', request: { modelId: NOVA, messages: messages, ...thinking } },
      { json: CONVERSED },
    );
    const ours = await through(
      bedrock(NOVA),
      '/v1/chat/completions',
      { messages: hello, reasoning_effort: 'low' },
      { json: CONVERSED },
    );
    expect(ours.body).toEqual(sdk.body);

    const modelId = 'openai.gpt-oss-120b-1:0';
    const schema = { ...SCHEMA, additionalProperties: false };
    const textFormat = {
      type: 'json_schema',
      structure: { jsonSchema: { name: 'place', schema: JSON.stringify(schema) } },
    };
    const strict = await direct(
      { call: 'converse', request: { modelId, messages: messages, outputConfig: { textFormat } } },
      { json: CONVERSED },
    );
    const response_format = { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } };
    const written = await through(
      bedrock(modelId),
      '/v1/chat/completions',
      { messages: hello, response_format },
      { json: CONVERSED },
    );
    expect(written.body).toEqual(strict.body);
  });
});

const MESSAGE = messageAnswer('Ja', { input_tokens: 2, output_tokens: 1 });
const MESSAGE_REQUEST = { max_tokens: 100, system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }] };

describe("Anthropic's libraries for clouds", () => {
  /** Each cloud documents its own version; the libraries send theirs. */
  const unversioned = (body: unknown) => {
    const { anthropic_version, ...others } = body as { anthropic_version?: string };
    expect(anthropic_version).toBeString();
    return others;
  };

  test('Bedrock: equal path, body and signature', async () => {
    const request = { model: CLAUDE, ...MESSAGE_REQUEST };
    const sdk = await direct({ call: 'anthropic bedrock', request }, { json: MESSAGE });
    const ours = await through(bedrock(CLAUDE), '/v1/messages', MESSAGE_REQUEST, { json: MESSAGE });
    expect(decodeURIComponent(ours.path)).toBe(decodeURIComponent(sdk.path));
    expect(unversioned(ours.body)).toEqual({ ...unversioned(sdk.body), anthropic_beta: ['context-1m-2025-08-07'] });
    expect(unversioned(sdk.body)).toEqual(MESSAGE_REQUEST);
    assertSigned(sdk);
    assertSigned(ours);
  });

  test('Vertex AI: equal path, body and token; betas stay in the header', async () => {
    const model = 'claude-sonnet-4-5@20250929';
    const at = { url: '', key: 'ya29.token', project: 'my-project', location: 'us-east5' };
    const sdk = await direct(
      { call: 'anthropic vertex', at, request: { model, ...MESSAGE_REQUEST } },
      { json: MESSAGE },
    );
    const settings = { project: 'my-project', location: 'us-east5' };
    const ours = await through(
      { type: 'vertex', upstreamModel: model, credential: 'ya29.token', settings },
      '/v1/messages',
      MESSAGE_REQUEST,
      { json: MESSAGE },
    );
    expect(`/v1${ours.path}`).toBe(decodeURIComponent(sdk.path));
    expect(unversioned(ours.body)).toEqual(unversioned(sdk.body));
    expect(ours.entry.headers.authorization).toBe(sdk.entry.headers.authorization);
    expect(ours.entry.headers['anthropic-beta']).toBe('context-1m-2025-08-07');
  });
});

describe("Google's libraries", () => {
  const ANSWER = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Ja' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
  };
  const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
  const settings = { project: 'my-project', location: 'europe-west4' };
  const at = { url: '', key: 'ya29.token', ...settings };
  const vertex: StageSetup = { type: 'vertex', upstreamModel: 'gemini-2.5-flash', credential: 'ya29.token', settings };

  test.each([
    ['generateContent', false],
    ['streamGenerateContent?alt=sse', true],
  ])('Gemini on Vertex AI, %s', async (action, stream) => {
    const answer = stream
      ? { text: `data: ${JSON.stringify(ANSWER)}\r\n\r\n`, headers: { 'content-type': 'text/event-stream' } }
      : { json: ANSWER };
    const request = { model: 'gemini-2.5-flash', contents, config: { temperature: 0.5, maxOutputTokens: 300 }, stream };
    const sdk = await direct({ call: 'genai vertex', at, request }, answer);
    const generationConfig = { temperature: 0.5, maxOutputTokens: 300 };
    const ours = await through(vertex, `/v1beta/models/MODEL:${action}`, { contents, generationConfig }, answer);
    expect(`/v1beta1${ours.path}`).toBe(sdk.path);
    expect(ours.body).toEqual(sdk.body);
    expect(ours.entry.headers.authorization).toBe(sdk.entry.headers.authorization);
  });

  test('express mode: no project, the key in a header', async () => {
    const key = 'AIzaSyExample-Example';
    const sdk = await direct(
      { call: 'genai express', at: { url: '', key }, request: { model: 'gemini-2.5-flash', contents } },
      { json: ANSWER },
    );
    const ours = await through(
      { ...vertex, credential: key, settings: {} },
      '/v1beta/models/MODEL:generateContent',
      { contents },
      { json: ANSWER },
    );
    expect(`/v1beta1${ours.path}`).toBe(sdk.path);
    expect(ours.entry.headers['x-goog-api-key']).toBe(key);
    expect(sdk.entry.headers['x-goog-api-key']).toBe(key);
  });

  test("a service account's token is requested as by the library", async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { reply } = await libraries.run({ call: 'google token', request: { email: 'a@p', key, keyId: 'key-1' } });
    const theirs = reply as { method: string; url: string; contentType: string; form: { [name: string]: string } };
    const account = { type: 'service_account', client_email: 'a@p', private_key: key, private_key_id: 'key-1' };
    const ours = await googleExchange(JSON.stringify(account), account).request(Date.now());
    const form = Object.fromEntries(new URLSearchParams(Buffer.from(ours.body ?? []).toString()));
    expect([ours.method, ours.url]).toEqual([theirs.method, theirs.url]);
    expect(form.grant_type).toBe(theirs.form.grant_type ?? '');
    const claimsOf = (assertion = '') => {
      const { iat = 0, exp = 0, ...claims } = decodeJwt(assertion);
      return { ...claims, lives: exp - iat };
    };
    expect(claimsOf(form.assertion)).toEqual(claimsOf(theirs.form.assertion));
    // Google's documentation allows the key's id; the library omits it.
    expect(decodeProtectedHeader(form.assertion ?? '')).toEqual({
      ...decodeProtectedHeader(theirs.form.assertion ?? ''),
      kid: 'key-1',
      typ: 'JWT',
    });
  });
});
