/** The models that a provider lists, for whoever adds it: what was found, with list prices, or why nothing was. */
import { asGatewayError, type GatewayError } from './canonical/errors.ts';
import { isObject, type JsonObject } from './canonical/json.ts';
import { listedPrice, PRICE_LIST } from './catalog/price-list.ts';
import type { Config } from './config.ts';
import { type ListingTarget, listUrl, targetOf } from './found-providers.ts';
import { createSigning } from './gateway/attempt/tokens.ts';
import type { HttpDeps, ListedModel, ModelList } from './http/http-deps.ts';
import { PROVIDERS, providerOf } from './providers/index.ts';
import type { Outgoing } from './providers/outgoing.ts';
import type { ProviderRow } from './store/catalog-rows.ts';
import { Cancellation } from './transport/cancellation.ts';
import type { TimeLimits } from './transport/time-limits.ts';
import type { Transport } from './transport/transport.ts';

/** A person waits for it. The whole of it, all pages included, has `wholeMs`. */
const LIMITS: TimeLimits = { connectMs: 3000, headersMs: 6000, firstTokenMs: 6000, silenceMs: 3000, wholeMs: 8000 };
/** Of all pages together. OpenRouter's list, the longest of a known provider, has 1.1 MB. */
const LARGEST_BYTES = 4 << 20;
const MOST_PAGES = 20;
const MOST_MODELS = 2000;
const LONGEST_ID = 200;
/** Neither spaces nor control characters, which no name of a model has. */
const ID = /^[^\s\p{C}]+$/u;

/** `config`: the one in force. */
export function createModelLists(
  transport: Transport,
  config: () => Pick<Config, 'providers'>,
  limits: TimeLimits = LIMITS,
): HttpDeps['listModels'] {
  return (row, isSaved) => {
    const target = listingOf(row, isSaved, config());
    return target && listModels(target, transport, limits);
  };
}

/** Where this provider is asked. `undefined`: its type is not known, or its address cannot be told. */
function listingOf(row: ProviderRow, isSaved: boolean, config: Pick<Config, 'providers'>): ListingTarget | undefined {
  const [credential] = row.credentials;
  const target = targetOf(row, config, credential);
  // The credential of the environment belongs to the address that is configured with it: somebody who types another one does not get it.
  return target && !isSaved && row.baseUrl !== undefined ? { ...target, credential, settings: row.settings } : target;
}

/** Asks the provider. Never throws: what goes wrong there is the answer. */
async function listModels(target: ListingTarget, transport: Transport, limits: TimeLimits): Promise<ModelList> {
  const bounds = { limits, until: performance.now() + limits.wholeMs, bytes: LARGEST_BYTES };
  const found = new Set<string>();
  const listed = (more: Pick<ModelList, 'hasMore' | 'problem'>): ModelList => ({
    models: [...found]
      .slice(0, MOST_MODELS)
      .sort()
      .map((id) => described(id, target.type)),
    ...more,
  });
  try {
    const refused = await checkCredential(target, transport, bounds);
    if (refused) return listed({ hasMore: false, problem: refused });
    let next: NextPage | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const { status, body } = await ask(target, listUrl(target), next, transport, bounds);
      const list = status === 200 ? readList(body) : undefined;
      if (!list) return listed({ hasMore: page > 0, problem: problemOf(status) });
      for (const id of list.ids) found.add(id);
      if (found.size > MOST_MODELS) return listed({ hasMore: true });
      // A provider that names the same page for ever would be asked for ever.
      if (!list.next || list.next.value === next?.value) return listed({ hasMore: false });
      next = list.next;
    }
    return listed({ hasMore: true });
  } catch (thrown) {
    const message = messageOf(asGatewayError(thrown), target);
    return listed({ hasMore: found.size > 0, problem: { code: 'unreachable', message } });
  }
}

