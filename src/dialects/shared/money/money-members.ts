/**
 * Members of a request that decide what it can cost, in every spelling a provider may read. A client's body is brought to one
 * spelling and one value of each before anything is read from it, held for it or sent: two ceilings beside each other would
 * be held for by the one and answered by the other.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { patchMembers } from '../../wire/json.ts';
import { patchedMembers } from '../adjust-members.ts';
import { repeatingSettings } from './repeated-members.ts';

/** Ceiling: tokens of an answer. Choices: answers. Tries: answers of which the best are given. */
type Counted = 'ceiling' | 'choices' | 'tries';
/** Size: of an image, otherwise than by the format's own word. Set: several images for one. Copy: of what the model reads. */
type Meaning = Counted | 'tier' | 'model' | 'size' | 'set' | 'copy';

/** How a format says what money hangs on. Names are paths (`generationConfig.maxOutputTokens`), the one to write first. */
export interface MoneySpelling {
  readonly ceiling?: readonly string[];
  readonly choices?: readonly string[];
  readonly tries?: readonly string[];
  readonly tier?: readonly string[];
  readonly model?: readonly string[];
  /** Present: the request is for images, whose counts and sizes have words of their own. */
  readonly size?: readonly string[];
  /** What is charged for by its length, where it is not told from the whole body: no other spelling of these is passed on. */
  readonly read?: readonly string[];
  /** Members at the top that hold what the model reads, or a schema: nothing in them is a setting. */
  readonly content: ReadonlySet<string>;
}

/** Names as `folded` makes them. */
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

/** Words that mean money where images are asked for. */
const IMAGE_MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...MEANINGS,
  ...each('size', ['size', 'imagesize', 'width', 'height', 'resolution', 'imageresolution', 'sampleimagesize']),
  ...each('size', ['megapixels', 'outputsize', 'upscale', 'hd', 'quality', 'aspectratio']),
  ...each('set', ['sequentialimagegeneration', 'multipleimages']),
]);

function each(meaning: Meaning, names: readonly string[]): [string, Meaning][] {
  return names.map((name) => [name, meaning]);
}

/** Objects that hold no settings wherever they stand; a budget for thinking stands within the ceiling. */
const OPAQUE: ReadonlySet<string> = new Set([
  ...['metadata', 'labels', 'reasoning', 'thinking', 'thinkingconfig', 'schema', 'jsonschema', 'responseschema'],
  ...['responsejsonschema', 'responseformat', 'guidedjson', 'structuredoutputs', 'logitbias', 'outputconfig'],
]);

/** Tiers that cost no more than the one a price is of. */
const PLAIN_TIERS: ReadonlySet<string> = new Set([
  ...['', 'auto', 'default', 'standard', 'standardonly', 'unspecified', 'flex', 'batch', 'ondemand', 'scale', 'none'],
  ...['normal', 'slow'],
]);

const NOTHING: readonly string[] = [];
const MAX_DEPTH = 32;
const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, Meaning | undefined>();
const rememberedOfImages = new Map<string, Meaning | undefined>();

/** One name for all spellings of it: some servers read members without regard to case, and of Unicode's letters too. */
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

interface Found {
  path: readonly string[];
  meaning: Meaning;
  value: Json;
}

/** What of a body is to be changed, and what of it no provider is told any more (a sentence each). */
export interface Respelled {
  members: { [member: string]: Json | undefined };
  warnings: string[];
}

/** A client's body with one spelling of all that money hangs on, and what was left out of it for that. */
export interface Billable {
  body: Readonly<JsonObject>;
  bytes: Uint8Array;
  /** Absent: nothing. */
  dropped?: readonly string[];
}

/** The body as it is to be read, held for and sent; mostly as it came. `parsed` is what `bytes` hold. */
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

/** Nearly every stream has it, with a flag or two. */
const HARMLESS = 'stream_options';

/** Members at the top that hold settings, in which one may stand twice; nothing where there are none. */
function settingsOf(body: JsonObject, { content }: MoneySpelling): string[] | undefined {
  let names: string[] | undefined;
  for (const name in body) {
    if (typeof body[name] !== 'object' || name === HARMLESS || content.has(name)) continue;
    if (isObject(body[name]) && !OPAQUE.has(folded(name))) names = names ? [...names, name] : [name];
  }
  return names;
}

