/** The AI SDK with all kinds other than chat, with the sandbox and scripted providers. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { type OtherCall, startOthersClient } from '../clients/others-client.ts';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

setDefaultTimeout(30_000);

const scene = useScene();
const client = useClient(startOthersClient);

const TEXTS = ['A cat sleeps.', 'A cat is sleeping.', 'Interest rates rose.'];

async function callLibrary<T>(stage: Stage, call: OtherCall['call'], model: string, request: object): Promise<T> {
  const at = { url: scene.gateway.url, apiKey: stage.caller.key };
  const { reply, error } = await client.run({ call, at, request: { model, ...request } });
  if (error) throw new Error(JSON.stringify(error));
  return reply as T;
}

interface Embedded {
  embedding: number[];
  embeddings: number[][];
  usage: { tokens: number };
}

test('embed and embedMany return the same vectors one by one, together, and in Google’s format', async () => {
  const stage = await scene.stage();
  const one = await callLibrary<Embedded>(stage, 'ai embed', 'sandbox-embed', { value: TEXTS[0] });
  const many = await callLibrary<Embedded>(stage, 'ai embedMany', 'sandbox-embed', { values: TEXTS });
  const google = await callLibrary<Embedded>(stage, 'ai google embedMany', 'sandbox-embed', { values: TEXTS });
  expect(many.embeddings).toHaveLength(3);
  expect(many.embeddings[0]).toEqual(one.embedding);
  expect(google.embeddings).toEqual(many.embeddings);
  expect(many.usage.tokens).toBeGreaterThan(one.usage.tokens);
  const likeness = (a = 0, b = 0) =>
    (many.embeddings[a] ?? []).reduce((sum, value, at) => sum + value * (many.embeddings[b]?.[at] ?? 0), 0);
  expect(likeness(0, 1)).toBeGreaterThan(likeness(0, 2));
  for (const { cost } of await stage.settled()) expect(nanoOf(cost)).toBeGreaterThan(0n);
});

test('rerank returns the best first, as many as requested', async () => {
  const stage = await scene.stage();
  const { ranking } = await callLibrary<{ ranking: { originalIndex: number; document: string }[] }>(
    stage,
    'ai rerank',
    'sandbox-rerank',
    { documents: TEXTS, query: 'interest rates', topN: 2 },
  );
  expect(ranking.map(({ originalIndex, document }) => [originalIndex, document])).toEqual([
    [2, TEXTS[2]],
    [expect.any(Number), expect.any(String)],
  ]);
  expect(await stage.settled()).toHaveLength(1);
});

test('generateSpeech works, and its output can be transcribed', async () => {
  const stage = await scene.stage();
  const speech = await callLibrary<{ type: string; base64: string }>(stage, 'ai generateSpeech', 'sandbox-speech', {
    text: 'two words',
    voice: 'alloy',
    outputFormat: 'wav',
  });
  expect(speech.type).toBe('audio/wav');
  expect(Buffer.from(speech.base64, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
  const transcript = await callLibrary<{ text: string }>(stage, 'ai transcribe', 'sandbox-transcription', {
    audio: speech.base64,
  });
  expect(transcript.text).toStartWith('An audio file of');
  expect(await stage.settled()).toHaveLength(2);
});

test("the SDK's speech format MP3 works with Gemini’s later models", async () => {
  const stage = await scene.stage({
    type: 'google',
    kind: 'speech',
    upstreamModel: 'gemini-3.8-flash-tts',
    price: { input: 1, output: 12 },
  });
  const audio = Buffer.from('ID3 is what an MP3 begins with');
  const inlineData = { mimeType: 'audio/mp3', data: audio.toString('base64') };
  stage.script({
    json: {
      candidates: [{ content: { role: 'model', parts: [{ inlineData }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 20, totalTokenCount: 23 },
    },
  });
  const speech = await callLibrary<{ type: string; base64: string }>(stage, 'ai generateSpeech', stage.model, {
    text: 'Hello.',
    voice: 'Kore',
  });
  expect(Buffer.from(speech.base64, 'base64').equals(audio)).toBe(true);
  expect(nanoOf((await stage.settledCall()).cost)).toBe(3000n + 20n * 12_000n);
});

test("an unavailable model throws the SDK's own error type", async () => {
  const stage = await scene.stage();
  await expect(callLibrary(stage, 'ai embed', 'sandbox-chat', { value: 'x' })).rejects.toThrow('400');
  await expect(callLibrary(stage, 'ai rerank', 'nobody-knows', { documents: ['a'], query: 'b' })).rejects.toThrow(
    '404',
  );
  expect(await stage.settled()).toEqual([]);
});
