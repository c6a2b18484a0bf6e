/** Speech through the running gateway: the official library with the sandbox and a recording, and providers that fail. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { speechBy, startOthersClient } from '../clients/others-client.ts';
import { withoutCost } from '../helpers/cost-comment.ts';
import { hasFixtures, recordedCase, replyBytes } from '../helpers/fixtures.ts';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

setDefaultTimeout(30_000);

const scene = useScene();
const client = useClient(startOthersClient);

const PATH = '/v1/audio/speech';
const INPUT = 'Grüße 😀';
const CHARACTERS = 7n;
/** A character costs 15,000 nano-USD. */
const PRICE = { perMillionCharacters: 15 };
const speechOf = (type: string, more: object = {}) => scene.stage({ type, kind: 'speech', price: PRICE, ...more });
const speechRequest = ({ model }: Stage, more: object = {}) => ({ model, input: INPUT, voice: 'alloy', ...more });
const AUDIO = Buffer.from(Array.from({ length: 5000 }, (_, place) => place % 251));
const audio = (more: object = {}) => ({ bytes: AUDIO, headers: { 'content-type': 'audio/mpeg' }, ...more });
const delta = (bytes: Uint8Array) => ({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') });
const DONE = { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } };

const readSpeech = (stage: Stage, more: object = {}) =>
  speechBy(client, { url: scene.gateway.url, apiKey: stage.caller.key }, speechRequest(stage, more));

describe('the sandbox', () => {
  const onSandbox = async () => ({ ...(await scene.stage()), model: 'sandbox-speech' });

  test('returns a valid WAV or its samples, charged by the character', async () => {
    const stage = await onSandbox();
    const wav = await readSpeech(stage, { input: 'two words' });
    expect(wav.type).toBe('audio/wav');
    expect(wav.bytes.toString('latin1', 0, 4)).toBe('RIFF');
    expect(wav.bytes.readUInt32LE(40)).toBe(wav.bytes.length - 44);
    const pcm = await readSpeech(stage, { input: 'two words', response_format: 'pcm' });
    expect(pcm.bytes.equals(wav.bytes.subarray(44))).toBe(true);
    const calls = await stage.settled();
    expect(calls.map(({ cost }) => nanoOf(cost))).toEqual([9000n, 9000n]);
  });

  test('in events, with usage at the end', async () => {
    const stage = await onSandbox();
    const response = await stage.post(PATH, speechRequest(stage, { stream_format: 'sse' }));
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const [call] = await stage.settled();
    const events = withoutCost(await response.text(), call!)
      .trim()
      .split('\n\n')
      .map((line) => JSON.parse(line.slice(6)));
    const bytes = Buffer.concat(events.slice(0, -1).map(({ audio }) => Buffer.from(audio, 'base64')));
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: expect.any(Number) } });
    expect(await stage.settled()).toHaveLength(1);
  });

  test('a client that disconnects ends the call, and an incomplete response is visible as such', async () => {
    const stage = await onSandbox();
    const left = new AbortController();
    const input = `[[pace 50]] ${'word '.repeat(60)}`;
    const response = await stage.post(PATH, speechRequest(stage, { input }), left.signal);
    await response.body?.getReader().read();
    left.abort();
    expect(await stage.settledCall()).toMatchObject({ outcome: 'aborted' });
    const cut = await stage.post(PATH, speechRequest(stage, { input: '[[cut]] some words that are never spoken' }));
    expect(cut.status).toBe(200);
    await expect(cut.arrayBuffer()).rejects.toThrow();
    expect((await stage.settled()).map(({ outcome }) => outcome)).toEqual(['aborted', 'broken']);
  });
});

