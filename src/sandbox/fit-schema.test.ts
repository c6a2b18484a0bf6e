import { describe, expect, test } from 'bun:test';
import Schema from 'typebox/schema';
import { fc } from '../../test/helpers/property.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import { fitSchema } from './fit-schema.ts';

const fits = (schema: Json, value: Json | undefined) => value !== undefined && Schema.Check(schema as never, value);

const name = fc.stringMatching(/^[a-z]{1,8}$/);

const number = fc
  .record({
    low: fc.integer({ min: -500, max: 500 }),
    span: fc.integer({ min: 0, max: 50 }),
    type: fc.constantFrom('integer', 'number'),
  })
  .chain(({ low, span, type }) =>
    fc.constantFrom<JsonObject>(
      { type },
      { type, minimum: low },
      { type, maximum: low },
      { type, minimum: low, maximum: low + span },
      { type, exclusiveMinimum: low, exclusiveMaximum: low + span + 2 },
      { type, multipleOf: span + 1, minimum: low },
      { type, multipleOf: span + 1, maximum: low },
      { type: 'number', exclusiveMinimum: low / 1000, exclusiveMaximum: (low + 1) / 1000 },
    ),
  );

const string = fc
  .record({ min: fc.integer({ min: 0, max: 30 }), span: fc.integer({ min: 0, max: 5 }) })
  .chain(({ min, span }) =>
    fc.constantFrom<JsonObject>(
      { type: 'string' },
      { type: 'string', minLength: min },
      { type: 'string', maxLength: min },
      { type: 'string', minLength: min, maxLength: min + span },
      ...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'].map(
        (format) => ({ type: 'string', format }),
      ),
    ),
  );

const choice = fc.uniqueArray(fc.oneof(name, fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 });

/** Schemas that some value matches, with every supported keyword. */
const { schema } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    string,
    fc.constantFrom<JsonObject>({ type: 'boolean' }, { type: 'null' }, { type: ['null', 'string'] }, {}),
    choice.map((values) => ({ enum: values })),
    choice.map(([value]) => ({ const: value ?? null })),
    fc
      .record({ items: tie('schema'), minItems: fc.integer({ min: 0, max: 3 }), extra: fc.integer({ min: 0, max: 2 }) })
      .map(({ items, minItems, extra }) => ({ type: 'array', items, minItems, maxItems: minItems + extra })),
    fc
      .array(tie('schema'), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: 'array', prefixItems, minItems: prefixItems.length })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.tuple(tie('object'), tie('object')).map((allOf) => ({ allOf })),
    tie('object'),
    tie('object').map((open) => ({ ...open, additionalProperties: false })),
  ),
  object: fc
    .record({
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
      required: fc.integer({ min: 0, max: 4 }),
    })
    .map(({ properties, required }) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).slice(0, required),
    })),
}));

/** Two objects of an `allOf` may have contradictory requirements for a member; such schemas are skipped. */
function contradicts(node: Json): boolean {
  if (Array.isArray(node)) return node.some(contradicts);
  if (typeof node !== 'object' || node === null) return false;
  const all = node.allOf;
  if (Array.isArray(all)) {
    const seen = new Set<string>();
    for (const part of all as JsonObject[]) {
      for (const member of Object.keys(part.properties as JsonObject)) {
        if (seen.has(member)) return true;
        seen.add(member);
      }
    }
  }
  return Object.values(node).some(contradicts);
}

describe('fitSchema', () => {
  test('makes a matching value for every schema that has one', () => {
    fc.assert(
      fc.property(
        schema.filter((made) => !contradicts(made)),
        (made) => fits(made, fitSchema(made)),
      ),
      { numRuns: 500 },
    );
  });

  test('makes the same value each time', () => {
    fc.assert(
      fc.property(schema, (made) => Bun.deepEquals(fitSchema(made), fitSchema(made), true)),
      { numRuns: 100 },
    );
  });

  test.each<[string, JsonObject]>([
    [
      'a reference',
      {
        $defs: { id: { type: 'integer', minimum: 7 } },
        type: 'object',
        properties: { id: { $ref: '#/$defs/id' } },
        required: ['id'],
      },
    ],
    ['a reference with siblings', { $defs: { s: { type: 'string' } }, $ref: '#/$defs/s', minLength: 40 }],
    ['an escaped pointer', { definitions: { 'a/b~c': { const: 3 } }, $ref: '#/definitions/a~1b~0c' }],
    [
      'a tree of itself',
      {
        type: 'object',
        properties: { value: { type: 'number' }, children: { type: 'array', items: { $ref: '#' } } },
        required: ['value', 'children'],
      },
    ],
    [
      'a list of itself that must end in null',
      {
        $defs: {
          node: {
            type: 'object',
            properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
            required: ['next'],
          },
        },
        $ref: '#/$defs/node',
      },
    ],
    [
      'expressions, where the first branch needs the whole again',
      {
        $defs: {
          expression: {
            oneOf: [
              {
                type: 'object',
                properties: { left: { $ref: '#/$defs/expression' } },
                required: ['left'],
                additionalProperties: false,
              },
              { type: 'number' },
            ],
          },
        },
        $ref: '#/$defs/expression',
      },
    ],
    ['unique items', { type: 'array', items: { type: 'string', maxLength: 4 }, minItems: 5, uniqueItems: true }],
    ['unique choices', { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, uniqueItems: true }],
    ['a map', { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 3 }],
    [
      'bounds in parts',
      { allOf: [{ type: 'integer', minimum: 10 }, { maximum: 12 }, { type: 'number', multipleOf: 4 }] },
    ],
    ['an object that is not closed and has a required member without a schema', { type: 'object', required: ['a'] }],
    ['a type from its keywords', { properties: { a: { minimum: 3 } }, required: ['a'] }],
  ])('makes a matching value for %s', (_what, made) => {
    expect(fitSchema(made)).toSatisfy((value) => fits(made, value));
  });

  test('makes no value for a schema without one', () => {
    expect(fitSchema(false)).toBeUndefined();
    expect(fitSchema({ type: 'integer', minimum: 3, maximum: 2 })).toBeUndefined();
    expect(fitSchema({ type: 'object', properties: { me: { $ref: '#' } }, required: ['me'] })).toBeUndefined();
    expect(fitSchema({ $ref: 'https://example.com/elsewhere' })).toBeUndefined();
  });

  test('names strings by their position', () => {
    expect(fitSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })).toEqual({
      city: 'city',
    });
  });
});
