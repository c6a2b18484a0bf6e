/** Makes a small value that matches a JSON schema, the same each time, with the required members. */
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';

/**
 * A matching value, or `undefined` if none can be found. Supports types, enums, constants, ranges, lengths, formats, arrays, objects,
 * `$ref`, `allOf`, `anyOf` and `oneOf`; ignores `pattern`, `not` and conditions.
 */
export function fitSchema(schema: Json, name = 'value'): Json | undefined {
  return fit(schema, {
    root: schema,
    name,
    variant: 0,
    open: [],
    left: { steps: MOST_STEPS, characters: MOST_CHARACTERS },
  });
}

/** A schema that takes more steps counts as one without a value: its values may be infinite. */
const MOST_STEPS = 50_000;
const MOST_CHARACTERS = 100_000;

interface SchemaPosition {
  root: Json;
  /** The name of the position; strings are made from it. */
  name: string;
  /** Different variants give different values, if the schema allows it. */
  variant: number;
  /** References in progress: a value that contains itself is infinite. */
  open: readonly string[];
  /** The remaining budget for the whole value, shared by all positions. */
  left: { steps: number; characters: number };
}

/** Whether this many more steps are allowed. */
function spend({ left }: SchemaPosition, steps: number): boolean {
  left.steps -= steps;
  return left.steps >= 0;
}

function fit(schema: Json, place: SchemaPosition): Json | undefined {
  if (!spend(place, 1)) return undefined;
  if (schema === true) return place.name;
  if (!isObject(schema)) return undefined;
  const { $ref: ref, allOf, anyOf, oneOf, ...own } = schema;
  if (typeof ref === 'string') {
    if (place.open.includes(ref)) return undefined;
    const rest = withDefined({ ...own, allOf, anyOf, oneOf });
    return fit(mergeAt(place, rest, pointAt(place.root, ref)), { ...place, open: [...place.open, ref] });
  }
  if (Array.isArray(allOf)) {
    const rest: Json = withDefined({ ...own, anyOf, oneOf });
    return fit(
      allOf.reduce((all, one) => mergeAt(place, all, one), rest),
      place,
    );
  }
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) {
    const rest = anyOf && oneOf ? withDefined({ ...own, oneOf }) : own;
    return firstDefined(branches, (branch) => fit(mergeAt(place, rest, branch), place));
  }
  return fitOwn(own, place);
}

function fitOwn(schema: JsonObject, place: SchemaPosition): Json | undefined {
  if ('const' in schema) return schema.const;
  const choices = schema.enum;
  if (Array.isArray(choices)) return choices[place.variant % choices.length];
  return firstDefined(typesOf(schema), (type) => fitType(type, schema, place));
}

function typesOf(schema: JsonObject): Json[] {
  const { type } = schema;
  if (Array.isArray(type))
    return [...type.filter((word) => word !== 'null'), ...type.filter((word) => word === 'null')];
  if (type !== undefined) return [type];
  const has = (...members: string[]) => members.some((member) => member in schema);
  if (has('properties', 'required', 'additionalProperties', 'minProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems')) return ['array'];
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number'];
  return ['string'];
}

function fitType(type: Json, schema: JsonObject, place: SchemaPosition): Json | undefined {
  switch (type) {
    case 'object':
      return fitObject(schema, place);
    case 'array':
      return fitArray(schema, place);
    case 'string':
      return fitString(schema, place);
    case 'integer':
      return fitNumber(schema, place.variant, true);
    case 'number':
      return fitNumber(schema, place.variant, false);
    case 'boolean':
      return place.variant % 2 === 0;
    case 'null':
      return null;
    default:
      return undefined;
  }
}

