/** Properties of every prompt and byte sequence, beyond the recordings. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { expectCallOrError, expectOneEnd } from '../../../../test/helpers/dialect-properties.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { openaiCompletions } from './openai-completions.ts';

function readCall(body: Uint8Array): ChatCall {
  return openaiCompletions.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
}

const words = fc.string({ unit: 'grapheme', maxLength: 12 });
const tokens = fc.array(fc.nat({ max: 200_000 }), { minLength: 1, maxLength: 5 });
const prompts = fc.oneof(
  fc.array(words, { minLength: 1, maxLength: 3 }),
  fc.array(tokens, { minLength: 1, maxLength: 3 }),
);
const completion = fc.record(
  { prompts, echo: fc.boolean(), suffix: words, bestOf: fc.integer({ min: 2, max: 5 }), logprobs: fc.nat({ max: 5 }) },
  { requiredKeys: ['prompts', 'echo'] },
);
const sampling = fc.record(
  {
    temperature: fc.constantFrom(0, 0.5, 2),
    topP: fc.constantFrom(0, 0.5, 1),
    presencePenalty: fc.constantFrom(-2, 0, 1.5),
    frequencyPenalty: fc.constantFrom(-2, 0, 1.5),
    seed: fc.integer(),
    n: fc.constantFrom(1, 2),
    stop: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
    logitBias: fc.dictionary(fc.constantFrom('1', '50256'), fc.constantFrom(-100, 0, 5)),
  },
  { requiredKeys: [] },
);

test('a call reads back as it was written', () => {
  fc.assert(
    fc.property(completion, sampling, fc.option(fc.nat(), { nil: undefined }), (completion, sampling, most) => {
      const call = chatCall({ completion, sampling, ...(most !== undefined && { maxOutputTokens: most }) });
      const { body, warnings } = openaiCompletions.writeCall(call, 'a-model', {});
      expect(warnings).toEqual([]);
      const read = readCall(body);
      expect(read.completion).toEqual(call.completion);
      expect(read.sampling).toEqual(call.sampling);
      expect(read.maxOutputTokens).toBe(call.maxOutputTokens);
      expect(openaiCompletions.writeCall(read, 'a-model', {}).body).toEqual(body);
    }),
  );
});

const anything = fc.jsonValue({ maxDepth: 2 });

test('every client request is a call that can be written, or causes an error with the reason', () => {
  const member = fc.constantFrom(
    'stop',
    'n',
    'best_of',
    'logprobs',
    'echo',
    'suffix',
    'logit_bias',
    'stream',
    'stream_options',
    'user',
    'max_tokens',
  );
  fc.assert(
    fc.property(fc.oneof(prompts, words, anything), fc.dictionary(member, anything), (prompt, members) => {
      expectCallOrError(openaiCompletions, { model: 'm', prompt, ...members });
    }),
    { numRuns: 500 },
  );
});

test('no bytes crash the reader, and every reply has one end', () => expectOneEnd(openaiCompletions));
