import { describe, expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { JoinedReply } from './joined-reply.ts';

const START: ReplyEvent = { type: 'reply-start', id: 'a', model: 'm' };
const open = (part = 0): ReplyEvent => ({ type: 'part-start', choice: 0, part, opens: { type: 'text' } });
const say = (delta: string, part = 0): ReplyEvent => ({ type: 'part-delta', choice: 0, part, delta });
const close = (part = 0): ReplyEvent => ({ type: 'part-end', choice: 0, part });
const END: readonly ReplyEvent[] = [
  { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
  { type: 'reply-end' },
];

const textOf = (events: readonly ReplyEvent[]) =>
  events.map((event) => (event.type === 'part-delta' ? event.delta : '')).join('');

/** Cuts a text at these places. */
function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, at) => text.slice(from, places[at] ?? text.length));
}

const cuts = fc.array(fc.nat(60), { maxLength: 6 });
/** Few letters and much white space, so that beginnings often look alike. */
const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 24 });

describe('a text that two targets deliver', () => {
  for (const echoes of [false, true]) {
    test(`is the prefix and its continuation, without loss or repetition (${echoes ? 'repeated' : 'not repeated'} by the provider)`, () => {
      fc.assert(
        fc.property(words, fc.nat(24), cuts, cuts, (whole, at, before, after) => {
          const cut = at % (whole.length + 1);
          const reply = new JoinedReply();
          const given = [...reply.take([START, open()])];
          for (const piece of pieces(whole.slice(0, cut), before)) given.push(...reply.take([say(piece)]));
          const { prefix } = reply;
          expect(prefix).toBe(prefix.trimEnd());
          reply.goOn(echoes);
          // The model goes on from what it was sent: without the white space at the end.
          const rest = (echoes ? prefix : '') + whole.slice(prefix.length);
          given.push(...reply.take([START, open()]));
          for (const piece of pieces(rest, after)) given.push(...reply.take([say(piece)]));
          given.push(...reply.take([close(), ...END]));
          expect(textOf(given)).toBe(whole);
          expect(given.filter(({ type }) => type === 'reply-start')).toHaveLength(1);
          expect(given.filter(({ type }) => type === 'part-start')).toHaveLength(1);
          expect(given.filter(({ type }) => type === 'choice-end')).toHaveLength(1);
        }),
      );
    });
  }

  test('keeps text that only begins like the prefix, and a second continuation', () => {
    const reply = new JoinedReply();
    reply.take([START, open(), say('One two ')]);
    reply.goOn(true);
    expect(textOf(reply.take([START, open(), say('One')]))).toBe('');
    expect(textOf(reply.take([say(' more')]))).toBe('One more');
    expect(reply.prefix).toBe('One two One more');
    reply.goOn(true);
    expect(textOf(reply.take([open(), say('One t'), close()]))).toBe('One t');
    const third = new JoinedReply();
    third.take([START, open(), say('a')]);
    third.goOn(false);
    expect(textOf(third.take([open(), say('a')]))).toBe('a');
  });

  test('has the white space at the end of the prefix once', () => {
    const reply = new JoinedReply();
    reply.take([START, open(), say('Hello \n')]);
    expect(reply.prefix).toBe('Hello');
    reply.goOn(false);
    expect(textOf(reply.take([open(), say(' '), say('\nworld')]))).toBe('world');
  });
});

test('further parts get numbers of their own; reasoning of the second target is left out', () => {
  const reply = new JoinedReply();
  reply.take([START, open(), say('Hello')]);
  reply.goOn(false);
  const events = reply.take([
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'reasoning' } },
    say('Hm.', 0),
    close(0),
    open(1),
    say(' you', 1),
    close(1),
    { type: 'part-start', choice: 0, part: 2, opens: { type: 'tool-call', id: 'c', name: 'f' } },
    say('{}', 2),
  ]);
  expect(events).toEqual([
    say(' you', 0),
    close(0),
    { type: 'part-start', choice: 0, part: 1, opens: { type: 'tool-call', id: 'c', name: 'f' } },
    say('{}', 1),
  ]);
});

test('only text is continued', () => {
  const after = (...events: ReplyEvent[]) => {
    const reply = new JoinedReply();
    reply.take([START, ...events]);
    return reply.canContinue;
  };
  expect(after()).toBe(true);
  expect(after(open(), say('Hello'))).toBe(true);
  expect(after(open(), say('Hello'), close(), ...END)).toBe(false);
  expect(after({ type: 'part-start', choice: 0, part: 0, opens: { type: 'tool-call', id: 'c', name: 'f' } })).toBe(
    false,
  );
  const signature = { dialect: 'anthropic-messages', value: 'x' };
  expect(after(open(), { type: 'part-signature', choice: 0, part: 0, signature })).toBe(false);
});
