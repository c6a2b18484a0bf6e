/** Transcriptions, translations and moderations through the running gateway, with the official library. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { wavOf } from '../../src/sandbox/audio.ts';
import { type OtherCall, startOthersClient } from '../clients/others-client.ts';
import { hasFixtures, recordedCase, replyBytes } from '../helpers/fixtures.ts';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

setDefaultTimeout(30_000);

const scene = useScene();
const client = useClient(startOthersClient);

/** Two seconds. */
const AUDIO = Buffer.from(wavOf(Buffer.alloc(96_000, 7)));
const PRICE = { perSecond: 0.001 };
const stageOf = (type: string, more: object = {}) =>
  scene.stage({ type, kind: 'transcription', price: PRICE, ...more });

async function callLibrary(stage: Stage, call: OtherCall['call'], request: object): Promise<unknown> {
  const at = { url: scene.gateway.url, apiKey: stage.caller.key };
  const { reply, error } = await client.run({ call, at, request: { model: stage.model, ...request } });
  if (error) throw new Error(JSON.stringify(error));
  return reply;
}
const transcribe = (stage: Stage, more: object = {}) =>
  callLibrary(stage, 'openai transcriptions', { file: AUDIO.toString('base64'), ...more });

function form(stage: Stage, fields: { [name: string]: string | Blob }): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const headers = { authorization: `Bearer ${stage.caller.key}` };
  return fetch(`${scene.gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
}

test.each([
  ['json', { text: 'An audio file of 2 seconds in 96044 bytes.' }],
  ['verbose_json', { duration: 2, segments: [{ start: 0, end: 2 }] }],
  ['text', expect.stringContaining('2 seconds')],
  ['srt', expect.stringContaining('--> 00:00:02,000')],
  ['vtt', expect.stringContaining('--> 00:00:02.000')],
])('the sandbox describes what it got, as %s', async (format, expected) => {
  const stage = { ...(await scene.stage()), model: 'sandbox-transcription' };
  const reply = await transcribe(stage, { response_format: format });
  if (typeof reply === 'string') expect(reply).toEqual(expected as string);
  else expect(reply).toMatchObject(expected as object);
  expect(nanoOf((await stage.settledCall()).cost)).toBe(200_000n);
});

describe('transcriptions', () => {
  test.each(['openai', 'groq', 'openai-compatible'])(
    '%s: the form reaches the provider with its own model name',
    async (type) => {
      const stage = await stageOf(type, { upstreamModel: 'whisper-x' });
      stage.script({ json: { text: 'Hello.', usage: { type: 'duration', seconds: 3 } } });
      expect(await transcribe(stage, { language: 'en', timestamp_granularities: ['word', 'segment'] })).toMatchObject({
        text: 'Hello.',
      });
      const [sent] = stage.journal();
      expect(sent?.path).toEndWith('/audio/transcriptions');
      const words = sent?.form ?? '';
      expect(words.includes(AUDIO.toString('latin1'))).toBe(true);
      expect(words).toContain('whisper-x');
      expect(words).not.toContain(stage.model);
      expect(words.match(/timestamp_granularities\[\]/g)).toHaveLength(2);
      expect(nanoOf((await stage.settledCall()).cost)).toBe(3_000_000n);
    },
  );

  test.each([
    ['text', 'Hello.\n', 2_000_000n],
    ['srt', '1\n00:00:00,000 --> 00:00:01,500\nHello.\n', 1_500_000n],
    ['vtt', 'WEBVTT\n\n00:00.000 --> 00:01.500\nHello.\n', 1_500_000n],
  ])('%s is passed on, charged by the length of the audio', async (format, text, cost) => {
    const stage = await stageOf('openai-compatible');
    stage.script({ text, headers: { 'content-type': 'text/plain' } });
    expect(await transcribe(stage, { response_format: format })).toBe(text);
    expect(nanoOf((await stage.settledCall()).cost)).toBe(cost);
  });

  test('a translation uses its own path, and is charged by its tokens', async () => {
    const stage = await stageOf('openai', { price: { input: 1, audioInput: 6, output: 10 } });
    const usage = { type: 'tokens', input_tokens: 20, output_tokens: 3, input_token_details: { audio_tokens: 15 } };
    stage.script({ json: { text: 'Hello.', usage } });
    await callLibrary(stage, 'openai translations', { file: AUDIO.toString('base64') });
    expect(stage.journal()[0]?.path).toEndWith('/audio/translations');
    expect(nanoOf((await stage.settledCall()).cost)).toBe(5_000n + 15n * 6_000n + 30_000n);
  });

  test('a stream passes, and a non-streaming response becomes one', async () => {
    const stage = await stageOf('openai');
    const done = { type: 'transcript.text.done', text: 'Hello.', usage: { type: 'duration', seconds: 1 } };
    const events = [
      { type: 'transcript.text.delta', delta: 'Hel' },
      { type: 'transcript.text.delta', delta: 'lo.' },
      done,
    ];
    stage.script({ events, withoutTerminator: true }, { json: { text: 'Hello.' } });
    expect(await transcribe(stage, { stream: true })).toEqual(events);
    expect(await transcribe(stage, { stream: true })).toMatchObject([{ delta: 'Hello.' }, { text: 'Hello.' }]);
    expect((await stage.settled()).map(({ cost }) => nanoOf(cost))).toEqual([1_000_000n, 2_000_000n]);
  });

  describe('a provider that only returns JSON', () => {
    const mistral = {
      model: 'voxtral-mini-latest',
      text: ' Hello. Bye.',
      language: 'en',
      segments: [
        { type: 'transcription_segment', start: 0, end: 1.25, text: ' Hello.' },
        { type: 'transcription_segment', start: 3661.5, end: 3662, text: ' Bye.' },
      ],
      usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7, prompt_audio_seconds: 2 },
    };

    test.each([
      ['text', 'Hello. Bye.\n'],
      ['srt', '1\n00:00:00,000 --> 00:00:01,250\nHello.\n\n2\n01:01:01,500 --> 01:01:02,000\nBye.\n'],
      ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nHello.\n\n01:01:01.500 --> 01:01:02.000\nBye.\n'],
      [
        'verbose_json',
        { task: 'transcribe', language: 'en', duration: 2, segments: [{ id: 0 }, { id: 1, end: 3662 }] },
      ],
      ['json', { text: ' Hello. Bye.' }],
    ])('%s is made from it, charged by its usage', async (format, expected) => {
      const stage = await stageOf('mistral');
      stage.script({ json: mistral });
      const reply = await transcribe(stage, { response_format: format });
      if (typeof expected === 'string') expect(reply).toBe(expected);
      else expect(reply).toMatchObject(expected);
      const form = stage.journal()[0]?.form ?? '';
      expect(form).not.toContain('response_format');
      expect(/timestamp_granularities"\r\n\r\nsegment/.test(form)).toBe(!['text', 'json'].includes(format));
      expect(nanoOf((await stage.settledCall()).cost)).toBe(2_000_000n);
    });

    test('its stream has OpenAI’s format', async () => {
      const stage = await stageOf('mistral');
      const events = [
        { type: 'transcription.language', audio_language: 'en' },
        { type: 'transcription.text.delta', text: 'Hel' },
        { type: 'transcription.text.delta', text: 'lo.' },
        { ...mistral, type: 'transcription.done', text: 'Hello.' },
      ];
      stage.script({ events, withoutTerminator: true });
      expect(await transcribe(stage, { stream: true })).toEqual([
        { type: 'transcript.text.delta', delta: 'Hel' },
        { type: 'transcript.text.delta', delta: 'lo.' },
        {
          type: 'transcript.text.done',
          text: 'Hello.',
          usage: { type: 'tokens', input_tokens: 4, output_tokens: 3, total_tokens: 7 },
        },
      ]);
      expect(nanoOf((await stage.settledCall()).cost)).toBe(2_000_000n);
    });

    test.each(['siliconflow', 'zai'])(
      '%s returns no timestamps: requests that need them are refused, nothing sent',
      async (type) => {
        const stage = await stageOf(type);
        stage.script({ json: { text: 'Hello.' } });
        expect(await transcribe(stage, { response_format: 'text', language: 'en' })).toBe('Hello.\n');
        expect(stage.journal()[0]?.form).not.toContain('"language"');
        await expect(transcribe(stage, { response_format: 'srt' })).rejects.toThrow('must be one of json, text:');
        expect(stage.journal()).toHaveLength(1);
        expect((await stage.settled()).map(({ cost }) => nanoOf(cost))).toEqual([2_000_000n, 0n]);
      },
    );
  });

  test('a stream that fails contains an error', async () => {
    const stage = await stageOf('openai');
    stage.script({ events: [{ type: 'transcript.text.delta', delta: 'Hel' }], withoutTerminator: true });
    await expect(transcribe(stage, { stream: true })).rejects.toThrow('broke off');
    expect((await stage.settledCall()).outcome).toBe('broken');
  });

  test('after an invalid transcript the next target answers', async () => {
    const stage = await stageOf('openai-compatible', { targets: 2 });
    stage.script({ json: { nothing: 1 } });
    stage.scriptTarget(1, { json: { text: 'Hello.' } });
    expect(await transcribe(stage)).toMatchObject({ text: 'Hello.' });
    expect((await stage.settledCall()).attempts).toBe(2);
  });

  test.each([
    ['file', {}],
    ['file', { file: new File([], 'empty.wav') }],
    ['file', { file: 'a text' }],
    ['response_format', { file: new File([AUDIO], 'a.wav'), response_format: 'midi' }],
    ['stream', { file: new File([AUDIO], 'a.wav'), stream: 'perhaps' }],
    ['temperature', { file: new File([AUDIO], 'a.wav'), temperature: '7' }],
    ['model', { file: new File([AUDIO], 'a.wav'), model: 'sandbox-chat' }],
  ])('an invalid %s is refused without a charge', async (param, fields) => {
    const stage = await stageOf('openai-compatible');
    const response = await form(stage, { model: stage.model, ...fields });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param, type: 'invalid_request_error' } });
    expect(stage.journal()).toEqual([]);
    expect(await stage.settled()).toEqual([]);
  });

  test('JSON and an incomplete form are refused', async () => {
    const stage = await stageOf('openai-compatible');
    expect((await stage.post('/v1/audio/transcriptions', { model: stage.model })).status).toBe(400);
    const headers = { authorization: `Bearer ${stage.caller.key}`, 'content-type': 'multipart/form-data; boundary=b' };
    const body = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
    const url = `${scene.gateway.url}/v1/audio/transcriptions`;
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(400);
    expect(await stage.settled()).toEqual([]);
  });
});

describe('moderations', () => {
  const results = [{ flagged: true, categories: { hate: true }, category_scores: { hate: 0.9 } }];

  test.each(['openai', 'mistral', 'openai-compatible'])('%s: classified, charged by the call', async (type) => {
    const stage = await scene.stage({ type, kind: 'moderation', price: { perCall: 0.001 } });
    stage.script({ json: { id: 'modr-1', model: 'upstream-model', results } });
    expect(await callLibrary(stage, 'openai moderations', { input: ['a text', 'another'] })).toMatchObject({
      id: 'modr-1',
      model: stage.model,
      results,
    });
    expect(stage.journal()[0]).toMatchObject({ body: { model: 'upstream-model', input: ['a text', 'another'] } });
    expect(nanoOf((await stage.settledCall()).cost)).toBe(1_000_000n);
  });

  test('the sandbox flags plain words, in each text separately and in the parts of a message together', async () => {
    const stage = { ...(await scene.stage()), model: 'sandbox-moderation' };
    const judged = async (input: unknown) =>
      ((await callLibrary(stage, 'openai moderations', { input })) as { results: Judged[] }).results;
    type Judged = { flagged: boolean; categories: { [name: string]: boolean }; category_scores: { violence: number } };
    const [mild, wild] = await judged(['What a lovely day.', 'They KILL and stab.']);
    expect(mild).toMatchObject({ flagged: false, category_scores: { violence: 0 } });
    expect(Object.values(mild?.categories ?? {})).toHaveLength(13);
    expect(wild).toMatchObject({ flagged: true, categories: { violence: true, sexual: false } });
    expect(await judged('They KILL and stab.')).toEqual([wild] as Judged[]);
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    expect(await judged([{ type: 'text', text: 'a bomb' }, image])).toMatchObject([
      { categories: { 'illicit/violent': true, violence: false } },
    ]);
    for (const { cost } of await stage.settled()) expect(nanoOf(cost)).toBe(100_000n);
  });

  test.skipIf(!hasFixtures)("recorded replies of OpenAI pass except for the model's name", async () => {
    const ends = ['called_directly_on_the_moderation_class.0.json', 'moderates_text_with_an_image_attachment.0.json'];
    for (const end of ends) {
      const stage = await scene.stage({ type: 'openai', kind: 'moderation', price: { perCall: 0 } });
      const recorded = recordedCase(end);
      const own = JSON.parse(Buffer.from(replyBytes(recorded)).toString());
      stage.script({ json: own });
      expect(await callLibrary(stage, 'openai moderations', { input: 'x' })).toEqual({ ...own, model: stage.model });
      expect((await stage.settledCall()).cost).toBe('0');
    }
  });

  test.each([[7], [[]], [[7]]])('an input %p is refused', async (input) => {
    const stage = await scene.stage({ kind: 'moderation', price: { perCall: 0 } });
    const response = await stage.post('/v1/moderations', { model: stage.model, input });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect(await stage.settled()).toEqual([]);
  });
});
