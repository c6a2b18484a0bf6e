/**
 * Gemini's speech through the running gateway: samples as they arrive, WAV or compressed audio as requested, billed by the provider's
 * tokens.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { speechBy, startOthersClient } from '../clients/others-client.ts';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

setDefaultTimeout(30_000);

const scene = useScene();
const client = useClient(startOthersClient);

const PATH = '/v1/audio/speech';
const SAMPLES = Buffer.from(Array.from({ length: 9600 }, (_, place) => (place * 7) % 251));
const LATER = 'gemini-3.8-flash-tts';
const EARLIER = 'gemini-2.5-flash-preview-tts';
/** An input token costs 1000 nano-USD, an audio token 12,000. */
const PRICE = { input: 1, output: 12 };

const speechModel = (upstreamModel: string, more: object = {}) =>
  scene.stage({ type: 'google', kind: 'speech', price: PRICE, upstreamModel, ...more });
const speechRequest = ({ model }: Stage, more: object = {}) => ({ model, input: 'Grüße 😀', voice: 'Kore', ...more });

const audioPart = (bytes: Buffer, mimeType: string) => ({
  content: { role: 'model', parts: [{ inlineData: { mimeType, data: bytes.toString('base64') } }] },
});
const USAGE = {
  promptTokenCount: 5,
  candidatesTokenCount: 40,
  candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
  totalTokenCount: 45,
};
const L16 = 'audio/L16;codec=pcm;rate=24000';
const streamed = (cuts: readonly number[] = [0, 4001, 9600]) => ({
  withoutTerminator: true,
  events: [
    ...cuts.slice(1).map((end, i) => ({ candidates: [audioPart(SAMPLES.subarray(cuts[i], end), L16)] })),
    { candidates: [{ finishReason: 'STOP' }], usageMetadata: USAGE },
  ],
});
const whole = (bytes: Buffer, mimeType: string) => ({
  json: { candidates: [{ ...audioPart(bytes, mimeType), finishReason: 'STOP' }], usageMetadata: USAGE },
});
const COST = 5n * 1000n + 40n * 12_000n;

const speechOf = (stage: Stage, more: object = {}) =>
  speechBy(client, { url: scene.gateway.url, apiKey: stage.caller.key }, speechRequest(stage, more));

describe('samples', () => {
  test.each(['byte', 'whole', { seed: 11 }] as const)(
    'split by %p: raw or in a WAV, byte for byte',
    async (chunking) => {
      const stage = await speechModel(EARLIER);
      stage.script({ ...streamed(), chunking }, { ...streamed(), chunking });
      const pcm = await speechOf(stage, { response_format: 'pcm' });
      expect(pcm.type).toBe('audio/pcm');
      expect(pcm.bytes.equals(SAMPLES)).toBe(true);
      const wav = await speechOf(stage, { response_format: 'wav' });
      expect(wav.type).toBe('audio/wav');
      expect(wav.bytes.toString('latin1', 0, 4)).toBe('RIFF');
      expect(wav.bytes.readUInt32LE(24)).toBe(24_000);
      expect(wav.bytes.subarray(wav.bytes.indexOf('data') + 8).equals(SAMPLES)).toBe(true);
      for (const { cost } of await stage.settled()) expect(nanoOf(cost)).toBe(COST);
    },
  );

  test('as they arrive: the first ones are delivered while the provider still generates', async () => {
    const stage = await speechModel(EARLIER);
    stage.script({ ...streamed(), fault: { before: 1, does: 'silence' } });
    const left = new AbortController();
    const response = await stage.post(PATH, speechRequest(stage, { response_format: 'pcm' }), left.signal);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBeGreaterThan(3900);
    left.abort();
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'aborted' });
    expect(nanoOf(call.cost)).toBeGreaterThan(0n);
    expect(nanoOf(call.cost)).toBeLessThan(COST);
  });

  test('earlier models get style instructions in the text, later ones separately', async () => {
    const [earlier, later] = await Promise.all([speechModel(EARLIER), speechModel(LATER)]);
    for (const stage of [earlier, later]) {
      stage.script(streamed());
      await speechOf(stage, { response_format: 'pcm', instructions: 'gently' });
      await stage.settledCall();
    }
    const [first, second] = [earlier.journal()[0], later.journal()[0]];
    expect(first?.path).toEndWith(`/models/${EARLIER}:streamGenerateContent?alt=sse`);
    expect(first?.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: expect.stringMatching(/gently\n\nGrüße 😀$/) }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    });
    expect(second?.body).toMatchObject({
      contents: [{ parts: [{ text: 'Grüße 😀', speechMetadata: { style: 'gently' } }] }],
    });
  });

  test('on Vertex too, in events if requested, with warnings for another provider’s voice and for speed', async () => {
    const stage = await speechModel(EARLIER, { type: 'vertex', credential: 'ya29.token', settings: { project: 'p1' } });
    stage.script(streamed());
    const more = { response_format: 'pcm', stream_format: 'sse', voice: 'alloy', speed: 2 };
    const response = await stage.post(PATH, speechRequest(stage, more));
    const lines = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
    const events = lines.map((line) => JSON.parse(line.slice(6)));
    const bytes = Buffer.concat(events.slice(0, -1).map(({ audio }) => Buffer.from(audio, 'base64')));
    expect(bytes.equals(SAMPLES)).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { input_tokens: 5, output_tokens: 40 } });
    expect(stage.journal()[0]?.path).toContain(`/publishers/google/models/${EARLIER}:streamGenerateContent`);
    expect(nanoOf((await stage.settledCall()).cost)).toBe(COST);
  });
});

