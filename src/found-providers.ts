/** Providers configured by environment or database: their catalogue entries, model lists, and probes. */
import type { Kind } from './canonical/call.ts';
import { asGatewayError, type GatewayError } from './canonical/errors.ts';
import { isObject } from './canonical/json.ts';
import type { ProviderDefaults } from './catalog/catalog.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import { listedCatalogue } from './catalog/price-list.ts';
import type { Probed } from './cli/cli-deps.ts';
import type { Config, EnvironmentProvider, ProviderVariables } from './config.ts';
import { createSigning } from './gateway/attempt/tokens.ts';
import { sandbox } from './providers/chat/sandbox.ts';
import { PROVIDERS, providerOf } from './providers/index.ts';
import type { Outgoing } from './providers/outgoing.ts';
import type { Provider } from './providers/provider.ts';
import { CONTEXT_TOKENS } from './sandbox/conversation.ts';
import { MOST_OUTPUT_TOKENS } from './sandbox/output.ts';
import type { ProviderRow } from './store/catalog-rows.ts';
import { Cancellation } from './transport/cancellation.ts';
import type { TimeLimits } from './transport/time-limits.ts';
import type { Transport } from './transport/transport.ts';

/** The start waits at most this long for a self-hosted server to list its models. */
const PROBE_LIMITS: TimeLimits = {
  connectMs: 2000,
  headersMs: 2000,
  firstTokenMs: 2000,
  silenceMs: 2000,
  wholeMs: 3000,
};
const LARGEST_LIST_BYTES = 4 << 20;
const LOCAL_PRICE = { input: 0, output: 0 };

/** The environment variables of all providers. */
export function providerVariables(): ProviderVariables[] {
  return [...PROVIDERS.values()].map((provider) => {
    const { name, credentialVariable, credentialVariables, baseUrlVariable, settingVariables } = provider;
    return {
      type: name,
      ...(credentialVariable && { credentialVariable }),
      ...(credentialVariables && { credentialVariables }),
      ...(baseUrlVariable && { baseUrlVariable }),
      ...(settingVariables && { settingVariables }),
    };
  });
}

/** The sandbox's models, with small prices that are not zero. */
export const SANDBOX_CATALOGUE: CatalogueForm = {
  providers: [{ name: 'sandbox', type: 'sandbox' }],
  models: [
    ...['sandbox-chat', 'sandbox-reasoner'].map((name) =>
      sandboxModel(name, 'chat', {
        price: { input: '0.10', cachedInput: '0.05', output: '0.40' },
        maxOutputTokens: MOST_OUTPUT_TOKENS,
        contextTokens: CONTEXT_TOKENS,
      }),
    ),
    sandboxModel('sandbox-image', 'image', { price: { perImage: '0.002' } }),
    sandboxModel('sandbox-embed', 'embed', { price: { input: '0.02' } }),
    sandboxModel('sandbox-speech', 'speech', { price: { perMillionCharacters: '1' } }),
    sandboxModel('sandbox-transcription', 'transcription', { price: { perSecond: '0.0001' } }),
    sandboxModel('sandbox-moderation', 'moderation', { price: { perCall: '0.0001' } }),
    sandboxModel('sandbox-video', 'video', { price: { perSecond: '0.001' } }),
    sandboxModel('sandbox-rerank', 'rerank', { price: { input: '0.02', perCall: '0.0001' } }),
  ],
};

function sandboxModel(name: string, kind: Kind, more: object) {
  return { name, kind, ownedBy: 'modelport', ...more, targets: [{ provider: 'sandbox', model: name }] };
}

/** Models of the providers in the environment, at list prices. Self-hosted servers list theirs, which cost nothing. */
export async function environmentCatalogue({ providers }: Config, transport: Transport): Promise<CatalogueForm> {
  const listed = listedCatalogue(providers.map(({ type }) => type));
  const own = await Promise.all(
    providers.map((configured) => (configured.baseUrl ? ownModels(configured, configured.baseUrl, transport) : [])),
  );
  return { ...listed, models: firstOfEachName([...listed.models, ...own.flat()]) };
}

/**
 * Two providers may have a model of the same name, and a self-hosted server any name: the first is used, and names with spaces are dropped.
 */
function firstOfEachName<M extends { name: string }>(models: readonly M[]): M[] {
  const byName = new Map<string, M>();
  for (const model of models) if (!/\s/.test(model.name) && !byName.has(model.name)) byName.set(model.name, model);
  return [...byName.values()];
}

async function ownModels(configured: EnvironmentProvider, baseUrl: string, transport: Transport) {
  const { names } = await ask(
    { type: configured.type, baseUrl, credential: configured.credential, settings: {} },
    transport,
  );
  return names.map((name) => ({
    name,
    kind: 'chat',
    price: LOCAL_PRICE,
    targets: [{ provider: configured.type, model: name }],
  }));
}

