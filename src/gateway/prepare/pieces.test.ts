import { expect, test } from 'bun:test';
import { CALL_DEFAULTS } from '../../../test/helpers/chat-call.ts';
import { imageCall } from '../../../test/helpers/image-call.ts';
import type { Call, ChatCall, EmbedCall } from '../../canonical/call.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { ProviderDialect } from '../../dialects/dialect.ts';
import { type Quirks, quirksOf } from '../../dialects/shared/quirks.ts';
import { WholeUpstream } from '../attempt/upstream.ts';
import { Meter } from '../settle/meter.ts';
import type { TargetRoute } from '../target-route.ts';
import { inPieces, joinPieces } from './pieces.ts';

const CHAT: ChatCall = {
  ...CALL_DEFAULTS,
  kind: 'chat',
  messages: [],
  tools: [],
  sampling: { n: 3 },
  wantsUsage: false,
};
const DRAWING = imageCall({ n: 5 });
const EMBED: EmbedCall = { ...CALL_DEFAULTS, kind: 'embed', inputs: ['a', 'b', 'c'], encoding: 'float' };

const route = (dialect: Partial<ProviderDialect>, quirks: Quirks = {}): TargetRoute =>
  ({ dialect: { name: 'd', ...dialect }, quirks: quirksOf(quirks, 'm') }) as TargetRoute;
const pieces = (call: Call, way: TargetRoute, own = false) => inPieces(call, way, own).length;

test('a target of the client’s own format gets one request', () => {
  expect(inPieces(CHAT, route({ singleChoice: true }), true)).toEqual([CHAT]);
});

test('choices are requested one by one if the format has a single one', () => {
  expect(pieces(CHAT, route({}))).toBe(1);
  expect(pieces(CHAT, route({ singleChoice: true }))).toBe(3);
});

test('a conversation that generates images returns one image each', () => {
  expect(pieces({ ...CHAT, modalities: ['text', 'image'] }, route({}))).toBe(3);
});

test('images and texts are requested in groups as large as the model accepts', () => {
  const drawings = inPieces(DRAWING, route({}, { maxImagesPerCall: 2 }), true);
  expect(drawings.map((call) => call.kind === 'image' && call.n)).toEqual([2, 2, 1]);
  expect(inPieces(DRAWING, route({}), false)).toEqual([DRAWING]);
  expect(pieces(EMBED, route({}, { maxInputsPerCall: 2 }))).toBe(2);
});

test('the images of all requests are returned as one reply, in their order', async () => {
  const calls = inPieces(DRAWING, route({}, { maxImagesPerCall: 2 }), false);
  const upstreams = calls.map((call, index) => {
    const names = Array.from({ length: call.kind === 'image' ? call.n : 0 }, (_, choice) => `${index}${choice}`);
    const events = names.flatMap((delta, choice): ReplyEvent[] => [
      { type: 'part-start', choice, part: 0, opens: { type: 'image', mimeType: 'image/png' } },
      { type: 'part-delta', choice, part: 0, delta },
      { type: 'choice-end', choice, finish: { reason: 'stop' } },
    ]);
    return new WholeUpstream([{ bytes: new Uint8Array(), events: [...events, { type: 'reply-end' }] }], false);
  });
  const joined = joinPieces(calls, upstreams, new Meter(10));
  const drawn: [number, string][] = [];
  for (let frames = await joined.next(); frames; frames = await joined.next())
    for (const event of frames.flatMap(({ events }) => [...events]))
      if (event.type === 'part-delta') drawn.push([event.choice, event.delta]);
  const inOrder = drawn.toSorted(([one], [other]) => one - other);
  expect(inOrder.map(([choice]) => choice)).toEqual([0, 1, 2, 3, 4]);
  expect(inOrder.map(([, name]) => name)).toEqual(['00', '01', '10', '11', '20']);
});
