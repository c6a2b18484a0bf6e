/** Vertex AI with the running gateway: tokens, Gemini and Claude, failures; and what rows of clouds keep. */
import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { messageAnswer } from '../helpers/message-answer.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { FORMATS, origin, readBack } from './any-format.ts';

const scene = useScene({}, { checksEachTest: false });
const ask = origin(() => scene);

describe('Vertex AI', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = (number: number) =>
    JSON.stringify({
      type: 'service_account',
      project_id: 'my-project',
      client_email: `gateway-${number}@my-project.iam`,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${scene.upstream.url}/token-${number}`,
    });
  const ANSWER = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Ja' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
  };

  test('a token is fetched once and used for every call', async () => {
    scene.upstream.script('/token-1', { json: { access_token: 'ya29.fetched', expires_in: 3600 } });
    const stage = await scene.stage({
      type: 'vertex',
      upstreamModel: 'gemini-2.5-flash',
      credential: account(1),
      settings: { location: 'us-central1' },
    });
    stage.script({ json: ANSWER }, { json: ANSWER }, { json: ANSWER });
    const texts = await Promise.all(
      FORMATS.slice(0, 3).map(async (format) => readBack(format, await ask(stage, format, false), false)),
    );
    expect(texts.map(({ text }) => text)).toEqual(['Ja', 'Ja', 'Ja']);
    expect(scene.upstream.journal('/token-1')).toHaveLength(1);
    expect(stage.journal().map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer ya29.fetched'));
    expect(stage.journal()[0]?.path).toEndWith(
      '/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent',
    );
  });

  test('Claude uses rawPredict, with the version in the body and betas in the header', async () => {
    const message = messageAnswer('Ja', { input_tokens: 2, output_tokens: 1 });
    const stage = await scene.stage({
      type: 'vertex',
      upstreamModel: 'claude-sonnet-4-5@20250929',
      credential: 'ya29.given',
      settings: { project: 'p', location: 'global' },
    });
    stage.script({ json: message }, { json: message });
    expect(await readBack('anthropic-messages', await ask(stage, 'anthropic-messages', false), false)).toMatchObject({
      text: 'Ja',
    });
    expect(await readBack('gemini', await ask(stage, 'gemini', false), false)).toMatchObject({ text: 'Ja' });
    const [own, other] = stage.journal();
    expect(own?.path).toEndWith(
      '/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
    );
    expect(own?.body).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
      stream: false,
      max_tokens: 4096,
      anthropic_version: 'vertex-2023-10-16',
    });
    expect(own?.headers['anthropic-version']).toBeUndefined();
    expect(other?.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16' });
    expect(other?.body).not.toHaveProperty('model');
  });

  test('if no token can be fetched the attempt fails: 502 alone, otherwise the next target, without parts of the key', async () => {
    scene.upstream.script('/token-2', { json: { error: 'invalid_grant' }, status: 400, repeat: true });
    const credential = account(2);
    const alone = await scene.stage({ type: 'vertex', upstreamModel: 'gemini-2.5-flash', credential });
    const response = await ask(alone, 'openai-chat', false);
    expect(response.status).toBe(502);
    expect(await response.text()).not.toMatch(/my-project|invalid_grant|PRIVATE|token-2/);
    expect(alone.journal()).toEqual([]);
    expect(scene.upstream.journal('/token-2')).toHaveLength(1);
    expect(scene.gateway.log()).not.toMatch(/PRIVATE KEY|assertion=/);

    const { gateway, upstream } = scene;
    const model = 'two-clouds';
    await gateway.admin('POST', '/providers', {
      name: 'broken-vertex',
      type: 'vertex',
      baseUrl: `${upstream.url}/broken`,
      credential,
    });
    await gateway.admin('POST', '/providers', {
      name: 'spare',
      type: 'google',
      baseUrl: `${upstream.url}/spare/v1beta`,
      credential: 'k',
    });
    const targets = ['broken-vertex', 'spare'].map((provider, priority) => ({
      provider,
      model: 'gemini-2.5-flash',
      priority,
    }));
    await gateway.admin('POST', '/models', { name: model, kind: 'chat', price: { input: 1, output: 1 }, targets });
    upstream.script('/spare/', { json: ANSWER });
    const answered = await ask({ ...alone, model }, 'openai-chat', false);
    expect(answered.headers.get('x-modelport-attempts')).toBe('2');
    expect(await readBack('openai-chat', answered, false)).toMatchObject({ text: 'Ja' });
  });
});

test('a provider saved again by the admin API keeps its credential, unless its type changes', async () => {
  const { gateway } = scene;
  const row = {
    name: 'kept',
    type: 'bedrock',
    settings: { region: 'us-east-1', secretAccessKey: 'a-very-secret-secret' },
  };
  const shown = await gateway.admin<{ credentials: string[]; settings: object }>('POST', '/providers', {
    ...row,
    credential: 'bedrock-api-key-1234',
  });
  expect(shown).toMatchObject({ credentials: ['…1234'], settings: { region: 'us-east-1', secretAccessKey: '…cret' } });
  expect(await gateway.admin('PUT', '/providers/kept', { type: 'bedrock' })).toMatchObject({ credentials: ['…1234'] });
  expect(await gateway.admin('PUT', '/providers/kept', { type: 'bedrock', credentials: [] })).toMatchObject({
    credentials: [],
  });
  await gateway.admin('PUT', '/providers/kept', { type: 'bedrock', credential: 'bedrock-api-key-5678' });
  // In another region the address is AWS's own, too.
  const elsewhere = { type: 'bedrock', settings: { region: 'eu-west-1' } };
  expect(await gateway.admin('PUT', '/providers/kept', elsewhere)).toMatchObject({ credentials: ['…5678'] });
  expect(await gateway.admin('PUT', '/providers/kept', { type: 'openai' })).toMatchObject({ credentials: [] });
});