/** Whether a configured provider can be called. */
export async function probe(row: ProviderRow, config: Config, transport: Transport): Promise<Probed> {
  const provider = providerOf(row.type);
  if (!provider) return { credential: 'unneeded', answers: false, reportError: `its type ${row.type} is not known` };
  const { credential, settings, hasSetting } = credentialOf(row, provider, config, row.credentials[0]);
  const isThere = credential !== undefined || hasSetting;
  const state = isThere ? 'there' : provider.needsCredential ? 'missing' : 'unneeded';
  const target = targetOf(row, config, credential);
  if (!target) return { credential: state, answers: false, reportError: noAddress(provider) };
  const { reportError } = await ask({ ...target, settings }, transport);
  return { credential: state, answers: reportError === undefined, ...(reportError !== undefined && { reportError }) };
}

function credentialOf(
  row: ProviderRow,
  provider: Provider,
  { providers }: Pick<Config, 'providers'>,
  given: string | undefined,
) {
  const configured = providers.find(({ type }) => type === row.type);
  const settings = { ...configured?.settings, ...row.settings };
  const hasSetting = settings[provider.credentialSetting ?? ''] !== undefined;
  const credential = given ?? (hasSetting ? undefined : configured?.credential);
  return { credential, settings, hasSetting, baseUrl: row.baseUrl ?? configured?.baseUrl };
}

/** Where a provider's models are listed, with this credential or the one of the environment; `undefined` without a type or URL. */
export function targetOf(
  row: ProviderRow,
  config: Pick<Config, 'providers'>,
  given: string | undefined,
): ListingTarget | undefined {
  const provider = providerOf(row.type);
  if (!provider) return undefined;
  const { credential, settings, baseUrl: own } = credentialOf(row, provider, config, given);
  const baseUrl = own ?? provider.baseUrl ?? provider.addressOf?.(settings);
  return baseUrl === undefined ? undefined : { type: row.type, baseUrl, credential, settings };
}

function noAddress({ addressOf }: Provider): string {
  return addressOf ? 'it has no URL: set its baseUrl, or the settings that determine it (region …)' : 'it has no URL';
}

export interface ListingTarget {
  type: string;
  baseUrl: string;
  credential: string | undefined;
  settings: { readonly [name: string]: string };
}

/** The model list of an OpenAI-compatible server; `reportError` is set if it did not answer. */
async function ask(target: ListingTarget, transport: Transport): Promise<{ names: string[]; reportError?: string }> {
  try {
    const { status, body } = await askList(target, transport);
    return { names: status === 200 ? namesIn(body) : [] };
  } catch (thrown) {
    return { names: [], reportError: failureOf(asGatewayError(thrown)) };
  }
}

/** Where the provider lists its models. */
export function listUrl({ type, baseUrl }: Pick<ListingTarget, 'type' | 'baseUrl'>): string {
  return providerOf(type)?.modelsUrl?.(baseUrl) ?? `${baseUrl}/models`;
}

/** Asks for the list of models: the cheapest request that most providers check a credential for. */
export async function askList({ type, ...target }: ListingTarget, transport: Transport) {
  const path = providerOf(type)?.credentialPath;
  const url = path === undefined ? listUrl({ type, ...target }) : `${target.baseUrl}${path}`;
  const outgoing: Outgoing = { method: 'GET', url, headers: {}, body: undefined };
  const signing = createSigning(transport, Date.now);
  await PROVIDERS.get(type)?.authorize(outgoing, { ...target, model: '' }, signing);
  const exchange = await transport.send(
    outgoing,
    PROBE_LIMITS,
    performance.now() + PROBE_LIMITS.wholeMs,
    new Cancellation(),
  );
  const body = await exchange.readAll(LARGEST_LIST_BYTES);
  return { status: exchange.status, body, date: exchange.header('date') };
}

/** The message with its cause, for the operator only. */
function failureOf({ message, cause }: GatewayError): string {
  return typeof cause === 'string' ? `${message} (${cause})` : message;
}

function namesIn(body: Uint8Array): string[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(body).toString());
    const rows = isObject(list) && Array.isArray(list.data) ? list.data : [];
    return rows.flatMap((row) => (isObject(row) && typeof row.id === 'string' ? [row.id] : []));
  } catch {
    return [];
  }
}

/** URLs and keys by provider type. Keys from the environment never enter the database. A disabled sandbox is not called. */
export function providerDefaults(config: Config): { [type: string]: ProviderDefaults } {
  const defaults: { [type: string]: ProviderDefaults } = {};
  for (const provider of PROVIDERS.values()) {
    if (provider === sandbox && config.sandbox === 'off') continue;
    const configured = config.providers.find(({ type }) => type === provider.name);
    const { baseUrl = provider.baseUrl, credential, settings } = configured ?? {};
    const { name, needsCredential, addressOf, credentialSetting, failsOnRequest } = provider;
    defaults[name] = {
      needsCredential,
      ...(failsOnRequest && { failsOnRequest }),
      ...(provider === sandbox && { onlyAlone: config.sandbox === 'auto' }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(addressOf && { addressOf }),
      ...(credential !== undefined && { credential }),
      ...(credentialSetting !== undefined && { credentialSetting }),
      ...(settings && { settings }),
    };
  }
  return defaults;
}
