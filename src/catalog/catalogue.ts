/** The catalogue form (modelport.yaml, admin API, price list) and its parser. */
import type { Kind } from '../canonical/call.ts';
import { CAPTURE_MODES } from '../canonical/capture-mode.ts';
import { FALLBACK_REASONS, type FallbackReason, GatewayError } from '../canonical/errors.ts';
import { isObject, type JsonObject } from '../canonical/json.ts';
import type { Price } from '../canonical/price.ts';
import { DATA_POLICIES, INPUTS } from '../routing/needs.ts';
import { STRATEGIES } from '../routing/order.ts';
import type { FallbackRow, ModelRow, ProviderRow, TargetRow } from '../store/catalog-rows.ts';
import { FallbackForm, ModelForm, ProviderForm, TargetForm } from './catalogue-schema.ts';
import { isWildcard } from './names.ts';
import { readPeoplesPrice, writeComponents } from './price-text.ts';

/** The form before validation. */
export interface CatalogueForm {
  providers?: unknown;
  models?: unknown;
}

/** A model in the form, without the members that are set in the database (price version, creation time). */
export type ModelEntry = Omit<ModelRow, 'priceId' | 'createdAt' | 'ownedBy' | 'onDisconnect'> & {
  kind: Kind;
  price: Price;
  ownedBy?: string;
  onDisconnect?: ModelRow['onDisconnect'];
};

/** A provider in the form. Without `credentials` it keeps the stored ones. */
export type ProviderEntry = Omit<ProviderRow, 'credentials'> & { credentials?: string[] };

/** The content of `modelport.yaml`, checked and in the form of database rows. */
export interface Catalogue {
  providers: ProviderEntry[];
  models: ModelEntry[];
}

/** For each kind, sets of components of which a price needs one: otherwise a part of the call would be free by mistake. */
const CHARGED: { readonly [kind in Kind]: readonly (readonly (keyof Price)[])[] } = {
  chat: [['input', 'output'], ['perCall']],
  embed: [['input'], ['perCharacter'], ['perCall']],
  rerank: [['input'], ['perCall']],
  image: [['perImage'], ['perCall'], ['input', 'output'], ['input', 'imageOutput']],
  speech: [['perCharacter'], ['perSecond'], ['perCall'], ['input', 'output'], ['input', 'audioOutput']],
  transcription: [['perSecond'], ['perCall'], ['input', 'output'], ['audioInput', 'output']],
  moderation: [['perCall'], ['input']],
  video: [['perSecond'], ['perCall'], ['output']],
};
const KINDS = Object.keys(CHARGED);
/** Components whose name in the form includes the unit. */
const PEOPLES_NAME: { readonly [component: string]: string } = { perCharacter: 'perMillionCharacters' };

const PROVIDER_MEMBERS = Object.keys(ProviderForm.properties);
const MODEL_MEMBERS = Object.keys(ModelForm.properties);
const TARGET_MEMBERS = Object.keys(TargetForm.properties);
const FALLBACK_MEMBERS = Object.keys(FallbackForm.properties);

/** Parses the form. Throws GatewayError `invalid_request` with the entry and member. */
export function readCatalogue(form: CatalogueForm): Catalogue {
  const providers = readList(form.providers, 'providers').map((entry, i) => readProvider(entry, `providers[${i}]`));
  const models = readList(form.models, 'models').map((entry, i) => readModel(entry, `models[${i}]`));
  refuseTwins(providers, 'providers');
  refuseTwins(models, 'models');
  return { providers, models };
}

/** An `invalid_request` that names the member. */
export function refuse(param: string, message: string): never {
  throw new GatewayError('invalid_request', `${message}.`, { param });
}

function readProvider(entry: unknown, path: string): ProviderEntry {
  const provider = readObject(entry, path, PROVIDER_MEMBERS);
  const baseUrl = readOptionalText(provider.baseUrl, `${path}.baseUrl`);
  if (baseUrl !== undefined && !isWebAddress(baseUrl)) {
    refuse(`${path}.baseUrl`, `${path}.baseUrl must be an http or https URL such as https://api.example.com/v1`);
  }
  const credentials = readCredentials(provider, path);
  const concurrency = readOptionalCount(provider.concurrency, `${path}.concurrency`);
  const tokensPerMinute = readOptionalCount(provider.tokensPerMinute, `${path}.tokensPerMinute`);
  const queueMs = readOptionalWhole(provider.queueMs, `${path}.queueMs`);
  return {
    name: readName(provider.name, `${path}.name`),
    type: readName(provider.type, `${path}.type`),
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/\/+$/, '') }),
    ...(credentials && { credentials }),
    settings: readSettings(provider.settings, `${path}.settings`),
    ...(concurrency !== undefined && { concurrency }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(queueMs !== undefined && { queueMs }),
  };
}

