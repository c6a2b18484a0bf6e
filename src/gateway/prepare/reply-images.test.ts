import { describe, expect, test } from 'bun:test';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { imageCall } from '../../../test/helpers/image-call.ts';
import type { ImageCall } from '../../canonical/call.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { allFrames, WholeUpstream } from '../attempt/upstream.ts';
import { deliverImages } from './reply-images.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const PNG = Buffer.from('\x89PNG\r\n\x1a\n…', 'latin1');
const BASE64 = PNG.toString('base64');
const PLACE = { choice: 0, part: 0 };
const CALL = imageCall();
const opening = (url?: string): ReplyEvent => ({
  type: 'part-start',
  ...PLACE,
  opens: { type: 'image', mimeType: 'image/png', ...(url !== undefined && { url }) },
});
const INLINE: ReplyEvent[] = [opening(), { type: 'part-delta', ...PLACE, delta: BASE64 }];

/** The events of a reply as the client of this call is given it. */
async function asked(at: GatewayCase, more: Partial<ImageCall>, events: ReplyEvent[]): Promise<ReplyEvent[]> {
  const reply = new WholeUpstream([{ bytes: new Uint8Array(), events }], false);
  const frames = await allFrames(deliverImages(at.deps, reply, { ...CALL, ...more }));
  return frames.flatMap((frame) => [...frame.events]);
}

/** Stores no image, and returns a URL. */
const imageStore = { put: (image: Uint8Array) => Promise.resolve(`http://gateway.test/${image.length}`) };

test('who asks for the bytes is given those of a data URL', async () => {
  const at = await bench.open();
  const events = await asked(at, { delivery: 'b64_json' }, [opening(`data:image/png;base64,${BASE64}`)]);
  expect(events).toEqual(INLINE);
});

test('an image that cannot be fetched from where the provider left it is the upstream’s failure', async () => {
  const at = await bench.open();
  const pending = asked(at, { delivery: 'b64_json' }, [opening('http://127.0.0.1/cat.png')]);
  expect(await pending.catch((thrown: unknown) => thrown)).toMatchObject({ code: 'upstream_failed' });
});

test('who asks for nothing is given what came', async () => {
  const at = await bench.open({ deps: { imageStore } });
  expect(await asked(at, {}, INLINE)).toEqual(INLINE);
});

describe('who asks for addresses', () => {
  test('is given one of ours for every image that came as bytes', async () => {
    const at = await bench.open({ deps: { imageStore } });
    const kept = [opening(`http://gateway.test/${PNG.length}`)];
    expect(await asked(at, { delivery: 'url' }, INLINE)).toEqual(kept);
    expect(await asked(at, { delivery: 'url' }, [opening(`data:image/png;base64,${BASE64}`)])).toEqual(kept);
  });

  test('keeps the provider’s own address', async () => {
    const at = await bench.open({ deps: { imageStore } });
    const elsewhere = [opening('https://images.test/cat.png')];
    expect(await asked(at, { delivery: 'url' }, elsewhere)).toEqual(elsewhere);
  });

  test('is given the bytes in a stream, and where there is no place to keep them', async () => {
    const at = await bench.open({ deps: { imageStore } });
    const without = await bench.open();
    expect(await asked(at, { delivery: 'url', stream: true }, INLINE)).toEqual(INLINE);
    expect(await asked(without, { delivery: 'url' }, INLINE)).toEqual(INLINE);
  });

  test('is given the bytes where they could not be kept: the image is drawn and will be charged', async () => {
    const at = await bench.open({ deps: { imageStore: { put: () => Promise.reject(new Error('no space')) } } });
    expect(await asked(at, { delivery: 'url' }, INLINE)).toEqual(INLINE);
    expect(at.troubles).toHaveLength(1);
  });
});
