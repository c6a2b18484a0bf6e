/** Speech models used in chat: whatever their price, billed as on the speech endpoint. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Scene, type Stage, startScene } from '../helpers/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.close());

const TEXT = 'Good morning, everybody.';
const SANDBOX = 'sandbox-speech';
const VOICED = (voiceName: string) => ({
  responseModalities: ['AUDIO'],
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
});
const generate = (stage: Stage, model: string, action = 'generateContent', voice = 'Kore') =>
  stage.post(`/v1beta/models/${model}:${action}`, {
    contents: [{ role: 'user', parts: [{ text: TEXT }] }],
    generationConfig: VOICED(voice),
  });
const converse = (stage: Stage, model: string, more: object = {}) =>
  stage.post('/v1/chat/completions', {
    model,
    modalities: ['text', 'audio'],
    audio: { voice: 'alloy', format: 'wav' },
    messages: [{ role: 'user', content: TEXT }],
    ...more,
  });
const samples = async (stage: Stage, format: string) =>
  Buffer.from(
    await (
      await stage.post('/v1/audio/speech', { model: SANDBOX, input: TEXT, voice: 'alloy', response_format: format })
    ).arrayBuffer(),
  );

interface Generated {
  candidates: { content: { parts: { inlineData: { mimeType: string; data: string } }[] }; finishReason: string }[];
  usageMetadata: { totalTokenCount: number };
}

test('generateContent with AUDIO returns samples at the price of speech', async () => {
  const stage = await scene.stage();
  const response = await generate(stage, SANDBOX);
  expect(response.status).toBe(200);
  const { candidates, usageMetadata } = (await response.json()) as Generated;
  const { inlineData } = candidates[0]?.content.parts[0] ?? { inlineData: { mimeType: '', data: '' } };
  expect(inlineData.mimeType).toBe('audio/L16;codec=pcm;rate=24000');
  expect(candidates[0]?.finishReason).toBe('STOP');
  expect(usageMetadata.totalTokenCount).toBeGreaterThan(0);
  const audio = await samples(stage, 'pcm');
  expect(Buffer.from(inlineData.data, 'base64').equals(audio)).toBe(true);
  const [first, second] = await stage.settled();
  expect(first?.cost).toBe(second?.cost as string);
  expect(Number(first?.cost)).toBeGreaterThan(0);
});

test('streamGenerateContent returns speech in pieces', async () => {
  const stage = await scene.stage();
  const response = await generate(stage, SANDBOX, 'streamGenerateContent?alt=sse');
  const chunks = (await response.text())
    .split(/\r?\n\r?\n/)
    .filter((event) => event.startsWith('data: '))
    .map((event) => JSON.parse(event.slice(6)) as Generated);
  const pieces = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  expect(pieces.length).toBeGreaterThan(2);
  // The last piece of a stream is an empty text.
  const audio = Buffer.concat(pieces.map((piece) => Buffer.from(piece.inlineData?.data ?? '', 'base64')));
  expect(audio.equals(await samples(stage, 'pcm'))).toBe(true);
  expect(chunks.at(-1)?.candidates[0]?.finishReason).toBe('STOP');
});

test('chat with modalities returns speech, non-streaming and streaming', async () => {
  const stage = await scene.stage();
  const whole = (await (await converse(stage, SANDBOX)).json()) as {
    choices: { message: { audio: { id: string; data: string } }; finish_reason: string }[];
    usage: { total_tokens: number };
  };
  expect(whole.choices[0]?.finish_reason).toBe('stop');
  const wave = Buffer.from(whole.choices[0]?.message.audio.data ?? '', 'base64');
  expect(wave.equals(await samples(stage, 'wav'))).toBe(true);
  const audio = { voice: 'alloy', format: 'pcm16' };
  const stream = await (await converse(stage, SANDBOX, { stream: true, audio })).text();
  const data = [...stream.matchAll(/"data":"([^"]+)"/g)].map(([, piece]) => Buffer.from(piece ?? '', 'base64'));
  expect(Buffer.concat(data).equals(await samples(stage, 'pcm'))).toBe(true);
  expect(stream).toEndWith('data: [DONE]\n\n');
});

test('the provider gets a speech request: text, voice and style instructions', async () => {
  const stage = await scene.stage({ kind: 'speech', price: { perMillionCharacters: 15 } });
  const audio = Buffer.from('the audio of it all');
  stage.script({ bytes: audio, headers: { 'content-type': 'audio/pcm' } });
  const response = await converse(stage, stage.model, {
    audio: { voice: 'nova', format: 'pcm16' },
    messages: [
      { role: 'system', content: 'Speak gently.' },
      { role: 'user', content: TEXT },
    ],
  });
  expect(response.status).toBe(200);
  const { path, body } = stage.journal()[0] ?? { path: '', body: {} };
  expect(path).toEndWith('/audio/speech');
  expect(body).toMatchObject({ input: TEXT, voice: 'nova', instructions: 'Speak gently.', response_format: 'pcm' });
  expect(Object.keys(body as object)).not.toContain('messages');
  const reply = (await response.json()) as { choices: { message: { audio: { data: string } } }[] };
  expect(Buffer.from(reply.choices[0]?.message.audio.data ?? '', 'base64').equals(audio)).toBe(true);
  expect(Number((await stage.settledCall()).cost)).toBe((15 * TEXT.length) / 1_000_000);
});

test('another provider’s voice is replaced, and unsupported members are named', async () => {
  const stage = await scene.stage({ kind: 'speech', price: { perMillionCharacters: 15 } });
  stage.script({ bytes: Buffer.from('audio'), headers: { 'content-type': 'audio/pcm' } });
  const response = await generate(stage, stage.model, 'generateContent', 'Puck');
  expect(response.headers.get('x-modelport-warnings')).toContain('Puck');
  expect(stage.journal()[0]?.body).toMatchObject({ voice: 'alloy' });
});

test('speech that was not requested is refused without a charge', async () => {
  const stage = await scene.stage();
  const silent = await stage.post('/v1/chat/completions', {
    model: SANDBOX,
    messages: [{ role: 'user', content: TEXT }],
  });
  expect(silent.status).toBe(400);
  expect(await silent.text()).toContain('/v1/audio/speech');
  const empty = await converse(stage, SANDBOX, { messages: [{ role: 'user', content: ' ' }] });
  expect(empty.status).toBe(400);
  expect(await empty.json()).toMatchObject({ error: { param: 'messages' } });
  expect(await stage.settled()).toEqual([]);
});
