/**
 * Finds the members of a request that decide what it can cost, in every spelling that a provider may read, and reduces
 * each to one spelling and one value. Otherwise a body with two token limits could be priced by one of them and
 * answered by the other.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { patchMembers } from '../../wire/json.ts';
import { patchedMembers } from '../adjust.ts';
import { repeatingSettings } from './repeated-members.ts';

/**
 * `ceiling`: maximum output tokens. `choices`: number of answers. `tries`: number of answers generated, of which the
 * best are returned.
 */
type MoneyCount = 'ceiling' | 'choices' | 'tries';
/**
 * `size`: an image size in a name other than the format's own. `set`: several images per request. `copy`: a second copy
 * of the model's input.
 */
type Meaning = MoneyCount | 'tier' | 'model' | 'size' | 'set' | 'copy';

/**
 * How a format spells the members that decide the cost. Names are paths (`generationConfig.maxOutputTokens`); the first
 * is the one to write.
 */
export interface MoneySpelling {
  readonly ceiling?: readonly string[];
  readonly choices?: readonly string[];
  readonly tries?: readonly string[];
  readonly tier?: readonly string[];
  readonly model?: readonly string[];
  /** Present if the request generates images: these count and size members then apply. */
  readonly size?: readonly string[];
  /**
   * Input that is priced by its length, when the length is not taken from the whole body. Other spellings of these
   * members are dropped.
   */
  readonly read?: readonly string[];
  /** Top-level members that hold model input or a schema. They are not searched for settings. */
  readonly content: ReadonlySet<string>;
}

/** Keys in the form that `folded` returns. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...each('ceiling', ['maxtokens', 'maxcompletiontokens', 'maxoutputtokens', 'maxnewtokens', 'numpredict', 'npredict']),
  ...each('ceiling', ['maxgentokens', 'maxgeneratedtokens', 'maxgenerationtokens', 'maxgenlen', 'maxtokenstosample']),
  ...each('ceiling', ['maxtokencount', 'maxresponsetokens', 'maxresponseoutputtokens', 'maxlength']),
  ...each('choices', ['n', 'candidatecount', 'numcandidates', 'numchoices', 'numreturnsequences', 'numcompletions']),
  ...each('choices', ['numgenerations', 'numresults', 'numoutputs', 'numresponses', 'samplecount']),
  ...each('choices', ['numimages', 'numberofimages', 'imagecount', 'imagenum', 'batchsize', 'maximages', 'samples']),
  ...each('tries', ['bestof', 'numbeams', 'beamwidth']),
  ...each('tier', ['servicetier', 'speed']),
  ...each('model', [
    'model',
    'models',
    'modelname',
    'modelid',
    'fallbacks',
    'fallbackmodels',
    'modelfallbacks',
    'preset',
  ]),
]);

/** More names, for requests that generate images. */
const IMAGE_MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...MEANINGS,
  ...each('size', ['size', 'imagesize', 'width', 'height', 'resolution', 'imageresolution', 'sampleimagesize']),
  ...each('size', ['megapixels', 'outputsize', 'upscale', 'hd', 'quality', 'aspectratio']),
  ...each('set', ['sequentialimagegeneration', 'multipleimages']),
]);

function each(meaning: Meaning, names: readonly string[]): [string, Meaning][] {
  return names.map((name) => [name, meaning]);
}

/** Objects that never hold settings. A thinking budget counts towards the token limit. */
const OPAQUE: ReadonlySet<string> = new Set([
  ...['metadata', 'labels', 'reasoning', 'thinking', 'thinkingconfig', 'schema', 'jsonschema', 'responseschema'],
  ...['responsejsonschema', 'responseformat', 'guidedjson', 'structuredoutputs', 'logitbias', 'outputconfig'],
]);

/** Service tiers that cost no more than the standard price. */
const PLAIN_TIERS: ReadonlySet<string> = new Set([
  ...['', 'auto', 'default', 'standard', 'standardonly', 'unspecified', 'flex', 'batch', 'ondemand', 'scale', 'none'],
  ...['normal', 'slow'],
]);

