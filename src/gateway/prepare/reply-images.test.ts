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
async function deliveredEvents(at: GatewayCase, more: Partial<ImageCall>, events: ReplyEvent[]): Promise<ReplyEvent[]> {
  const reply = new WholeUpstream([{ bytes: new Uint8Array(), events }], false);
  const frames = await allFrames(deliverImages(at.deps, reply, { ...CALL, ...more }));
  return frames.flatMap((frame) => [...frame.events]);
}

/** Stores no image, and returns a URL. */
const imageStore = { put: (image: Uint8Array) => Promise.resolve(`http://gateway.test/${image.length}`) };

test('a request for bytes gets those of a data URL', async () => {
  const at = await bench.open();
  const events = await deliveredEvents(at, { delivery: 'b64_json' }, [opening(`data:image/png;base64,${BASE64}`)]);
  expect(events).toEqual(INLINE);
});

test('an image that cannot be fetched from the provider’s URL is an upstream failure', async () => {
  const at = await bench.open();
  const pending = deliveredEvents(at, { delivery: 'b64_json' }, [opening('http://127.0.0.1/cat.png')]);
  expect(await pending.catch((thrown: unknown) => thrown)).toMatchObject({ code: 'upstream_failed' });
});

test('a request without a form gets the image as received', async () => {
  const at = await bench.open({ deps: { imageStore } });
  expect(await deliveredEvents(at, {}, INLINE)).toEqual(INLINE);
});

describe('a request for URLs', () => {
  test('gets a URL of the gateway for every image that was received as bytes', async () => {
    const at = await bench.open({ deps: { imageStore } });
    const kept = [opening(`http://gateway.test/${PNG.length}`)];
    expect(await deliveredEvents(at, { delivery: 'url' }, INLINE)).toEqual(kept);
    expect(await deliveredEvents(at, { delivery: 'url' }, [opening(`data:image/png;base64,${BASE64}`)])).toEqual(kept);
  });

  test('gets the provider’s own URL', async () => {
    const at = await bench.open({ deps: { imageStore } });
    const elsewhere = [opening('https://images.test/cat.png')];
    expect(await deliveredEvents(at, { delivery: 'url' }, elsewhere)).toEqual(elsewhere);
  });

  test('gets the bytes in a stream, and if there is no image store', async () => {
    const at = await bench.open({ deps: { imageStore } });
    const without = await bench.open();
    expect(await deliveredEvents(at, { delivery: 'url', stream: true }, INLINE)).toEqual(INLINE);
    expect(await deliveredEvents(without, { delivery: 'url' }, INLINE)).toEqual(INLINE);
  });

  test('gets the bytes if they could not be stored: the image is generated and will be charged', async () => {
    const at = await bench.open({ deps: { imageStore: { put: () => Promise.reject(new Error('no space')) } } });
    expect(await deliveredEvents(at, { delivery: 'url' }, INLINE)).toEqual(INLINE);
    expect(at.troubles).toHaveLength(1);
  });
});
