/** Every recorded reply with images: our charge equals the provider's rule and our list prices. */
import { describe, expect, test } from 'bun:test';
import type { Media } from '../../src/canonical/call.ts';
import type { Usage } from '../../src/canonical/usage.ts';
import { readCatalogue } from '../../src/catalog/catalogue.ts';
import { listedCatalogue } from '../../src/catalog/price-list.ts';
import { readPeoplesPrice } from '../../src/catalog/price-text.ts';
import { providerDialectNamed } from '../../src/dialects/index.ts';
import { Meter } from '../../src/gateway/settle/meter.ts';
import { charge } from '../../src/ledger/pricing/charge.ts';
import {
  atLeast,
  everyRecording,
  hasFixtures,
  type RecordedCase,
  recordedCase,
  replyBytes,
  replyContentType,
  requestBytes,
} from '../helpers/fixtures.ts';
import { imageCall } from '../helpers/image-call.ts';
import { ticksOf } from '../helpers/provider-bills.ts';

const DIALECTS: { readonly [wire: string]: string } = {
  'openai-images': 'openai-images',
  'openai-images-edits': 'openai-images',
  'imagen-predict': 'imagen',
};
/** Its images are in the caller's own bucket, which clients of the gateway cannot request. */
const ELSEWHERE = 'generate-images-gcs.json';
const PER_IMAGE = 40_000_003n;

const RECORDED = everyRecording.filter(
  ({ wire, status, stream, file }) => wire in DIALECTS && status === 200 && !stream && !file.endsWith(ELSEWHERE),
);

// biome-ignore lint/suspicious/noExplicitAny: bodies as providers wrote them
const bodyOf = (bytes: Uint8Array): any => JSON.parse(Buffer.from(bytes).toString());

/** As many images as the recorded request contained. */
function givenTo(recorded: RecordedCase): Media[] {
  const request = requestBytes(recorded);
  const { image, images = image === undefined ? [] : [image] } = request ? bodyOf(request) : {};
  return images.map(() => ({ kind: 'image', source: { type: 'inline', base64: 'AAAA' } }));
}

/** Reads the reply as the gateway does, up to the billed usage. */
async function usageRead(recorded: RecordedCase): Promise<Usage | undefined> {
  const images = givenTo(recorded);
  const call = imageCall({ images, edit: images.length > 0 });
  const reader = providerDialectNamed(DIALECTS[recorded.wire] ?? '')?.reader(call, replyContentType(recorded), {});
  if (!reader) throw new Error(`there is no dialect for ${recorded.wire}`);
  const meter = new Meter(0);
  for (const frame of [...reader.read(replyBytes(recorded)), ...reader.end()]) meter.see(frame.events);
  return meter.delivered ? meter.final(async (texts) => texts.map(() => 0)) : undefined;
}

/** The provider's rule: a delivered image is billed, a blocked one is not. */
function imagesIn(recorded: RecordedCase): number {
  const { data = [], predictions = [] } = bodyOf(replyBytes(recorded));
  return [...data, ...predictions].filter(
    ({ url, b64_json, bytesBase64Encoded }) => url ?? b64_json ?? bytesBase64Encoded,
  ).length;
}

function priced(price: object) {
  const read = readPeoplesPrice(price, 'price');
  if ('fault' in read) throw new Error(read.fault);
  return read.price;
}

describe('charges for recorded images', () => {
  test('each delivered image is charged, and nothing if all were blocked', async () => {
    expect(RECORDED.length).toBeGreaterThanOrEqual(atLeast(6));
    for (const recorded of RECORDED) {
      const usage = await usageRead(recorded);
      const charged = usage ? charge(usage, { perImage: PER_IMAGE }) : 0n;
      expect(`${recorded.file}: ${charged}`).toBe(`${recorded.file}: ${BigInt(imagesIn(recorded)) * PER_IMAGE}`);
    }
  });

  test.skipIf(!hasFixtures)('equal the costs that xAI reports, input images included', async () => {
    const prices: [string, object][] = [
      ['grok-imagine-image_can_paint_images.0.json', { perImage: '0.02' }],
      ['supports_image_edits_with_re.0.json', { perImage: '0.05', perInputImage: '0.01' }],
    ];
    for (const [file, price] of prices) {
      const recorded = recordedCase(file);
      const usage = await usageRead(recorded);
      // A tick is a tenth of a nano-USD.
      expect(charge(usage ?? { input: 0, output: 0, source: 'counted' }, priced(price))).toBe(
        (ticksOf(recorded)?.ticks ?? 0n) / 10n,
      );
    }
  });
});

test('list prices of image and video models', () => {
  const listed = readCatalogue(listedCatalogue(['openai', 'google'])).models;
  const costOf = (model: string, usage: Partial<Usage>) => {
    const price = listed.find(({ name }) => name === model)?.price;
    if (!price) throw new Error(`${model} is not listed`);
    return charge({ input: 0, output: 0, source: 'reported', ...usage }, price);
  };
  // An image of 1290 tokens: USD 0.0387.
  expect(costOf('gemini-2.5-flash-image', { output: 1290, imageOutput: 1290, images: 1 })).toBe(38_700_000n);
  // 10 tokens of text and 300 of an input image, 272 of a generated image.
  const edited = { input: 310, imageInput: 300, output: 272, imageOutput: 272, images: 1, inputImages: 1 };
  expect(costOf('gpt-image-2', edited)).toBe(50_000n + 2_400_000n + 8_160_000n);
  const sizes = [undefined, '1280x720', '1080p', '4k'];
  const videos = sizes.map((size) =>
    costOf('veo-3.1-fast-generate-preview', { seconds: 8, ...(size !== undefined && { size }) }),
  );
  expect(videos).toEqual([960_000_000n, 800_000_000n, 960_000_000n, 2_400_000_000n]);
});
