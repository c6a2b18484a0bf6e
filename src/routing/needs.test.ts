import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../test/helpers/chat-call.ts';
import { lacks, type Needs, needsOf } from './needs.ts';

const plain: Needs = { inputs: [], tools: false, structuredOutput: false, tokens: 100 };

describe('what a target lacks', () => {
  test.each([
    [{}, { ...plain, tools: true, inputs: ['image'] }, undefined],
    [{ inputs: [] }, plain, undefined],
    [{ inputs: ['audio'] }, { ...plain, inputs: ['image'] }, 'image input'],
    [{ inputs: ['image'] }, { ...plain, inputs: ['image'] }, undefined],
    [{ tools: false }, { ...plain, tools: true }, 'tools'],
    [{ tools: true }, { ...plain, tools: true }, undefined],
    [{ structuredOutput: false }, { ...plain, structuredOutput: true }, 'structured output'],
    [{ contextTokens: 99 }, plain, 'a context of 100 tokens'],
    [{ contextTokens: 100 }, plain, undefined],
    [{ dataPolicy: 'retained' }, { ...plain, dataPolicy: 'none' }, 'data policy none'],
    [{ dataPolicy: 'retained' }, { ...plain, dataPolicy: 'retained' }, undefined],
    // Data retention is not configured there.
    [{}, { ...plain, dataPolicy: 'retained' }, 'data policy retained'],
    [{}, { ...plain, dataPolicy: 'training' }, undefined],
  ] as const)('%j for %j: %p', (capabilities, needs, lacking) => {
    expect(lacks(capabilities, needs)).toBe(lacking);
  });
});

test('the needs of a conversation are found in it, in tool results too', () => {
  const media = (kind: 'image' | 'document') => ({
    type: 'media' as const,
    media: { kind, source: { type: 'url' as const, url: 'https://files.test/a' } },
  });
  const call = chatCall({
    messages: [
      { role: 'user', parts: [media('image'), media('image')] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', parts: [media('document')], failed: false }] },
    ],
    tools: [{ type: 'function', name: 'look' }],
    output: { type: 'json' },
  });
  expect(needsOf(call, 7)).toEqual({ inputs: ['image', 'document'], tools: true, structuredOutput: true, tokens: 7 });
});
