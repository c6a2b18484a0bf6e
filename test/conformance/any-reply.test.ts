/** Generated replies keep their meaning in every format, except for reported losses. */
import { describe, expect, test } from 'bun:test';
import type { FinishReason, ReplyEvent } from '../../src/canonical/reply.ts';
import type { Usage } from '../../src/canonical/usage.ts';
import { chatCall } from '../helpers/chat-call.ts';
import { fc } from '../helpers/property.ts';
import { replyOf } from './dialect-laws.ts';
import { contentIn, FORMAT_TRAITS, omittedFrom } from './meaning.ts';
import { TARGETS } from './translate-replies.ts';

const NO_BYTES = new Uint8Array(0);
const RUNS = 150;

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const pieces = fc.array(words, { minLength: 1, maxLength: 3 });
const base64 = fc.uint8Array({ minLength: 3, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const json = fc.dictionary(fc.constantFrom('a', 'b', 'city'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }).map(whole);

/** The value as JSON represents it: -0, for example, becomes another number. */
function whole(value: unknown): string {
  return JSON.stringify(JSON.parse(JSON.stringify(value)));
}

type PartEvents = (at: { choice: number; part: number }) => ReplyEvent[];
type Opens = Extract<ReplyEvent, { type: 'part-start' }>['opens'];

function part(opens: Opens, deltas: readonly string[], more: PartEvents = () => []): PartEvents {
  return (at) => [
    { type: 'part-start', ...at, opens },
    ...deltas.map((delta): ReplyEvent => ({ type: 'part-delta', ...at, delta })),
    ...more(at),
    { type: 'part-end', ...at },
  ];
}

const text = fc
  .record({ deltas: pieces, url: fc.option(fc.webUrl(), { nil: undefined }) })
  .map(({ deltas, url }) =>
    part({ type: 'text' }, deltas, (at) =>
      url === undefined ? [] : [{ type: 'part-citation', ...at, citation: { url, title: 'A page', start: 0, end: 1 } }],
    ),
  );
const reasoning = fc
  .record({ deltas: pieces, signed: fc.boolean() })
  .map(({ deltas, signed }) =>
    part({ type: 'reasoning' }, deltas, (at) =>
      signed ? [{ type: 'part-signature', ...at, signature: { dialect: 'a-provider', value: 'proof' } }] : [],
    ),
  );
const toolCall = fc
  .record({ id: fc.stringMatching(/^call_[a-z0-9]{6}$/), name: fc.constantFrom('look', 'write'), input: json })
  .map(({ id, name, input }) => part({ type: 'tool-call', id, name }, [input.slice(0, 2), input.slice(2)]));
const image = base64.map((data) => part({ type: 'image', mimeType: 'image/png' }, [data]));
const refusal = pieces.map((deltas) => part({ type: 'refusal' }, deltas));
const native = fc.constant(part({ type: 'native', dialect: 'a-provider', item: { type: 'search' } }, []));

const FINISHES: readonly FinishReason[] = ['stop', 'length', 'content-filter', 'refusal', 'other'];
const usage: fc.Arbitrary<Usage> = fc
  .record({ input: fc.nat(900), cached: fc.nat(100), output: fc.nat(900), reasoning: fc.nat(100) })
  .map(({ input, cached, output, reasoning: thought }) => ({
    input: input + cached,
    ...(cached > 0 && { cachedInput: cached }),
    output: output + thought,
    ...(thought > 0 && { reasoning: thought }),
    source: 'reported',
  }));

function idOf(event: ReplyEvent | undefined): string {
  return event?.type === 'part-start' && event.opens.type === 'tool-call' ? event.opens.id : '';
}

/** Reasoning comes first, a refusal calls no tools, and ids are unique. */
const choice = fc
  .record({
    reasonings: fc.array(reasoning, { maxLength: 1 }),
    contents: fc.array(fc.oneof(text, image, native), { maxLength: 3 }),
    refused: fc.array(refusal, { maxLength: 1 }),
    called: fc.uniqueArray(toolCall, {
      maxLength: 3,
      selector: (events) => idOf(events({ choice: 0, part: 0 })[0]),
    }),
    ended: fc.constantFrom(...FINISHES),
  })
  .map(({ refused, called, ended, ...others }) => {
    const calls = refused.length > 0 ? [] : called;
    const finish: FinishReason = calls.length > 0 && ended === 'stop' ? 'tool-calls' : ended;
    return { ...others, refused, calls, finish };
  });

const reply = fc
  .record({ choices: fc.array(choice, { minLength: 1, maxLength: 2 }), usage })
  .map(({ choices, usage: used }): ReplyEvent[] => [
    { type: 'reply-start', id: 'reply_1', model: 'upstream' },
    ...choices.flatMap(({ reasonings, contents, refused, calls, finish }, index): ReplyEvent[] => [
      ...[...reasonings, ...contents, ...refused, ...calls].flatMap((events, number) =>
        events({ choice: index, part: number }),
      ),
      { type: 'choice-end', choice: index, finish: { reason: finish } },
    ]),
    { type: 'usage', usage: used },
    { type: 'reply-end' },
  ]);

describe('any reply', () => {
  for (const target of TARGETS) {
    test.each([true, false])(`keeps its meaning as ${target.name}, streamed: %p`, (stream) => {
      const manner = FORMAT_TRAITS[target.name];
      if (!manner) throw new Error('There is no such manner.');
      fc.assert(
        fc.property(reply, (events) => {
          const call = chatCall({ stream, reasoning: { adaptive: true } });
          const writer = target.writer({ ...call, origin: { ...call.origin, framing: 'sse' } });
          const written = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
          const reader = target.reader(call, writer.contentType, {});
          const bytes = Buffer.concat([...written, writer.end()]);
          const again = [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
          expect(again.at(-1)?.type).toBe('reply-end');
          const original = replyOf(events);
          const { choices: were, usage: was } = contentIn(original, manner);
          const { choices: are, usage: is } = contentIn(replyOf(again), manner);
          // A signature may be read as a reasoning part of its own.
          expect(are).toEqual(were);
          expect(is).toEqual(was);
          const reported = writer.warnings.join(' ');
          for (const word of omittedFrom(original, manner, target.name)) expect(reported).toContain(word);
        }),
        { numRuns: RUNS },
      );
    });
  }
});
