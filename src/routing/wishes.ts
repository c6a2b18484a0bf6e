/** What a caller wishes of the providers, in OpenRouter's words (https://openrouter.ai/docs/features/provider-routing). Pure. */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';

/** Values of `provider.sort`. */
const SORTS = ['price', 'throughput', 'latency'] as const;
export type Sort = (typeof SORTS)[number];

/** In USD: of a million tokens (those of audio input too), of a request, of an image. */
export interface MaxPrice {
  prompt?: number;
  completion?: number;
  request?: number;
  image?: number;
  audio?: number;
}

/** The checked members of `provider`. An absent member restricts nothing. */
export interface Wishes {
  /** Providers by name or type, in lower case: these first, only these, all but these. */
  order?: readonly string[];
  only?: readonly string[];
  ignore?: readonly string[];
  /** `false`: none besides those in `order`, or besides the first. */
  allowFallbacks: boolean;
  /** The provider must support every parameter of the request. */
  requireParameters: boolean;
  sort?: Sort;
  maxPrice?: MaxPrice;
  /** What providers may do with prompts: keep them for a while, or not at all. */
  dataPolicy?: 'retained' | 'none';
  quantizations?: readonly string[];
  /** The member as the caller wrote it, for a provider that understands it too. */
  raw?: JsonObject;
}

/** Members of `provider` that are read. */
const MEMBERS = [
  'order',
  'only',
  'ignore',
  'allow_fallbacks',
  'require_parameters',
  'sort',
  'max_price',
  'data_collection',
  'zdr',
  'quantizations',
];
/** Preferences among OpenRouter's own hosts: nothing is measured here that they could mean, and nothing is left out for them. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'preferred_min_throughput',
  'preferred_max_latency',
  'experimental',
]);
const PRICES = ['prompt', 'completion', 'request', 'image', 'audio'] as const;
const MOST_NAMES = 50;

/** Reads the member `provider` of a request. Throws `invalid_request` naming what is wrong in it. */
export function readWishes(value: Json): Wishes {
  if (!isObject(value)) return wrong('provider', 'must be an object such as {"order": ["anthropic"]}');
  for (const member of Object.keys(value)) {
    if (MEMBERS.includes(member) || WITHOUT_EFFECT.has(member)) continue;
    wrong(`provider.${member}`, `is not known: the members are ${MEMBERS.join(', ')}`);
  }
  const order = readNames(value.order, 'provider.order');
  const only = readNames(value.only, 'provider.only');
  const ignore = readNames(value.ignore, 'provider.ignore');
  const sort = readSort(value.sort);
  const maxPrice = readMaxPrice(value.max_price);
  const dataPolicy = readDataPolicy(value.data_collection, value.zdr);
  const quantizations = readNames(value.quantizations, 'provider.quantizations');
  return {
    ...(order && { order }),
    ...(only && { only }),
    ...(ignore && { ignore }),
    allowFallbacks: readFlag(value.allow_fallbacks, 'provider.allow_fallbacks') ?? true,
    requireParameters: readFlag(value.require_parameters, 'provider.require_parameters') ?? false,
    ...(sort && { sort }),
    ...(maxPrice && { maxPrice }),
    ...(dataPolicy && { dataPolicy }),
    ...(quantizations && { quantizations }),
    raw: value,
  };
}

/** Reads the member `models` of a request. */
export function readModels(value: Json): readonly string[] {
  if (!Array.isArray(value) || value.length > MOST_MODELS)
    return wrong('models', `must be a list of at most ${MOST_MODELS} model names`);
  return value.map((name, i) => {
    if (typeof name === 'string' && name !== '') return name;
    return wrong(`models[${i}]`, 'must be the name of a model');
  });
}

/** As many fallbacks as an operator can configure. */
const MOST_MODELS = 9;

/** Suffixes of a model's name, and the order they ask for. */
const SUFFIXES: { readonly [suffix: string]: Sort } = { ':nitro': 'throughput', ':floor': 'price' };

/** A name without its suffix, and the suffix's meaning; `undefined` if it has none. */
export function suffixOf(name: string): { name: string; sort: Sort } | undefined {
  const at = name.lastIndexOf(':');
  const sort = at > 0 ? SUFFIXES[name.slice(at)] : undefined;
  return sort && { name: name.slice(0, at), sort };
}