const NOTHING: readonly string[] = [];
const MAX_DEPTH = 32;
const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, Meaning | undefined>();
const rememberedOfImages = new Map<string, Meaning | undefined>();

/** Reduces all spellings of a name to one: some servers ignore case and match Unicode letters to ASCII ones. */
export function folded(name: string): string {
  return name.toUpperCase().toLowerCase().replace(/[_-]/g, '');
}

function meaningOf(name: string, ofImages: boolean): Meaning | undefined {
  const names = ofImages ? rememberedOfImages : remembered;
  const known = names.get(name);
  if (known !== undefined || names.has(name)) return known;
  const meaning = (ofImages ? IMAGE_MEANINGS : MEANINGS).get(folded(name));
  if (names.size < MAX_REMEMBERED) names.set(name, meaning);
  return meaning;
}

interface MoneyMember {
  path: readonly string[];
  meaning: Meaning;
  value: Json;
}

/** The members to change in a body, and a sentence for each dropped one. */
export interface Respelled {
  members: { [member: string]: Json | undefined };
  warnings: string[];
}

/** A client's body in which each billing-relevant member has one spelling, and a sentence for each dropped one. */
export interface Billable {
  body: Readonly<JsonObject>;
  bytes: Uint8Array;
  /** Absent if nothing was dropped. */
  dropped?: readonly string[];
}

/**
 * Returns the body to read, to price and to send; in most cases it is unchanged. `parsed` is the parsed form of
 * `bytes`.
 */
export function billable(parsed: JsonObject, bytes: Uint8Array, spelling: MoneySpelling): Billable {
  const changes = respelled(parsed, spelling);
  const settings = bytes.length > 0 ? settingsOf(parsed, spelling) : undefined;
  const repeated = settings && repeatingSettings(parsed, bytes, settings);
  if (!changes && !repeated) return { body: parsed, bytes };
  const { members, warnings } = { members: { ...repeated, ...changes?.members }, warnings: changes?.warnings ?? [] };
  return {
    body: patchedMembers(parsed, members),
    bytes: patchMembers(bytes, members),
    ...(warnings.length > 0 && { dropped: warnings }),
  };
}

/** Nearly every streaming request has this member; it holds only flags. */
const HARMLESS = 'stream_options';

/** Finds top-level members whose objects may hold settings. Returns `undefined` if there are none. */
function settingsOf(body: JsonObject, { content }: MoneySpelling): string[] | undefined {
  let names: string[] | undefined;
  for (const name in body) {
    if (typeof body[name] !== 'object' || name === HARMLESS || content.has(name)) continue;
    if (isObject(body[name]) && !OPAQUE.has(folded(name))) names = names ? [...names, name] : [name];
  }
  return names;
}

/**
 * Finds the changes that give each meaning one spelling. Returns `undefined` in the common case that nothing changes.
 */
export function respelled(body: JsonObject, spelling: MoneySpelling): Respelled | undefined {
  if (isPlainlySpelled(body, spelling)) return undefined;
  let found: MoneyMember[] | undefined;
  const ofImages = spelling.size !== undefined;
  for (const name in body) {
    const value = body[name] ?? null;
    const meaning = meaningOf(name, ofImages);
    if (meaning !== undefined && isMeant(meaning, value)) {
      if (!isObject(value)) found = add(found, { path: [name], meaning, value });
    } else if (spelling.read && isCopy(name, spelling.read))
      found = add(found, { path: [name], meaning: 'copy', value });
    else if (isObject(value) && !spelling.content.has(name)) found = search(value, [name], ofImages, found);
  }
  if (!found || isPlain(found, spelling)) return undefined;
  return merged(body, found, spelling);
}

const BITS = { ceiling: 1, choices: 2, tries: 4 } as const satisfies Record<MoneyCount, number>;

