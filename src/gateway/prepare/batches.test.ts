import { expect, test } from 'bun:test';
import { CALL_DEFAULTS } from '../../../test/helpers/chat-call.ts';
import type { EmbedCall } from '../../canonical/call.ts';
import type { ReplyEvent, Vector } from '../../canonical/reply.ts';
import type { Upstream } from '../attempt/upstream.ts';
import { WholeUpstream } from '../attempt/upstream.ts';
import { batches, joinVectors } from './batches.ts';

const CALL: EmbedCall = { ...CALL_DEFAULTS, kind: 'embed', inputs: ['a', 'b', 'c', 'd', 'e'], encoding: 'float' };

test('a batch that the provider accepts at once is the call itself', () => {
  expect(batches(CALL, 1000)).toEqual([CALL]);
  expect(batches(CALL, 5)[0]).toBe(CALL);
});

test('more texts become batches in their order, each with its own media', () => {
  const parts = CALL.inputs.map((input) => [{ text: String(input) }]);
  const calls = batches({ ...CALL, media: { parts, tokens: 5 } }, 2);
  expect(calls.map(({ inputs }) => inputs)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect(calls.map(({ media }) => media?.parts)).toEqual([parts.slice(0, 2), parts.slice(2, 4), parts.slice(4)]);
});

function answer(vectors: Vector[], tokens?: number): Upstream {
  const events: ReplyEvent[] = [
    { type: 'reply-start', id: 'r', model: 'm' },
    { type: 'result', result: { type: 'vectors', vectors } },
  ];
  if (tokens !== undefined) events.push({ type: 'usage', usage: { input: tokens, output: 0, source: 'reported' } });
  return new WholeUpstream([{ bytes: new Uint8Array(), events: [...events, { type: 'reply-end' }] }], true);
}

async function eventsOf(upstream: Upstream): Promise<readonly ReplyEvent[]> {
  const [frame] = (await upstream.next()) ?? [];
  expect(await upstream.next()).toBeUndefined();
  return frame?.events ?? [];
}

test('the vectors of all batches are one list, numbered by the places of their texts; usage is summed', async () => {
  const [one, two] = [
    { index: 1, values: [2] },
    { index: 0, values: [3] },
  ];
  const events = await eventsOf(joinVectors([answer([{ index: 0, values: [1] }, one], 4), answer([two], 2)], 2));
  expect(events.map(({ type }) => type)).toEqual(['reply-start', 'result', 'usage', 'reply-end']);
  expect(events[1]).toEqual({
    type: 'result',
    result: { type: 'vectors', vectors: [{ index: 0, values: [1] }, one, { index: 2, values: [3] }] },
  });
  expect(events[2]).toMatchObject({ usage: { input: 6 } });
});

test('without a report from each batch there is no sum', async () => {
  const events = await eventsOf(joinVectors([answer([], 4), answer([])], 2));
  expect(events.some(({ type }) => type === 'usage')).toBe(false);
});