interface Wished {
  readonly provider: string;
  readonly type: string;
  readonly settings: { readonly [name: string]: string };
  readonly priority: number;
  /** Its configured properties: without a stated policy the least strict one is assumed. */
  readonly capabilities?: { readonly dataPolicy?: string };
}

/** The targets that the wishes leave, with the priority that they give them, by priority. */
export function wishedTargets<T extends Wished>(targets: readonly T[], wishes: Wishes): T[] {
  const { order, only, ignore, quantizations, dataPolicy, allowFallbacks, sort } = wishes;
  const left: T[] = [];
  for (const target of targets) {
    const place = order ? order.findIndex((name) => isNamed(target, name)) : -1;
    if (order && place < 0 && !allowFallbacks && !isPassedOn(target)) continue;
    if (only && !only.some((name) => isNamed(target, name)) && !isPassedOn(target)) continue;
    if (ignore?.some((name) => isNamed(target, name))) continue;
    if (quantizations && !quantizations.includes(target.settings.quantization ?? 'unknown') && !isPassedOn(target))
      continue;
    if (dataPolicy && !isAsStrict(target.capabilities?.dataPolicy, dataPolicy)) continue;
    const own = sort ? 0 : target.priority;
    const priority = place >= 0 ? place - (order?.length ?? 0) + LEAST_PRIORITY : own;
    left.push(priority === target.priority ? target : { ...target, priority });
  }
  return left.sort((a, b) => a.priority - b.priority);
}

/** Below every priority that an operator can give. */
const LEAST_PRIORITY = Number.MIN_SAFE_INTEGER + MOST_NAMES;

/** Whether the provider is sent the caller's wishes as its own: names that are not ours may be those of its hosts. */
export function isPassedOn({ settings }: Pick<Wished, 'settings'>): boolean {
  return settings.callerRouting === 'pass';
}

function isAsStrict(policy: string | undefined, accepted: 'retained' | 'none'): boolean {
  return policy === 'none' || policy === accepted;
}

/** By the name of the provider or the slug of its type. */
function isNamed({ provider, type }: Wished, name: string): boolean {
  return provider.toLowerCase() === name || type === name;
}

function readNames(value: Json | undefined, path: string): readonly string[] | undefined {
  if (value == null) return undefined;
  if (!Array.isArray(value) || value.length > MOST_NAMES)
    return wrong(path, `must be a list of at most ${MOST_NAMES} names`);
  const names = value.map((name, i) =>
    typeof name === 'string' && name !== '' ? name.toLowerCase() : wrong(`${path}[${i}]`, 'must be a name'),
  );
  return names.length > 0 ? names : undefined;
}

function readFlag(value: Json | undefined, path: string): boolean | undefined {
  if (value == null) return undefined;
  return typeof value === 'boolean' ? value : wrong(path, 'must be true or false');
}

/** A word, or `{by}`. */
function readSort(value: Json | undefined): Sort | undefined {
  if (value == null) return undefined;
  const word = isObject(value) ? value.by : value;
  const path = isObject(value) ? 'provider.sort.by' : 'provider.sort';
  return SORTS.find((sort) => sort === word) ?? wrong(path, `must be one of ${SORTS.join(', ')}`);
}

function readMaxPrice(value: Json | undefined): MaxPrice | undefined {
  if (value == null) return undefined;
  if (!isObject(value)) return wrong('provider.max_price', 'must be an object such as {"prompt": 1, "completion": 2}');
  const price: MaxPrice = {};
  for (const [member, written] of Object.entries(value)) {
    const path = `provider.max_price.${member}`;
    const name =
      PRICES.find((one) => one === member) ?? wrong(path, `is not known: the members are ${PRICES.join(', ')}`);
    const amount = typeof written === 'string' && written.trim() !== '' ? Number(written) : written;
    if (typeof amount !== 'number' || !(amount >= 0)) wrong(path, 'must be an amount in USD');
    else price[name] = amount;
  }
  return price;
}

function readDataPolicy(collection: Json | undefined, zdr: Json | undefined): Wishes['dataPolicy'] {
  if (collection != null && collection !== 'allow' && collection !== 'deny')
    wrong('provider.data_collection', 'must be allow or deny');
  if (readFlag(zdr, 'provider.zdr')) return 'none';
  return collection === 'deny' ? 'retained' : undefined;
}

function wrong(param: string, what: string): never {
  throw new GatewayError('invalid_request', `\`${param}\` ${what}.`, { param });
}