/** Whether each billing-relevant member is the format's own and stands once, without an object to search: nothing has to be collected. */
function isPlainlySpelled(body: JsonObject, spelling: MoneySpelling): boolean {
  if (spelling.read || spelling.size) return false;
  let seen = 0;
  for (const name in body) {
    const value = body[name] ?? null;
    const meaning = meaningOf(name, false);
    if (meaning === undefined || !isMeant(meaning, value)) {
      if (isObject(value) && !spelling.content.has(name)) return false;
      continue;
    }
    const isOwn = ownNames(spelling, meaning).includes(name) && !isObject(value);
    if (!isOwn || (meaning === 'tier' && !isPlainTier(value))) return false;
    if (isCounted(meaning) && (seen & BITS[meaning]) !== 0) return false;
    if (isCounted(meaning)) seen |= BITS[meaning];
  }
  return true;
}

function isCopy(name: string, read: readonly string[]): boolean {
  return !read.includes(name) && read.some((one) => folded(one) === folded(name));
}

function add(found: MoneyMember[] | undefined, one: MoneyMember): MoneyMember[] {
  if (!found) return [one];
  found.push(one);
  return found;
}

function search(
  object: JsonObject,
  path: string[],
  ofImages: boolean,
  found: MoneyMember[] | undefined,
): MoneyMember[] | undefined {
  if (OPAQUE.has(folded(path.at(-1) ?? '')) || path.length > MAX_DEPTH) return found;
  let all = found;
  for (const name in object) {
    const value = object[name] ?? null;
    const meaning = meaningOf(name, ofImages);
    if (isObject(value)) all = search(value, [...path, name], ofImages, all);
    else if (meaning !== undefined && isMeant(meaning, value) && isRead(meaning, path))
      all = add(all, { path: [...path, name], meaning, value });
  }
  return all;
}

/**
 * A `model` inside an object usually selects something else (a plugin's or an audio file's model). It counts only in
 * objects that servers merge into the body.
 */
function isRead(meaning: Meaning, [first = '']: readonly string[]): boolean {
  return meaning !== 'model' || folded(first) === 'extrabody';
}

/** Whether the value has the type that the name suggests: a number, or a text that reads as one. */
function isMeant(meaning: Meaning, value: Json): boolean {
  switch (meaning) {
    case 'tier':
      return typeof value === 'string';
    case 'model':
      return typeof value === 'string' || Array.isArray(value);
    case 'size':
    case 'set':
      return value !== null && !isObject(value);
    default:
      return typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && isNumeral(value));
  }
}

function isNumeral(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text));
}

/** Whether every found member is the format's own and the only one of its meaning. */
function isPlain(found: readonly MoneyMember[], spelling: MoneySpelling): boolean {
  const seen = new Set<Meaning>();
  for (const { path, meaning, value } of found) {
    const own = path.length === 1 ? path[0]! : path.join('.');
    if (!ownNames(spelling, meaning).includes(own)) return false;
    if (meaning === 'tier' && !isPlainTier(value)) return false;
    if (isCounted(meaning) && seen.has(meaning)) return false;
    seen.add(meaning);
  }
  return true;
}

function ownNames(spelling: MoneySpelling, meaning: Meaning): readonly string[] {
  return meaning === 'set' || meaning === 'copy' ? NOTHING : (spelling[meaning] ?? NOTHING);
}

function isCounted(meaning: Meaning): meaning is MoneyCount {
  return meaning === 'ceiling' || meaning === 'choices' || meaning === 'tries';
}

function isPlainTier(value: Json): boolean {
  return PLAIN_TIERS.has(folded(String(value)).replace(/^servicetier/, ''));
}

/** The image size, if only provider-specific members give it. `from` lists those members. */
function sizeFromMembers({
  size,
  image_size: own,
  width,
  height,
}: JsonObject): { value: string; from: string[] } | undefined {
  if (size !== undefined && size !== null) return undefined;
  if (typeof own === 'string') return { value: own, from: ['image_size'] };
  if (typeof width !== 'number' || typeof height !== 'number') return undefined;
  return { value: `${width}x${height}`, from: ['width', 'height'] };
}

const WHY_DROPPED = {
  tier: 'the model has no such member',
  model: 'which model answers is settled by `model` alone',
  size: '`size` says how large an image is',
  set: '`n` says how many images are made',
  copy: 'the format has no such member',
} as const satisfies Record<Exclude<Meaning, MoneyCount>, string>;

