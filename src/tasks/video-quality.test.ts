/** A more expensive way to generate a video is charged by its own price, or refused with the provider's member name. */
import { expect, test } from 'bun:test';
import type { JsonObject } from '../canonical/json.ts';
import { openaiVideos } from '../dialects/video/openai-videos.ts';
import { kling } from '../providers/video/kling.ts';
import { withQuality } from './video-quality.ts';

const read = (metadata: JsonObject) => openaiVideos.readAsk({ fields: { model: 'm', prompt: 'A cat', metadata } });
const priced = { clips: [{ price: 1n }, { quality: 'std+sound', price: 3n }] };
const judged = (metadata: JsonObject, price: object) =>
  withQuality(read(metadata), { adapters: [kling.video!], price, allowsUnpriced: false });

test.each<[JsonObject, string]>([
  [{ mode: 'pro' }, 'metadata.mode'],
  [{ sound: 'on' }, 'metadata.sound'],
  [{ voice_list: [{ voice_id: 'v' }] }, 'metadata.voice_list'],
])('Kling: %j needs a price of its own', (metadata, param) => {
  const refusal = expect.objectContaining({ code: 'invalid_request', param });
  expect(() => judged(metadata, { clips: [{ price: 1n }] })).toThrow(refusal);
});

test('Kling: audio has the quality name used in prices', () => {
  expect(judged({ sound: 'on' }, priced)).toMatchObject({ quality: 'std+sound', metadata: { sound: 'on' } });
  expect(judged({ sound: 'off' }, priced)).toMatchObject({ quality: 'std' });
});

test('an unknown value for audio, or one for a provider that does not read it, is ignored', () => {
  const ask = read({ Sound: 'on', parameters: { sound: 'on' } });
  expect(ask.metadata).toEqual({ parameters: {} });
  expect(ask.dropped).toHaveLength(2);
});
