import { describe, expect, test } from 'bun:test';
import type { ChatCall, Part } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { GuardedFetch } from '../../transport/guarded-fetch.ts';
import { type AddressedMedia, addressedMedia } from './addressed-media.ts';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n…', 'latin1');

/** Fetches from memory, and records the requested URLs. */
function guardOf(files: { readonly [url: string]: Uint8Array }): GuardedFetch & { requested: string[] } {
  const requested: string[] = [];
  return {
    requested,
    check(url) {
      if (url.startsWith('ftp:')) throw new GatewayError('invalid_request', 'The address must be an http address.');
    },
    async fetch(url) {
      requested.push(url);
      const bytes = files[url];
      if (!bytes) throw new GatewayError('invalid_request', 'Nothing stands there.');
      return { bytes, contentType: 'image/png' };
    },
    post: () => Promise.reject(new Error('Nothing is sent.')),
    send: () => Promise.reject(new Error('Nothing is sent.')),
  };
}

function callOf(...urls: string[]): ChatCall {
  const parts = urls.map((url): Part => ({ type: 'media', media: { kind: 'image', source: { type: 'url', url } } }));
  return {
    kind: 'chat',
    model: 'm',
    origin: { dialect: 'openai-chat', body: Buffer.from(JSON.stringify({ messages: [{ urls }] })) },
    extras: {},
    headers: {},
    stream: false,
    messages: [{ role: 'user', parts }],
    tools: [],
    sampling: {},
    wantsUsage: false,
  };
}

function mediaOf(call: ChatCall, guard: GuardedFetch, maxBytes = 1000): AddressedMedia {
  const media = addressedMedia(call, guard, maxBytes);
  if (!media) throw new Error('The call names nothing by address.');
  return media;
}

const A = 'https://a.test/cat.png';
const B = 'https://b.test/dog.png';

test('a call without URLs needs none', () => {
  expect(addressedMedia(callOf(), guardOf({}), 1000)).toBeUndefined();
});

test('a target that accepts URLs gets the call itself, and nothing is fetched', async () => {
  const guard = guardOf({});
  const call = callOf(A);
  expect(await mediaOf(call, guard).inlineFor(['image'])).toBe(call);
  expect(guard.requested).toEqual([]);
});

test('the content is sent inline, each URL fetched once for all targets', async () => {
  const guard = guardOf({ [A]: PNG });
  const media = mediaOf(callOf(A, A), guard);
  const [call] = [await media.inlineFor([]), await media.inlineFor([])];
  const source = { type: 'inline', base64: PNG.toString('base64') } as const;
  const part = { type: 'media', media: { kind: 'image', source, mimeType: 'image/png' } };
  expect(call).toMatchObject({ messages: [{ role: 'user', parts: [part, part] }] });
  expect(guard.requested).toEqual([A]);
});

describe('refused with the name of the member', () => {
  const refusal = (media: AddressedMedia) => media.inlineFor([]).catch((thrown: unknown) => thrown as GatewayError);

  test('a URL without content', async () => {
    const error = await refusal(mediaOf(callOf(A, B), guardOf({ [A]: PNG })));
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages[0].urls[1]' });
  });

  test('content that is not an image, whatever its content type', async () => {
    const error = await refusal(mediaOf(callOf(A), guardOf({ [A]: Buffer.from('<!doctype html>') })));
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages[0].urls[0]' });
  });

  test('content that is too large together with the others', async () => {
    const error = await refusal(mediaOf(callOf(A, B), guardOf({ [A]: PNG, [B]: PNG }), PNG.length + 1));
    expect(error).toMatchObject({ code: 'invalid_request' });
    expect((error as GatewayError).message).toContain(`${PNG.length + 1} bytes in all`);
  });

  test('a forbidden URL, before any other is fetched', async () => {
    const guard = guardOf({ [A]: PNG });
    expect(await refusal(mediaOf(callOf(A, 'ftp://b.test/x'), guard))).toMatchObject({ param: 'messages[0].urls[1]' });
    expect(guard.requested).toEqual([]);
  });

  test('more URLs than the gateway fetches for a call', async () => {
    const guard = guardOf({});
    const urls = Array.from({ length: 51 }, (_, index) => `${A}?${index}`);
    expect(await refusal(mediaOf(callOf(...urls), guard))).toMatchObject({ param: 'messages[0].urls[50]' });
    expect(guard.requested).toEqual([]);
  });
});
