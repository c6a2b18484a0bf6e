import { describe, expect, test } from 'bun:test';
import { CALL_DEFAULTS, chatCall } from '../../../test/helpers/chat-call.ts';
import { hasFixtures, isOwn, recordedCases, requestBytes } from '../../../test/helpers/fixtures.ts';
import { recordedUsage } from '../../../test/helpers/recorded-usage.ts';
import type { ChatCall, ImageCall, Media, RerankCall } from '../../canonical/call.ts';
import { readCall } from '../../dialects/chat/openai-chat/read-request.ts';
import { estimateTokens } from '../tokens/estimate-tokens.ts';
import { allTokens, quote } from './quote.ts';

const estimateInput = (call: ChatCall) => allTokens(estimateTokens(call));

const chat = (text: string, more: Partial<ChatCall> = {}): ChatCall =>
  chatCall({ messages: [{ role: 'user', parts: [{ type: 'text', text }] }], ...more });

const withMedia = (media: Media) => chat('', { messages: [{ role: 'user', parts: [{ type: 'media', media }] }] });
const inline = (base64Length: number) => ({ type: 'inline', base64: 'A'.repeat(base64Length) }) as const;

const OPENING_BRACE = 0x7b;

describe('quote', () => {
  const price = { input: 1000n, output: 4000n };
  const input = BigInt(estimateInput(chat('Hello')));

  test('uses the requested ceiling, otherwise the model’s', () => {
    expect(quote(chat('Hello'), price, 100)).toBe(input + 400n);
    expect(quote(chat('Hello', { maxOutputTokens: 70 }), price, 100)).toBe(input + 280n);
    // Some providers have a minimum ceiling.
    expect(quote(chat('Hello', { maxOutputTokens: 7 }), price, 100)).toBe(input + 64n);
  });

  test('counts every choice at the ceiling, and every prompt with the whole input', () => {
    expect(quote(chat('Hello', { sampling: { n: 3 } }), price, 100)).toBe(3n * input + 1200n);
    const completion = { prompts: ['a', 'b'], echo: false, bestOf: 5 };
    const call = chat('Hello', { sampling: { n: 3 }, completion });
    expect(quote(call, price, 100)).toBe(5n * BigInt(estimateInput(call)) + 10n * 400n);
  });

  test('uses the highest rate that may apply', () => {
    expect(quote(chat('Hello'), { ...price, cacheWrite: 2000n, reasoning: 5000n }, 100)).toBe(2n * input + 500n);
    const spoken = chat('Hello', { modalities: ['text', 'audio'] });
    expect(quote(spoken, { ...price, audioOutput: 9000n }, 100)).toBe(input + 900n);
    expect(quote(chat('Hello'), { ...price, audioOutput: 9000n }, 100)).toBe(input + 400n);
  });

  test('counts prices per call and per image', () => {
    expect(quote(chat('Hello', { sampling: { n: 2 } }), { perCall: 50n, perImage: 7n }, 100)).toBe(64n);
  });
});

describe('estimateInput', () => {
  test('media count by kind, detail and size, not by the length of their base64', () => {
    const none = estimateInput(chat(''));
    const image = estimateInput(withMedia({ kind: 'image', source: inline(4_000_000) }));
    const low = estimateInput(withMedia({ kind: 'image', detail: 'low', source: inline(4_000_000) }));
    expect(image - none).toBe(1600);
    expect(low).toBeLessThan(image);
    const minuteOfSpeech = { kind: 'audio', mimeType: 'audio/wav', source: inline(2_560_000) } as const;
    expect(estimateInput(withMedia(minuteOfSpeech)) - none).toBe(1920);
    expect(estimateInput(withMedia({ kind: 'document', source: inline(1_000_000) })) - none).toBe(46_875);
  });

  test.each([
    ['application/pdf', 'document'],
    ['video/mp4', 'video'],
    ['audio/mpeg', 'audio'],
    ['image/webp', 'image'],
    ['application/octet-stream', 'image'],
  ] as const)('%s in the place of an image counts as what it is', (mimeType, kind) => {
    const of = (as: Media['kind']) => estimateInput(withMedia({ kind: as, mimeType, source: inline(1_000_000) }));
    expect(of('image')).toBe(of(kind));
    if (kind !== 'image') expect(of('image')).toBeGreaterThan(3000);
  });

  test('base64 in the client’s body does not count as text', () => {
    const media: Media = { kind: 'image', source: inline(300_000) };
    const call = { ...withMedia(media), origin: { dialect: 'd', body: new Uint8Array(300_200) } };
    expect(estimateInput(call)).toBeLessThan(2000);
  });

  test('scripts other than ASCII count more than their length', () => {
    expect(estimateInput(chat('漢'.repeat(1000)))).toBeGreaterThan(1400);
    expect(estimateInput(chat('a'.repeat(1000)))).toBeLessThan(500);
  });

  test.skipIf(!hasFixtures)('fewer than 2 % of the recorded conversations are underestimated', () => {
    const ratios: number[] = [];
    for (const recorded of recordedCases('openai-chat')) {
      if (isOwn(recorded)) continue;
      const body = requestBytes(recorded);
      // One request was recorded without its body; Mistral's client writes tools that the format does not define.
      if (body?.[0] !== OPENING_BRACE || recorded.status !== 200 || recorded.provider === 'mistral') continue;
      const counted = recordedUsage(recorded)?.input ?? 0;
      if (counted === 0) continue;
      const call = readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
      ratios.push(estimateInput(call) / counted);
    }
    ratios.sort((a, b) => a - b);
    const short = ratios.filter((ratio) => ratio < 1).length;
    expect(ratios.length).toBeGreaterThan(180);
    expect(short / ratios.length).toBeLessThan(0.02);
    // Most recordings have one or two lines, so the constant part dominates the estimate.
    expect(ratios[ratios.length >> 1]).toBeLessThan(6);
  });
});

test('an image of a quality that is not known is quoted as the finest', () => {
  const image = (quality: string): ImageCall => ({
    ...{ ...CALL_DEFAULTS, kind: 'image', prompt: 'a cat', images: [], edit: false, n: 1, size: {} },
    quality,
  });
  const amount = (quality: string) => quote(image(quality), { input: 1000n, imageOutput: 1000n }, 0);
  expect(amount('constructor')).toBe(amount('high'));
  expect(amount('constructor')).toBeGreaterThan(amount('low'));
});

describe('kinds other than chat and images', () => {
  test('embeddings by characters', () => {
    const inputs = ['a'.repeat(400), [1, 2, 3], 'b'.repeat(600)];
    expect(quote({ ...CALL_DEFAULTS, kind: 'embed', inputs, encoding: 'float' }, { perCharacter: 25_000n }, 0)).toBe(
      25_000n,
    );
  });

  test.each([
    [[100, 10], 1n],
    [[101, 10], 2n],
    [[3, 150_000], 3n],
    [[1, 0], 1n],
  ])('reranking of %j documents and bytes counts this many searches', ([count = 0, bytes = 0], searches) => {
    const documents = Array.from({ length: count }, () => 'a'.repeat(bytes));
    const call: RerankCall = { ...CALL_DEFAULTS, kind: 'rerank', query: 'q', documents, returnDocuments: false };
    expect(quote(call, { perCall: 2n }, 0)).toBe(searches * 2n);
  });
});
