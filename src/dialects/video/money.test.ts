/** No member of a video request, wherever it is, makes more, longer or larger videos than were priced. */
import { describe, expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import type { JsonObject } from '../../canonical/json.ts';
import { jimengVideos } from './jimeng.ts';
import { klingVideos } from './kling.ts';
import { openaiVideos } from './openai-videos.ts';
import { videoGenerations } from './video-generations.ts';

const read = (fields: JsonObject) => openaiVideos.readAsk({ fields });

describe('counts', () => {
  test.each<[JsonObject, number, string[]]>([
    [{ n: 2 }, 2, []],
    [{ n: 1, metadata: { n: 4 } }, 1, ['metadata.n']],
    [{ n: '1', metadata: { sample_count: 4, variants: 3 } }, 1, ['metadata.sample_count', 'metadata.variants']],
    [{ metadata: { sampleCount: 3 } }, 3, []],
    [{ metadata: { parameters: { n_variants: 2 } } }, 2, []],
    [{ n: 3, num_videos: 2 }, 2, []],
    [{ n: 3, 'Sample-Count': 4 }, 3, ['metadata.Sample-Count']],
  ])('%j: %d', (fields, n, dropped) => {
    const ask = read(fields);
    expect(ask.n).toBe(n);
    expect(JSON.stringify(ask.metadata)).not.toMatch(/[2-9]/);
    expect((ask.dropped ?? []).map((sentence) => sentence.split('`')[1])).toEqual(dropped);
  });

  test.each([{ metadata: { n: 50 } }, { metadata: { n: 'many' } }, { metadata: { variants: 0 } }])(
    '%j is refused by name',
    (fields) => {
      const member = `metadata.${Object.keys(fields.metadata)[0]}`;
      expect(() => read(fields)).toThrow(expect.objectContaining({ code: 'invalid_request', param: member }));
    },
  );
});

test('lengths and sizes in the metadata replace missing ones, or are dropped', () => {
  expect(read({ metadata: { duration_seconds: 8, size: '1280x720', style: 'noir' } })).toMatchObject({
    seconds: 8,
    width: 1280,
    height: 720,
    metadata: { style: 'noir' },
  });
  const ask = read({
    seconds: 4,
    size: '640x360',
    metadata: { duration: 400, frames: 9999, resolution: '4k', model: 'dear' },
  });
  expect(ask).toMatchObject({ seconds: 4, width: 640, metadata: {} });
  expect(ask.resolution).toBeUndefined();
  expect(ask.dropped).toHaveLength(4);
  expect(() => read({ metadata: { duration: 1e9 } })).toThrow('metadata.duration');
});

test('a request without any of these is unchanged', () => {
  const metadata = { quality_level: 'high', style: 'noir', external_task_id: 'mine', camera: { pan: 3 } };
  expect(read({ prompt: 'A cat', metadata })).toEqual({ model: '', n: 1, images: [], prompt: 'A cat', metadata });
});

test('in every format, no count, length or size remains in what is passed on', () => {
  const names = [
    'n',
    'N',
    'sampleCount',
    'sample_count',
    'variants',
    'n_variants',
    'num_videos',
    'batch_size',
    'duration',
  ];
  const name = fc.constantFrom(
    ...names,
    'durationSeconds',
    'frames',
    'num_frames',
    'width',
    'style',
    'metadata',
    'nested',
  );
  const leaf = fc.constantFrom<unknown>(1, 2, 9, '7', 400, 'x', null, true);
  const object = fc.dictionary(name, fc.oneof(leaf, fc.dictionary(name, leaf, { maxKeys: 3 })), { maxKeys: 4 });
  const MONEY =
    /"(n|n_variants|sample_?count|variants|num_videos|batch_size|duration(seconds)?|(num_)?frames|width)":[^n{]/i;
  let accepted = 0;
  fc.assert(
    fc.property(
      object,
      fc.constantFrom(openaiVideos, videoGenerations, klingVideos, jimengVideos),
      (fields, format) => {
        let ask: ReturnType<typeof format.readAsk>;
        try {
          ask = format.readAsk({ fields: fields as JsonObject });
        } catch {
          return;
        }
        accepted++;
        expect(JSON.stringify(ask.metadata)).not.toMatch(MONEY);
        expect(ask.n).toBeLessThanOrEqual(10);
      },
    ),
    { numRuns: 2000, seed: 20261122 },
  );
  expect(accepted).toBeGreaterThan(200);
});