/** The required members; all members if none is required, because an empty object is not useful. */
function fitObject(schema: JsonObject, place: SchemaPosition): Json | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const names = required.length > 0 ? required : Object.keys(properties);
  const fewest = numberIn(schema, 'minProperties') ?? 0;
  const most = numberIn(schema, 'maxProperties') ?? Number.POSITIVE_INFINITY;
  const value = new Map<string, Json>();
  const add = (name: string): boolean => {
    const member = fit(properties[name] ?? schema.additionalProperties ?? true, { ...place, name });
    if (member !== undefined) value.set(name, member);
    return member !== undefined;
  };
  for (const name of names) {
    if (required.length === 0 && value.size >= most) break;
    if (!add(name) && required.length > 0) return undefined;
  }
  for (const name of Object.keys(properties)) if (value.size < fewest && !value.has(name)) add(name);
  for (let i = 1; value.size < fewest; i++) if (!add(`${place.name}_${i}`)) return undefined;
  return Object.fromEntries(value);
}

function fitArray(schema: JsonObject, place: SchemaPosition): Json | undefined {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const fewest = numberIn(schema, 'minItems') ?? 0;
  const most = numberIn(schema, 'maxItems') ?? Number.POSITIVE_INFINITY;
  const length = Math.min(most, Math.max(fewest, prefix.length, 1));
  const items: Json[] = [];
  for (let i = 0; i < length; i++) {
    // One more step for each unique item, so that nested arrays differ too.
    const variant = schema.uniqueItems === true ? place.variant + i : place.variant;
    const item = fit(prefix[i] ?? schema.items ?? true, { ...place, name: singular(place.name), variant });
    if (item === undefined) return items.length >= fewest ? items : undefined;
    items.push(item);
  }
  return items;
}

function singular(name: string): string {
  return name.length > 3 && name.endsWith('s') ? name.slice(0, -1) : name;
}

/** The number nearest to 1 within the range, plus `variant` steps. */
function fitNumber(schema: JsonObject, variant: number, whole: boolean): number | undefined {
  const multiple = numberIn(schema, 'multipleOf');
  const step = multiple ?? 1;
  const low = numberIn(schema, 'minimum') ?? Number.NEGATIVE_INFINITY;
  const high = numberIn(schema, 'maximum') ?? Number.POSITIVE_INFINITY;
  const above = exclusiveIn(schema, 'exclusiveMinimum', low) ?? Number.NEGATIVE_INFINITY;
  const below = exclusiveIn(schema, 'exclusiveMaximum', high) ?? Number.POSITIVE_INFINITY;
  const fits = (value: number) => value >= low && value <= high && value > above && value < below;
  const from = Math.max(low, above);
  const to = Math.min(high, below);
  const nearest = Math.min(Math.max(1, from), to);
  const first = Math.ceil(nearest / step);
  for (const at of [first + variant, first + 1 + variant, first - 1 - variant, first, first + 1, first - 1]) {
    const value = at * step;
    if (fits(value) && (!whole || Number.isInteger(value))) return value;
  }
  if (whole || multiple !== undefined) return undefined;
  const middle =
    Number.isFinite(from) && Number.isFinite(to) ? from + ((to - from) * (variant + 1)) / (variant + 2) : nearest;
  return [middle, nearest].find(fits);
}

/** In draft 4 `true` makes the plain bound exclusive; later drafts give the bound itself. */
function exclusiveIn(schema: JsonObject, member: string, plain: number): number | undefined {
  return schema[member] === true ? plain : numberIn(schema, member);
}

const FORMATS: { readonly [format: string]: (variant: number) => string } = {
  'date-time': (variant) => `${day(variant)}T12:00:00Z`,
  date: day,
  time: () => '12:00:00Z',
  duration: (variant) => `PT${variant + 1}H`,
  email: (variant) => `sandbox${variant || ''}@example.com`,
  hostname: (variant) => `sandbox${variant || ''}.example.com`,
  ipv4: (variant) => `192.0.2.${(variant % 254) + 1}`,
  ipv6: (variant) => `2001:db8::${((variant % 0xffff) + 1).toString(16)}`,
  uri: (variant) => `https://example.com/sandbox${variant || ''}`,
  uuid: (variant) => `00000000-0000-4000-8000-${String(variant).padStart(12, '0')}`,
};

function day(variant: number): string {
  return new Date(Date.UTC(2026, 0, 1 + variant)).toISOString().slice(0, 10);
}