/** Some providers list their models without a credential: their own path checks it. */
async function checkCredential(target: ListingTarget, transport: Transport, bounds: Bounds) {
  const path = providerOf(target.type)?.credentialPath;
  if (path === undefined || target.credential === undefined) return undefined;
  const { status } = await ask(target, `${target.baseUrl}${path}`, undefined, transport, bounds);
  return status === 401 || status === 403 ? problemOf(status) : undefined;
}

interface Bounds {
  limits: TimeLimits;
  until: number;
  /** What may still be read. */
  bytes: number;
}

/** The query parameter that asks for the next page. */
interface NextPage {
  parameter: string;
  value: string;
}

async function ask(
  target: ListingTarget,
  url: string,
  next: NextPage | undefined,
  transport: Transport,
  bounds: Bounds,
) {
  const page = next ? `${url.includes('?') ? '&' : '?'}${next.parameter}=${encodeURIComponent(next.value)}` : '';
  const outgoing: Outgoing = { method: 'GET', url: url + page, headers: {}, body: undefined };
  const signing = createSigning(transport, Date.now);
  await PROVIDERS.get(target.type)?.authorize(outgoing, { ...target, model: '' }, signing);
  const exchange = await transport.send(outgoing, bounds.limits, bounds.until, new Cancellation());
  const body = await exchange.readAll(bounds.bytes);
  bounds.bytes -= body.length;
  return { status: exchange.status, body };
}

/**
 * The lists that there are: `data` with `id` (OpenAI; Anthropic with `has_more` and `last_id`), `models` with `name` (Google with
 * `nextPageToken`, Cohere with `next_page_token`), and an array (Together). `undefined`: it is none.
 */
function readList(body: Uint8Array): { ids: string[]; next: NextPage | undefined } | undefined {
  const read = parsed(body);
  const list: JsonObject = isObject(read) ? read : { data: read as JsonObject['data'] };
  const rows = Array.isArray(list.data) ? list.data : list.models;
  if (!Array.isArray(rows)) return undefined;
  return { ids: rows.flatMap(idOf), next: nextOf(list) };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8').decode(body));
  } catch {
    return undefined;
  }
}

function idOf(row: unknown): string[] {
  if (!isObject(row)) return [];
  const id = row.id ?? row.name;
  if (typeof id !== 'string') return [];
  const bare = id.startsWith('models/') ? id.slice('models/'.length) : id;
  return bare.length <= LONGEST_ID && ID.test(bare) ? [bare] : [];
}

function nextOf(list: JsonObject): NextPage | undefined {
  if (list.has_more === true && isText(list.last_id)) return { parameter: 'after_id', value: list.last_id };
  if (isText(list.nextPageToken)) return { parameter: 'pageToken', value: list.nextPageToken };
  if (isText(list.next_page_token)) return { parameter: 'page_token', value: list.next_page_token };
  return undefined;
}

/** A token for the next page, short enough for an address. */
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 1000;

function described(id: string, type: string): ListedModel {
  const row = PRICE_LIST.models.find((one) => one.type === type && one.model === id);
  if (!row) return { id };
  const { kind, contextTokens, maxOutputTokens } = row;
  return {
    id,
    kind,
    price: listedPrice(PRICE_LIST, row),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}

/** The provider's own words are not passed on: they are of any length, and may repeat what was sent. */
function problemOf(status: number): NonNullable<ModelList['problem']> {
  if (status === 401 || status === 403)
    return { code: 'credential_refused', message: `The provider refused the credential (status ${status}).` };
  if (status === 200) return { code: 'no_list', message: 'The provider answered, but not with a list of models.' };
  return { code: 'no_list', message: `The provider listed no models (status ${status}).` };
}

/** With its cause, for operators; never with the credential, which a faulty one may be quoted in. */
function messageOf({ message, cause }: GatewayError, { credential, settings }: ListingTarget): string {
  const secrets = [credential, ...Object.values(settings)].filter((one) => one !== undefined && one !== '');
  const isSafe = typeof cause === 'string' && !secrets.some((secret) => secret && cause.includes(secret));
  return isSafe ? `${message} (${cause})` : message;
}