describe('formats', () => {
  test.each([
    ['mp3', 'AUDIO_MP3', 'audio/mpeg'],
    ['opus', 'AUDIO_OGG_OPUS', 'audio/ogg'],
    [undefined, 'AUDIO_MP3', 'audio/mpeg'],
  ])('%s: the later models encode it themselves, in one piece', async (format, mimeType, type) => {
    const stage = await speechModel(LATER);
    stage.script(whole(SAMPLES, 'audio/mp3'));
    const audio = await speechOf(stage, { ...(format && { response_format: format }) });
    expect(audio.type).toBe(type);
    expect(audio.bytes.equals(SAMPLES)).toBe(true);
    const [request] = stage.journal();
    expect(request?.path).toEndWith(':generateContent');
    expect(request?.body).toMatchObject({ generationConfig: { responseFormat: { audio: { mimeType } } } });
    expect(nanoOf((await stage.settledCall()).cost)).toBe(COST);
  });

  test('without a requested format, the earlier models return a WAV with its media type', async () => {
    const stage = await speechModel(EARLIER);
    stage.script(streamed());
    const response = await stage.post(PATH, speechRequest(stage));
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(decodeURIComponent(response.headers.get('x-modelport-warnings') ?? '')).toContain('WAV');
    await response.arrayBuffer();
    await stage.settledCall();
  });

  test.each([
    [EARLIER, 'mp3', 'wav, pcm:'],
    [LATER, 'flac', 'wav, pcm, mp3, opus, ogg, mulaw:'],
  ])(
    '%s has no %s: the error lists the supported ones, nothing sent, nothing charged',
    async (model, format, known) => {
      const stage = await speechModel(model);
      const response = await stage.post(PATH, speechRequest(stage, { response_format: format }));
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: { message: string; param: string } };
      expect(error.param).toBe('response_format');
      expect(error.message).toContain(known);
      expect(stage.journal()).toEqual([]);
      expect(await stage.settledCall()).toMatchObject({ cost: '0', outcome: 'refused' });
    },
  );
});

test.each([
  ['no audio', { withoutTerminator: true, events: [{ candidates: [{ finishReason: 'OTHER' }] }] }],
  [
    'words',
    {
      withoutTerminator: true,
      events: [{ candidates: [{ content: { parts: [{ text: 'no' }] }, finishReason: 'STOP' }] }],
    },
  ],
  ['an error', { status: 500, json: { error: { code: 500, message: 'internal', status: 'INTERNAL' } } }],
])('after %s the next target answers', async (_, answer) => {
  const stage = await speechModel(EARLIER, { targets: 2 });
  stage.script(answer);
  stage.scriptTarget(1, streamed());
  expect((await speechOf(stage, { response_format: 'pcm' })).bytes.equals(SAMPLES)).toBe(true);
  expect((await stage.settledCall()).attempts).toBe(2);
});

test('the same model has the same price in Google’s own format', async () => {
  const stage = await speechModel(LATER);
  stage.script(whole(SAMPLES, 'audio/wav'));
  const response = await stage.post(`/v1beta/models/${stage.model}:generateContent`, {
    contents: [{ role: 'user', parts: [{ text: 'Hello.', speechMetadata: { style: 'gently' } }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    },
  });
  expect(await response.json()).toMatchObject({
    candidates: [{ content: { parts: [{ inlineData: { data: SAMPLES.toString('base64') } }] } }],
  });
  expect(stage.journal()[0]?.body).toMatchObject({ contents: [{ parts: [{ speechMetadata: { style: 'gently' } }] }] });
  expect(nanoOf((await stage.settledCall()).cost)).toBe(COST);
  const bySpeech = await scene.stage({ kind: 'speech', price: { perMillionCharacters: 15 } });
  const refused = await bySpeech.post('/v1/chat/completions', {
    model: bySpeech.model,
    messages: [{ role: 'user', content: 'x' }],
  });
  expect(refused.status).toBe(400);
  expect(await bySpeech.settled()).toEqual([]);
});

test('a failing stream is cut, and charged as delivered', async () => {
  const stage = await speechModel(EARLIER);
  stage.script({ ...streamed(), paceMs: 5, fault: { before: 1, does: 'cut' } });
  const response = await stage.post(PATH, speechRequest(stage, { response_format: 'pcm' }));
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
  const call = await stage.settledCall();
  expect(call.outcome).toBe('broken');
  expect(nanoOf(call.cost)).toBeGreaterThan(0n);
});

test('a text that its provider blocks is a refusal', async () => {
  const stage = await speechModel(EARLIER);
  stage.script({ withoutTerminator: true, events: [{ promptFeedback: { blockReason: 'SAFETY' } }] });
  const response = await stage.post(PATH, speechRequest(stage, { response_format: 'pcm' }));
  expect(response.status).toBe(400);
  expect(await stage.settledCall()).toMatchObject({ cost: '0' });
});
