/** The official libraries for embeddings and audio with aimock, without and with faults. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { type Aimock, startAimocks } from '../clients/aimock.ts';
import { type OtherCall, startOthersClient } from '../clients/others-client.ts';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

setDefaultTimeout(60_000);

const ROUNDS = 12;
const VECTOR = [0.125, -0.5, 0.75];
const AUDIO = Buffer.from('ID3 audio that aimock made up');

const FIXTURES = [
  { match: { endpoint: 'embedding' }, response: { embedding: VECTOR } },
  { match: { endpoint: 'speech' }, response: { audio: AUDIO.toString('base64'), format: 'mp3' } },
  { match: { endpoint: 'transcription' }, response: { transcription: { text: 'What was spoken.', duration: 3 } } },
  { match: { endpoint: 'translation' }, response: { transcription: { text: 'What was meant.', duration: 3 } } },
];

const scene = useScene();
const client = useClient(startOthersClient);
const mocks = useClient(() => startAimocks(FIXTURES));

const stageAt = (kind: string, price: object, ...mocks: Aimock[]) =>
  scene.stage({ type: 'openai', kind, price: { ...price }, baseUrls: mocks.map(({ url }) => `${url}/v1`) });

async function callLibrary(stage: Stage, call: OtherCall['call'], request: object): Promise<unknown> {
  const at = { url: scene.gateway.url, apiKey: stage.caller.key };
  const { reply, error } = await client.run({ call, at, request: { model: stage.model, ...request } });
  if (error) throw new Error(JSON.stringify(error));
  return reply;
}

test('embeddings, as base64, as floats and through the AI SDK', async () => {
  const stage = await stageAt('embed', { input: 1 }, mocks.calm);
  for (const more of [{}, { encoding_format: 'float' }]) {
    const reply = await callLibrary(stage, 'openai embeddings', { input: ['a', 'b'], ...more });
    expect(reply).toMatchObject({
      data: [
        { index: 0, embedding: VECTOR },
        { index: 1, embedding: VECTOR },
      ],
    });
  }
  expect(await callLibrary(stage, 'ai embedMany', { values: ['a'] })).toMatchObject({ embeddings: [VECTOR] });
  expect(await stage.settled()).toHaveLength(3);
});

test('speech, transcriptions and translations', async () => {
  const speech = await stageAt('speech', { perMillionCharacters: 15 }, mocks.calm);
  const spoken = await callLibrary(speech, 'openai speech', { input: 'Hello.', voice: 'alloy' });
  expect(spoken).toMatchObject({ base64: AUDIO.toString('base64') });
  expect(nanoOf((await speech.settledCall()).cost)).toBe(6n * 15_000n);
  const transcription = await stageAt('transcription', { perSecond: 0.001 }, mocks.calm);
  const file = Buffer.alloc(64_000).toString('base64');
  expect(await callLibrary(transcription, 'openai transcriptions', { file })).toMatchObject({
    text: 'What was spoken.',
  });
  expect(await callLibrary(transcription, 'openai translations', { file })).toMatchObject({ text: 'What was meant.' });
  expect(
    await callLibrary(transcription, 'openai transcriptions', { file, response_format: 'verbose_json' }),
  ).toMatchObject({
    text: 'What was spoken.',
    duration: 3,
  });
  expect(await transcription.settled()).toHaveLength(3);
});

test('with a second target behind a faulty upstream every call is answered and charged once', async () => {
  const stage = await stageAt('embed', { input: 1 }, mocks.wild, mocks.calm);
  const file = Buffer.alloc(600_000, 1).toString('base64');
  const transcription = await stageAt('transcription', { perSecond: 0.001 }, mocks.wild, mocks.calm);
  for (let round = 0; round < ROUNDS; round++) {
    expect(await callLibrary(stage, 'openai embeddings', { input: ['a'] })).toMatchObject({
      data: [{ embedding: VECTOR }],
    });
    expect(await callLibrary(transcription, 'openai transcriptions', { file })).toMatchObject({
      text: 'What was spoken.',
    });
  }
  for (const one of [stage, transcription]) {
    const calls = await one.settled();
    expect(calls.map(({ outcome }) => outcome)).toEqual(Array.from({ length: ROUNDS }, () => 'ok'));
  }
});
