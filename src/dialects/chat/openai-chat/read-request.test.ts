/** A plain request is read as the full reader reads it, and any doubt is the full reader's. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/helpers/property.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { readFully, readPlain } from './read-request.ts';

const encoded = (members: JsonObject) => Buffer.from(JSON.stringify(members));

/** What the full reader makes of the same members, or that it refuses them. */
function fullyRead(members: JsonObject) {
  try {
    return readFully(members, encoded(members));
  } catch {
    return 'refused';
  }
}

type Value = JsonObject[string];
const often = (usual: Value, others: Value[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
/** Up to `most` of these members, each with one of its values. */
const some = (values: { [name: string]: Value[] }, most: number) =>
  fc
    .array(
      fc.constantFrom(...Object.entries(values).flatMap(([name, all]) => all.map((value) => [name, value] as const))),
      {
        maxLength: most,
      },
    )
    .map((members) => Object.fromEntries(members));

const message = fc
  .record({
    role: fc.constantFrom('user', 'system', 'assistant', 'user', 'user', 'developer'),
    content: often('Hi', ['', '![image](data:image/png;base64,iVBORw0KGgo=)', null, [{ type: 'text', text: 'Hi' }]]),
    more: some({ name: ['n'], cache_control: [{ type: 'ephemeral' }], other: [1, 2, 3, null] }, 1),
  })
  .map(({ more, ...members }) => ({ ...members, ...more }));
const NUMBERS: Value[] = [1, 2, 5, 0.5, 0, -1, 2.5, 2 ** 53, null, '1'];
const request = fc
  .record({
    model: often('m', ['', null, 1]),
    messages: fc.array(message, { maxLength: 3 }),
    more: some(
      {
        stream: [true, false, true, false, null],
        temperature: NUMBERS,
        top_p: NUMBERS,
        max_tokens: NUMBERS,
        max_completion_tokens: NUMBERS,
        Max_Tokens: [3],
        user: ['u'],
        contents: [[]],
      },
      3,
    ),
  })
  .map(({ more, ...members }): JsonObject => ({ ...members, ...more }));

test('for any request both readers agree, and the plain one refuses none', () => {
  let plain = 0;
  fc.assert(
    fc.property(request, (members) => {
      const read = readPlain(members, encoded(members));
      if (!read) return;
      plain++;
      const full = fullyRead(members);
      if (full === 'refused') throw new Error('The full reader refuses it.');
      const { unsaid, plainTurns, ...origin } = read.origin;
      const { unsaid: unsaidFully, plainTurns: plainFully, ...originFully } = full.origin;
      expect({ ...read, origin }).toEqual({ ...full, origin: originFully });
      expect(unsaid?.()).toEqual(unsaidFully?.());
      expect(plainTurns).toBe(read.messages);
      expect(plainFully).toBe(full.messages);
    }),
    { numRuns: 1500 },
  );
  expect(plain).toBeGreaterThan(100);
});

const PLAIN = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

test.each<[string, JsonObject]>([
  ['the usual members', PLAIN],
  ['all of its members', { ...PLAIN, stream: true, temperature: 0.5, top_p: 1, max_tokens: 5 }],
  ['the other ceiling', { ...PLAIN, max_completion_tokens: 5 }],
])('plain: %s', (_, members) => {
  expect(readPlain(members, encoded(members))).toBeDefined();
});

test.each<[string, JsonObject]>([
  ['two ceilings', { ...PLAIN, max_tokens: 5, max_completion_tokens: 6 }],
  ['a member in another letter case', { ...PLAIN, Max_Tokens: 5 }],
  ['an unknown member', { ...PLAIN, other: 1 }],
  ['no messages', { model: 'm', messages: [] }],
  ['no model', { messages: PLAIN.messages }],
  ['a value of the wrong type', { ...PLAIN, temperature: '1' }],
])('a doubt is the full reader’s: %s', (_, members) => {
  expect(readPlain(members, encoded(members))).toBeUndefined();
});