/** An empty list removes the stored credentials. */
function readCredentials(provider: JsonObject, path: string): string[] | undefined {
  const { credential, credentials } = provider;
  if (credential != null && credentials != null) {
    refuse(`${path}.credentials`, `${path} must have either credential or credentials, not both`);
  }
  if (credential != null) return [readCredential(credential, `${path}.credential`)];
  if (credentials == null) return undefined;
  return readList(credentials, `${path}.credentials`).map((one, i) => readCredential(one, `${path}.credentials[${i}]`));
}

/** A word, or JSON, which some providers use as keys. */
function readCredential(value: unknown, path: string): string {
  const text = readText(value, path);
  return text.startsWith('{') ? text : readName(text, path);
}

function readSettings(value: unknown, path: string): { [name: string]: string } {
  if (value == null) return {};
  if (!isObject(value)) return refuse(path, `${path} must be an object of strings such as { region: us-east-1 }`);
  const settings: { [name: string]: string } = {};
  for (const [name, setting] of Object.entries(value)) {
    if (typeof setting === 'object') refuse(`${path}.${name}`, `${path}.${name} must be a string`);
    settings[name] = String(setting);
    // It becomes a part of the provider's host name.
    if (/^(region|location)$/.test(name) && !/^[\w-]+$/.test(settings[name]))
      refuse(`${path}.${name}`, `${path}.${name} must be a name such as us-east-1`);
  }
  return settings;
}

function readModel(entry: unknown, path: string): ModelEntry {
  const model = readObject(entry, path, MODEL_MEMBERS);
  const name = readModelName(model.name, `${path}.name`);
  const aliases = readAliases(model.aliases, name, `${path}.aliases`);
  const fallbacks = readFallbacks(model.fallbacks, name, `${path}.fallbacks`);
  const kind = readWord(model.kind ?? 'chat', KINDS, `${path}.kind`) as Kind;
  const maxOutputTokens = readOptionalCount(model.maxOutputTokens, `${path}.maxOutputTokens`);
  const contextTokens = readOptionalCount(model.contextTokens, `${path}.contextTokens`);
  const maxImages = readOptionalCount(model.maxImages, `${path}.maxImages`);
  const displayName = readOptionalText(model.displayName, `${path}.displayName`);
  const ownedBy = readOptionalText(model.ownedBy, `${path}.ownedBy`);
  const onDisconnect = readOptionalWord(model.onDisconnect, ['abort', 'drain'] as const, `${path}.onDisconnect`);
  return {
    name,
    ...(aliases && { aliases }),
    ...(fallbacks && { fallbacks }),
    kind,
    price: readModelPrice(model.price, kind, name, `${path}.price`),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(maxImages !== undefined && { maxImages }),
    ...(displayName !== undefined && { displayName }),
    ...(ownedBy !== undefined && { ownedBy }),
    ...(onDisconnect !== undefined && { onDisconnect }),
    ...readContinuation(model.continuation, kind, `${path}.continuation`),
    targets: readTargets(model.targets, name, `${path}.targets`),
    ...readRouting(model, path),
  };
}

/** `off`, which YAML may read as `false`, is the absence of the setting. */
function readContinuation(value: unknown, kind: Kind, path: string): Pick<ModelEntry, 'continuation'> {
  if (value === false) return {};
  const word = readOptionalWord(value, ['off', 'buffer', 'prefill'] as const, path);
  if (word === undefined || word === 'off') return {};
  if (kind !== 'chat') refuse(path, `${path} is for models of the kind chat`);
  return { continuation: word };
}

/** Tries beyond these would keep a caller waiting for nothing. */
const MOST_RETRIES = 10;

function readRouting(
  model: JsonObject,
  path: string,
): Pick<ModelEntry, 'strategy' | 'retries' | 'affinity' | 'firstTokenMs' | 'hedge' | 'capture'> {
  const strategy = readOptionalWord(model.strategy, STRATEGIES, `${path}.strategy`);
  const retries = readOptionalWhole(model.retries, `${path}.retries`, MOST_RETRIES);
  const affinity = readOptionalWord(onOrOff(model.affinity), ['on', 'off'] as const, `${path}.affinity`);
  const firstTokenMs = readOptionalCount(model.firstTokenMs, `${path}.firstTokenMs`);
  const hedge = readOptionalWord(onOrOff(model.hedge), ['on', 'off'] as const, `${path}.hedge`);
  const capture = readOptionalWord(model.capture, CAPTURE_MODES, `${path}.capture`);
  return {
    ...(strategy !== undefined && { strategy }),
    ...(retries !== undefined && { retries }),
    ...(affinity !== undefined && { affinity }),
    ...(firstTokenMs !== undefined && { firstTokenMs }),
    ...(hedge === 'on' && { hedge }),
    ...(capture !== undefined && capture !== 'none' && { capture }),
  };
}