describe('providers', () => {
  test.each(['openai-compatible', 'groq', 'azure', 'siliconflow', 'zhipu'])(
    '%s: every byte in every splitting, with its own media type',
    async (type) => {
      const stage = await speechOf(type, { upstreamModel: 'tts-1' });
      for (const chunking of ['byte', 'whole', { seed: 7 }] as const) {
        stage.script(audio({ chunking, headers: { 'content-type': 'audio/x-own' } }));
        const reply = await readSpeech(stage, { response_format: 'flac', speed: 1.5 });
        expect(reply.bytes.equals(AUDIO)).toBe(true);
        expect(reply.type).toBe('audio/x-own');
      }
      expect(stage.journal()[0]?.path).toEndWith('/audio/speech');
      expect(stage.journal()[0]?.body).toMatchObject({ model: 'tts-1', input: INPUT, voice: 'alloy', speed: 1.5 });
      for (const { cost } of await stage.settled()) expect(nanoOf(cost)).toBe(15_000n * CHARACTERS);
    },
  );

  test('openai: a model that reports tokens only in events is asked for events, and charged by them', async () => {
    const price = { input: 1, audioOutput: 12 };
    const stage = await speechOf('openai', { upstreamModel: 'gpt-4o-mini-tts', price });
    stage.script({
      events: [delta(AUDIO.subarray(0, 3000)), delta(AUDIO.subarray(3000)), DONE],
      withoutTerminator: true,
    });
    const { bytes, type } = await readSpeech(stage);
    expect(bytes.equals(AUDIO)).toBe(true);
    expect(type).toBe('audio/mpeg');
    expect(stage.journal()[0]?.body).toMatchObject({ stream_format: 'sse' });
    expect(nanoOf((await stage.settledCall()).cost)).toBe(14_000n + 101n * 12_000n);
  });

  test('events pass unchanged, and a provider without events is translated', async () => {
    const own = await speechOf('openai', { upstreamModel: 'gpt-4o-mini-tts' });
    own.script({ events: [delta(AUDIO), DONE], withoutTerminator: true });
    const passed = await (await own.post(PATH, speechRequest(own, { stream_format: 'sse' }))).text();
    expect(withoutCost(passed, await own.settledCall())).toBe(
      [delta(AUDIO), DONE].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
    );
    const bare = await speechOf('groq');
    bare.script(audio());
    const written = await (await bare.post(PATH, speechRequest(bare, { stream_format: 'sse' }))).text();
    expect(written).toContain('"type":"speech.audio.done"');
    expect(bare.journal()[0]?.body).not.toHaveProperty('stream_format');
    await bare.settledCall();
  });

  test('mistral: its voice and events are requested, and its samples converted to 16 bits', async () => {
    const stage = await speechOf('mistral', { upstreamModel: 'voxtral-mini-tts-3-0' });
    const floats = Buffer.from(new Float32Array([0, 1, -1, 0.5, 2]).buffer);
    const usage = { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 };
    const delta = (audio: Buffer) => ({ type: 'speech.audio.delta', audio_data: audio.toString('base64') });
    const answer = {
      events: [delta(floats.subarray(0, 6)), delta(floats.subarray(6)), { type: 'speech.audio.done', usage }],
      withoutTerminator: true,
    };
    stage.script(answer, answer);
    const { type, bytes } = await readSpeech(stage, { response_format: 'pcm', voice: 'voice_1' });
    expect(type).toBe('audio/pcm');
    expect([...new Int16Array(new Uint8Array(bytes).buffer)]).toEqual([0, 32767, -32767, 16384, 32767]);
    expect(stage.journal()[0]?.body).toEqual({
      model: 'voxtral-mini-tts-3-0',
      input: INPUT,
      voice_id: 'voice_1',
      response_format: 'pcm',
      stream: true,
    });
    const events = await (await stage.post(PATH, speechRequest(stage, { stream_format: 'sse' }))).text();
    expect(events).toContain('"audio":"');
    expect(events).toContain('"usage":{"input_tokens":3,"output_tokens":9,"total_tokens":12}');
    for (const { cost } of await stage.settled()) expect(nanoOf(cost)).toBe(15_000n * CHARACTERS);
  });

  test('elevenlabs: the voice is in the URL, the format has its name there, and samples become a WAV', async () => {
    const stage = await speechOf('elevenlabs', { upstreamModel: 'eleven_flash_v2_5' });
    for (const chunking of ['byte', { seed: 5 }] as const) {
      stage.script(audio({ chunking }), audio({ chunking, headers: { 'content-type': 'audio/pcm' } }));
      const mp3 = await readSpeech(stage, { voice: 'JBFqnCBsd6', speed: 3 });
      expect(mp3.type).toBe('audio/mpeg');
      expect(mp3.bytes.equals(AUDIO)).toBe(true);
      const wav = await readSpeech(stage, { voice: 'JBFqnCBsd6', response_format: 'wav' });
      expect(wav.type).toBe('audio/wav');
      expect(wav.bytes.subarray(wav.bytes.indexOf('data') + 8).equals(AUDIO)).toBe(true);
    }
    const [first, second] = stage.journal();
    expect(first?.path).toEndWith('/text-to-speech/JBFqnCBsd6/stream?output_format=mp3_44100_128');
    expect(first?.body).toEqual({ text: INPUT, model_id: 'eleven_flash_v2_5', voice_settings: { speed: 1.2 } });
    expect(first?.headers['xi-api-key']).toStartWith('sk-upstream-secret');
    expect(second?.path).toEndWith('output_format=pcm_24000');
    const refused = await stage.post(PATH, speechRequest(stage, { response_format: 'flac' }));
    expect(await refused.json()).toMatchObject({ error: { param: 'response_format' } });
    stage.script({ status: 401, json: { detail: { status: 'invalid_api_key', message: 'Invalid API key' } } });
    expect((await stage.post(PATH, speechRequest(stage))).status).toBe(502);
    const costs = (await stage.settled()).map(({ cost }) => nanoOf(cost));
    expect(costs).toEqual([...Array.from({ length: 4 }, () => 15_000n * CHARACTERS), 0n, 0n]);
  });

  test('raw audio that fails is cut, and charged as delivered', async () => {
    const stage = await speechOf('openai-compatible');
    stage.script(
      audio({
        chunking: { seed: 3 },
        paceMs: 1,
        ending: 'chunked',
        fault: { before: 0, inside: 'event', does: 'cut' },
      }),
    );
    const response = await stage.post(PATH, speechRequest(stage));
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'broken' });
    expect(nanoOf(call.cost)).toBe(15_000n * CHARACTERS);
  });

  test('events that fail contain an error', async () => {
    const stage = await speechOf('openai', { upstreamModel: 'gpt-4o-mini-tts' });
    stage.script({ events: [delta(AUDIO)], withoutTerminator: true });
    const text = await (await stage.post(PATH, speechRequest(stage, { stream_format: 'sse' }))).text();
    expect(text).toContain('"code":"upstream_failed"');
    expect(text).not.toContain('speech.audio.done');
    expect((await stage.settledCall()).outcome).toBe('broken');
  });

  test.each([
    ['a failure', { status: 503, json: { error: { message: 'busy' } } }],
    ['an empty answer', { bytes: new Uint8Array(), headers: { 'content-type': 'audio/mpeg' } }],
    ['words instead of audio', { json: { error: { message: 'no voice', type: 'server_error' } } }],
    ['a page', { text: '<html>', headers: { 'content-type': 'text/html' } }],
  ])('after %s the next target answers', async (_, answer) => {
    const stage = await speechOf('openai-compatible', { targets: 2 });
    stage.script(answer);
    stage.scriptTarget(1, audio());
    expect((await readSpeech(stage)).bytes.equals(AUDIO)).toBe(true);
    expect((await stage.settledCall()).attempts).toBe(2);
  });

  test('a refusal has OpenAI’s format and costs nothing', async () => {
    const stage = await speechOf('openai-compatible');
    stage.script({
      status: 400,
      json: { error: { message: 'No such voice.', type: 'invalid_request_error', param: 'voice' } },
    });
    const response = await stage.post(PATH, speechRequest(stage));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: 'No such voice.', param: 'voice' } });
    expect((await stage.settledCall()).cost).toBe('0');
  });

  test.skipIf(!hasFixtures)('a recorded reply of OpenAI passes byte for byte', async () => {
    const recorded = recordedCase('gpt-4o-mini-tts_can_speak.0.audio.bin');
    const bytes = Buffer.from(replyBytes(recorded));
    const stage = await speechOf('openai', {
      upstreamModel: 'gpt-4o-mini-tts',
      price: { input: 0.6, audioOutput: 12 },
    });
    stage.script({ bytes, headers: { 'content-type': 'audio/mpeg' } });
    expect((await readSpeech(stage)).bytes.equals(bytes)).toBe(true);
    expect(nanoOf((await stage.settledCall()).cost)).toBeGreaterThan(0n);
  });
});

test.each([
  ['input', { input: '' }],
  ['input', { input: 7 }],
  ['voice', { voice: 5 }],
  ['response_format', { response_format: 'midi' }],
  ['speed', { speed: 9 }],
  ['stream_format', { stream_format: 'ws' }],
  ['model', { model: 'sandbox-chat' }],
])('an invalid %s is refused without a charge', async (param, more) => {
  const stage = await speechOf('openai-compatible');
  const response = await stage.post(PATH, speechRequest(stage, more));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param, type: 'invalid_request_error' } });
  expect(stage.journal()).toEqual([]);
  expect(await stage.settled()).toEqual([]);
});