function merged(body: JsonObject, found: readonly MoneyMember[], spelling: MoneySpelling): Respelled {
  const edit = new Edit(body);
  for (const meaning of ['ceiling', 'choices', 'tries'] as const) {
    const alike = found.filter((one) => one.meaning === meaning);
    // In chat, `n` may take the value of another spelling only if `n` itself is present.
    const mayMove = meaning === 'ceiling' || spelling.size !== undefined;
    if (alike.length > 0) mergeCounts(edit, alike, spelling[meaning] ?? NOTHING, mayMove);
  }
  const size = spelling.size && sizeFromMembers(body);
  if (size) {
    edit.set(['size'], size.value);
    for (const name of size.from) edit.remove([name]);
  }
  for (const { path, meaning, value } of found) {
    if (size?.from.includes(path.join('.'))) continue;
    const isOwn = ownNames(spelling, meaning).includes(path.join('.'));
    if (meaning === 'tier' && !(isOwn && isPlainTier(value))) {
      const why = isPlainTier(value) ? 'the model has no such member' : 'its price is not the one that is held for';
      edit.drop(path, why);
    } else if (!isOwn && !isCounted(meaning)) edit.drop(path, WHY_DROPPED[meaning]);
  }
  return { members: edit.members, warnings: edit.warnings };
}

/**
 * Keeps the smallest count. It stays in place if its member is the format's own; otherwise it moves to the first own
 * member.
 */
function mergeCounts(edit: Edit, alike: readonly MoneyMember[], own: readonly string[], mayMove: boolean): void {
  const isOwn = ({ path }: MoneyMember) => own.includes(path.join('.'));
  const name = mayMove || alike.some(isOwn) ? edit.placeAmong(own) : undefined;
  const counts = alike.filter(({ value }) => isCount(value));
  const least = counts.reduce((sum, { value }) => Math.min(sum, value as number), Number.POSITIVE_INFINITY);
  const lowest = counts.filter((one) => isOwn(one) && one.value === least);
  const kept = lowest.find(({ path }) => path.join('.') === name) ?? lowest[0];
  const lower = kept ?? counts.find(({ value }) => value === least);
  for (const one of alike) {
    if (one === kept) continue;
    // Wrong values of own members are reported by the format's own checks.
    if (isOwn(one) && !isCount(one.value)) continue;
    if (name === undefined) edit.drop(one.path, 'the format has no such member');
    else if (!isCount(one.value)) edit.drop(one.path, 'it is no count');
    else if (one.value !== least) edit.drop(one.path, `\`${lower?.path.join('.')}\` asks for less`);
    else edit.remove(one.path);
  }
  if (!kept && name !== undefined && counts.length > 0) edit.set(name.split('.'), least);
}

function isCount(value: Json): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/** Collects changes inside top-level members. A member is copied before its first change. */
class Edit {
  readonly members: Respelled['members'] = {};
  readonly warnings: string[] = [];
  readonly #body: JsonObject;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  /** Of the format's spellings, returns the first whose parent object exists, or the first of all. */
  placeAmong(own: readonly string[]): string | undefined {
    const isThere = (name: string) => name.includes('.') && isObject(this.#body[name.slice(0, name.indexOf('.'))]);
    return own.find(isThere) ?? own[0];
  }

  drop(path: readonly string[], why: string): void {
    this.remove(path);
    this.warnings.push(`\`${path.join('.')}\` was dropped: ${why}.`);
  }

  remove(path: readonly string[]): void {
    const [top = '', ...inner] = path;
    const last = inner.pop();
    if (last === undefined) this.members[top] = undefined;
    else {
      const at = this.#objectAt(top, inner);
      delete at[last];
    }
  }

  set(path: readonly string[], value: number | string): void {
    const [top = '', ...inner] = path;
    const last = inner.pop();
    if (last === undefined) this.members[top] = value;
    else this.#objectAt(top, inner)[last] = value;
  }

  #objectAt(top: string, inner: readonly string[]): JsonObject {
    if (!(top in this.members)) this.members[top] = structuredClone(this.#body[top] ?? {});
    let at = this.members[top] as JsonObject;
    for (const name of inner) {
      if (!isObject(at[name])) at[name] = {};
      at = at[name];
    }
    return at;
  }
}