/** YAML reads `on` and `off` as booleans, depending on its version. */
const onOrOff = (value: unknown): unknown => (value === true ? 'on' : value === false ? 'off' : value);

/** Throws `invalid_request` where the price lacks what a model of this kind is charged by. */
export function readModelPrice(value: unknown, kind: Kind, model: string, path: string): Price {
  if (value == null) {
    return refuse(
      path,
      `${path} is missing: the model "${model}" needs a price, { input: 0, output: 0 } if it is free`,
    );
  }
  const read = readPeoplesPrice(value, path);
  if ('fault' in read) return refuse(read.param, read.fault);
  const { price } = read;
  const charged = CHARGED[kind].some((components) => components.every((component) => price[component] !== undefined));
  if (charged) return price;
  const ways = CHARGED[kind].map((set) => set.map((component) => PEOPLES_NAME[component] ?? component).join(' and '));
  return refuse(path, `${path} must have ${ways.join(', or ')}, since the model "${model}" is of kind ${kind}`);
}

function readTargets(value: unknown, model: string, path: string): TargetRow[] {
  const entries = readList(value, path);
  if (entries.length === 0) refuse(path, `${path} must list at least one target such as { provider: main-openai }`);
  const targets = entries.map((entry, i) => readTarget(entry, model, `${path}[${i}]`));
  for (const [i, { provider, model: upstream }] of targets.entries()) {
    const first = targets.findIndex((other) => other.provider === provider && other.model === upstream);
    if (first !== i) refuse(`${path}[${i}]`, `${path}[${i}] names the same provider and model as ${path}[${first}]`);
  }
  return targets;
}

function readTarget(entry: unknown, model: string, path: string): TargetRow {
  const target = readObject(entry, path, TARGET_MEMBERS);
  const { priority = 0, weight = 1 } = target;
  if (!Number.isSafeInteger(priority))
    refuse(`${path}.priority`, `${path}.priority must be an integer; lower is tried first`);
  if (typeof weight !== 'number' || !(weight >= 0) || weight === Number.POSITIVE_INFINITY) {
    refuse(`${path}.weight`, `${path}.weight must be a number, zero or more`);
  }
  return {
    provider: readName(target.provider, `${path}.provider`),
    model: readTargetModel(target.model, model, `${path}.model`),
    priority: priority as number,
    weight: weight as number,
    ...readCapabilities(target, path),
  };
}

function readTargetModel(value: unknown, model: string, path: string): string {
  const upstream = readOptionalText(value, path) ?? (isWildcard(model) ? '*' : model);
  const stars = upstream.split('*').length - 1;
  if (stars > 0 && !isWildcard(model))
    refuse(path, `${path} has a *, which stands for what the name of the model has in its place: "${model}" has none`);
  if (stars > 1) refuse(path, `${path} must have one * at most`);
  return upstream;
}

/** A `*` stands at the end. */
function readModelName(value: unknown, path: string): string {
  const name = readName(value, path);
  if (!name.slice(0, -1).includes('*')) return name;
  return refuse(path, `${path} may have one *, at its end: "claude-*" stands for all names that begin with claude-`);
}

function readAliases(value: unknown, model: string, path: string): string[] | undefined {
  const aliases = readList(value, path).map((alias, i) => readName(alias, `${path}[${i}]`));
  for (const [i, alias] of aliases.entries()) {
    const at = `${path}[${i}]`;
    if (alias.includes('*')) refuse(at, `${at} must have no *: give a model such a name instead of an alias`);
    if (alias === model) refuse(at, `${at} is the name of the model itself`);
    const first = aliases.indexOf(alias);
    if (first !== i) refuse(at, `${at} is the same as ${path}[${first}]`);
  }
  return aliases.length > 0 ? aliases : undefined;
}

/** Each costs a reservation of money, and time where it fails. */
const MOST_FALLBACKS = 8;
/** A filtered prompt is sent to another provider only if the operator configures it. */
const USUAL_REASONS: readonly FallbackReason[] = ['context_length', 'unavailable'];