function fitString(schema: JsonObject, { name, variant, left }: SchemaPosition): string | undefined {
  const format = FORMATS[String(schema.format)];
  if (format) return format(variant);
  const fewest = numberIn(schema, 'minLength') ?? 0;
  const most = numberIn(schema, 'maxLength') ?? Number.POSITIVE_INFINITY;
  if (fewest > most) return undefined;
  left.characters -= Math.max(fewest, name.length);
  if (left.characters < 0) return undefined;
  const mark = variant > 0 ? String(variant) : '';
  const letters = Array.from(name);
  const space = Math.max(0, Math.min(most, Math.max(fewest, letters.length + mark.length)) - mark.length);
  const stem = Array.from({ length: space }, (_, i) => letters[i] ?? '.').join('');
  return (stem + mark).slice(0, most);
}

/** Calls `merge` and counts its cost: merging wide schemas repeatedly is expensive. */
function mergeAt(place: SchemaPosition, a: Json, b: Json): Json {
  return spend(place, widthOf(a) + widthOf(b)) && merge(a, b);
}

function widthOf(schema: Json | undefined): number {
  if (!isObject(schema)) return Array.isArray(schema) ? schema.length : 0;
  const { properties, required } = schema;
  return Object.keys(schema).length + (isObject(properties) ? Object.keys(properties).length : 0) + widthOf(required);
}

/** Combines two schemas: bounds narrow, members and requirements add up. */
function merge(a: Json, b: Json): Json {
  if (a === false || b === false) return false;
  if (!isObject(a)) return b;
  if (!isObject(b)) return a;
  const merged: JsonObject = { ...a };
  for (const [member, value] of Object.entries(b)) {
    const other = a[member];
    merged[member] = other === undefined ? value : mergeMember(member, other, value);
  }
  return merged;
}

function mergeMember(member: string, a: Json, b: Json): Json {
  switch (member) {
    case 'properties':
      return mergeProperties(a, b);
    case 'items':
    case 'additionalProperties':
      return merge(a, b);
    case 'required':
    case 'allOf':
      return Array.isArray(a) && Array.isArray(b) ? [...new Set([...a, ...b])] : b;
    case 'enum':
      return Array.isArray(a) && Array.isArray(b) ? withinBoth(a, b) : b;
    case 'type':
      return narrowTypes(a, b);
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : b;
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : b;
    default:
      return b;
  }
}

function withinBoth(a: readonly Json[], b: readonly Json[]): Json[] {
  const others = new Set(b);
  return a.filter((choice) => others.has(choice));
}

function mergeProperties(a: Json, b: Json): Json {
  if (!isObject(a) || !isObject(b)) return b;
  const merged: JsonObject = { ...a };
  for (const [name, schema] of Object.entries(b)) {
    const other = a[name];
    // Not merged here, because either may be a reference.
    merged[name] = other === undefined ? schema : { allOf: [other, schema] };
  }
  return merged;
}

function narrowTypes(a: Json, b: Json): Json {
  const left = Array.isArray(a) ? a : [a];
  const right = Array.isArray(b) ? b : [b];
  const both = left.filter((type) => right.includes(type));
  // An integer is a number too.
  if (both.length === 0 && [...left, ...right].includes('integer') && [...left, ...right].includes('number'))
    return 'integer';
  return both;
}

/** Resolves a reference within the document: `#/$defs/x`, `#`. */
function pointAt(root: Json, ref: string): Json {
  if (!ref.startsWith('#')) return false;
  let at: Json | undefined = root;
  for (const step of ref.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? at[Number(name)] : isObject(at) ? at[name] : undefined;
  }
  return at ?? false;
}

function withDefined(members: { [member: string]: Json | undefined }): JsonObject {
  const defined: JsonObject = {};
  for (const [member, value] of Object.entries(members)) if (value !== undefined) defined[member] = value;
  return defined;
}

function firstDefined(candidates: readonly Json[], make: (candidate: Json) => Json | undefined): Json | undefined {
  for (const candidate of candidates) {
    const made = make(candidate);
    if (made !== undefined) return made;
  }
  return undefined;
}

function numberIn(schema: JsonObject, member: string): number | undefined {
  const value = schema[member];
  return typeof value === 'number' ? value : undefined;
}