/** Nothing where the body says each in one way: the common case. */
export function respelled(body: JsonObject, spelling: MoneySpelling): Respelled | undefined {
  let found: Found[] | undefined;
  const ofImages = spelling.size !== undefined;
  for (const name in body) {
    const value = body[name] ?? null;
    const meaning = meaningOf(name, ofImages);
    if (meaning !== undefined && isTold(meaning, value)) {
      if (!isObject(value)) found = add(found, { path: [name], meaning, value });
    } else if (spelling.read && isCopy(name, spelling.read))
      found = add(found, { path: [name], meaning: 'copy', value });
    else if (isObject(value) && !spelling.content.has(name)) found = search(value, [name], ofImages, found);
  }
  if (!found || isPlain(found, spelling)) return undefined;
  return merged(body, found, spelling);
}

function isCopy(name: string, read: readonly string[]): boolean {
  return !read.includes(name) && read.some((one) => folded(one) === folded(name));
}

function add(found: Found[] | undefined, one: Found): Found[] {
  if (!found) return [one];
  found.push(one);
  return found;
}

function search(
  object: JsonObject,
  path: string[],
  ofImages: boolean,
  found: Found[] | undefined,
): Found[] | undefined {
  if (OPAQUE.has(folded(path.at(-1) ?? '')) || path.length > MAX_DEPTH) return found;
  let all = found;
  for (const name in object) {
    const value = object[name] ?? null;
    const meaning = meaningOf(name, ofImages);
    if (isObject(value)) all = search(value, [...path, name], ofImages, all);
    else if (meaning !== undefined && isTold(meaning, value) && isRead(meaning, path))
      all = add(all, { path: [...path, name], meaning, value });
  }
  return all;
}

/** A model has its name in many places that choose no other (of an audio file, of a plugin): only what is merged into the body does. */
function isRead(meaning: Meaning, [first = '']: readonly string[]): boolean {
  return meaning !== 'model' || folded(first) === 'extrabody';
}

/** Whether the value can be what the name says: a number, or what reads as one. */
function isTold(meaning: Meaning, value: Json): boolean {
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

/** Whether every member found is the format's own, and alone of its meaning. */
function isPlain(found: readonly Found[], spelling: MoneySpelling): boolean {
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

function isCounted(meaning: Meaning): meaning is Counted {
  return meaning === 'ceiling' || meaning === 'choices' || meaning === 'tries';
}

function isPlainTier(value: Json): boolean {
  return PLAIN_TIERS.has(folded(String(value)).replace(/^servicetier/, ''));
}

/** The size of an image, where it is said in providers' words alone; `from`: those. */
function sizeSaid({ size, image_size: own, width, height }: JsonObject): { said: string; from: string[] } | undefined {
  if (size !== undefined && size !== null) return undefined;
  if (typeof own === 'string') return { said: own, from: ['image_size'] };
  if (typeof width !== 'number' || typeof height !== 'number') return undefined;
  return { said: `${width}x${height}`, from: ['width', 'height'] };
}

const WHY_DROPPED = {
  tier: 'the model has no such member',
  model: 'which model answers is settled by `model` alone',
  size: '`size` says how large an image is',
  set: '`n` says how many images are made',
  copy: 'the format has no such member',
} as const satisfies Record<Exclude<Meaning, Counted>, string>;

function merged(body: JsonObject, found: readonly Found[], spelling: MoneySpelling): Respelled {
  const edit = new Edit(body);
  for (const meaning of ['ceiling', 'choices', 'tries'] as const) {
    const told = found.filter((one) => one.meaning === meaning);
    // In a conversation `n` stands for a word that a text has elsewhere only where it is there itself.
    const mayMove = meaning === 'ceiling' || spelling.size !== undefined;
    if (told.length > 0) mergeCounts(edit, told, spelling[meaning] ?? NOTHING, mayMove);
  }
  const size = spelling.size && sizeSaid(body);
  if (size) {
    edit.set(['size'], size.said);
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

/** The smallest counts; it stays where it stands if that is the format's own member, else it takes the first of those. */
function mergeCounts(edit: Edit, told: readonly Found[], own: readonly string[], mayMove: boolean): void {
  const isOwn = ({ path }: Found) => own.includes(path.join('.'));
  const name = mayMove || told.some(isOwn) ? edit.placeAmong(own) : undefined;
  const counts = told.filter(({ value }) => isCount(value));
  const least = counts.reduce((sum, { value }) => Math.min(sum, value as number), Number.POSITIVE_INFINITY);
  const lowest = counts.filter((one) => isOwn(one) && one.value === least);
  const kept = lowest.find(({ path }) => path.join('.') === name) ?? lowest[0];
  const lower = kept ?? counts.find(({ value }) => value === least);
  for (const one of told) {
    if (one === kept) continue;
    // The format's own checks name what is wrong with its own members.
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

/** Changes within members at the top, each of them copied before its first change. */
class Edit {
  readonly members: Respelled['members'] = {};
  readonly warnings: string[] = [];
  readonly #body: JsonObject;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  /** Of a format's words for one thing the first, or the first whose place is there already. */
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