function readFallbacks(value: unknown, model: string, path: string): FallbackRow[] | undefined {
  const entries = readList(value, path);
  if (entries.length > MOST_FALLBACKS) refuse(path, `${path} may list ${MOST_FALLBACKS} models at most`);
  const fallbacks = entries.map((entry, i): FallbackRow => {
    const at = `${path}[${i}]`;
    const fallback = readObject(entry, at, FALLBACK_MEMBERS);
    const name = readName(fallback.model, `${at}.model`);
    if (name.includes('*')) refuse(`${at}.model`, `${at}.model must name one model, without a *`);
    if (name === model) refuse(`${at}.model`, `${at}.model is the model itself`);
    const reasons = readList(fallback.on ?? USUAL_REASONS, `${at}.on`);
    if (reasons.length === 0) refuse(`${at}.on`, `${at}.on must list at least one of ${FALLBACK_REASONS.join(', ')}`);
    return { model: name, on: reasons.map((reason, j) => readWord(reason, FALLBACK_REASONS, `${at}.on[${j}]`)) };
  });
  for (const [i, { model: name }] of fallbacks.entries()) {
    const first = fallbacks.findIndex((other) => other.model === name);
    if (first !== i) refuse(`${path}[${i}].model`, `${path}[${i}].model is the same as ${path}[${first}].model`);
  }
  return fallbacks.length > 0 ? fallbacks : undefined;
}

function readCapabilities(
  target: JsonObject,
  path: string,
): Pick<TargetRow, 'cost' | 'inputs' | 'tools' | 'structuredOutput' | 'contextTokens' | 'dataPolicy'> {
  const cost = readOptionalCost(target.cost, `${path}.cost`);
  const tools = readOptionalFlag(target.tools, `${path}.tools`);
  const structuredOutput = readOptionalFlag(target.structuredOutput, `${path}.structuredOutput`);
  const contextTokens = readOptionalCount(target.contextTokens, `${path}.contextTokens`);
  const dataPolicy = readOptionalWord(target.dataPolicy, DATA_POLICIES, `${path}.dataPolicy`);
  return {
    ...(cost !== undefined && { cost }),
    ...(target.inputs != null && {
      inputs: readList(target.inputs, `${path}.inputs`).map((one, i) => readWord(one, INPUTS, `${path}.inputs[${i}]`)),
    }),
    ...(tools !== undefined && { tools }),
    ...(structuredOutput !== undefined && { structuredOutput }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(dataPolicy !== undefined && { dataPolicy }),
  };
}

function readOptionalCost(value: unknown, path: string): string | undefined {
  if (value == null) return undefined;
  const read = readPeoplesPrice(value, path);
  return 'fault' in read ? refuse(read.param, read.fault) : writeComponents(read.price);
}

function readOptionalFlag(value: unknown, path: string): boolean | undefined {
  if (value == null) return undefined;
  return typeof value === 'boolean' ? value : refuse(path, `${path} must be true or false`);
}

function readObject(value: unknown, path: string, members: readonly string[]): JsonObject {
  if (!isObject(value)) return refuse(path, `${path} must be an object with the members ${members.join(', ')}`);
  for (const member of Object.keys(value)) {
    const param = `${path}.${member}`;
    if (!members.includes(member)) refuse(param, `${param} is not known: the members are ${members.join(', ')}`);
  }
  return value;
}

function readList(value: unknown, path: string): unknown[] {
  if (value == null) return [];
  return Array.isArray(value) ? value : refuse(path, `${path} must be a list`);
}

function readName(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '' && !/[\s\p{Cc}]/u.test(value)) return value;
  return refuse(path, `${path} must be a string without spaces`);
}

function readText(value: unknown, path: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  return refuse(path, `${path} must be a string that is not empty`);
}

function readOptionalText(value: unknown, path: string): string | undefined {
  return value == null ? undefined : readText(value, path);
}

function readOptionalCount(value: unknown, path: string): number | undefined {
  if (value == null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  return refuse(path, `${path} must be a whole number above zero`);
}

function readOptionalWhole(value: unknown, path: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value == null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number;
  const range = most === Number.MAX_SAFE_INTEGER ? 'zero or more' : `from 0 to ${most}`;
  return refuse(path, `${path} must be a whole number, ${range}`);
}

function readWord<W extends string>(value: unknown, words: readonly W[], path: string): W {
  const word = words.find((known) => known === value);
  return word ?? refuse(path, `${path} must be one of ${words.join(', ')}`);
}

function readOptionalWord<W extends string>(value: unknown, words: readonly W[], path: string): W | undefined {
  return value == null ? undefined : readWord(value, words, path);
}

function refuseTwins(entries: readonly { name: string }[], list: string): void {
  const seen = new Map<string, number>();
  for (const [i, { name }] of entries.entries()) {
    const first = seen.get(name);
    if (first !== undefined)
      refuse(`${list}[${i}].name`, `${list}[${i}].name is the same as ${list}[${first}].name: "${name}"`);
    seen.set(name, i);
  }
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:';
}
