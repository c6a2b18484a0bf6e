/** Removes the caller's preferences for models and providers from a request: they are for this gateway, not for the provider. */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isEmpty, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Dialect, WireRequest } from '../../dialects/dialect.ts';
import { patchMembers, pickMembers } from '../../dialects/wire/json.ts';
import { readModels, readWishes, type Wishes } from '../../routing/wishes.ts';
import type { RequestedRouting } from '../admit/requested-routing.ts';

/** The members of a request that hold them. `route` is OpenRouter's older member beside `models`. */
const MEMBERS = ['provider', 'route'] as const;

/** Headers for formats without such members: a list of names, a word, or amounts (`prompt=1,completion=2`). */
const HEADERS: { readonly [header: string]: { member: string; read(text: string): Json } } = {
  'x-modelport-provider-order': { member: 'order', read: listIn },
  'x-modelport-provider-only': { member: 'only', read: listIn },
  'x-modelport-provider-ignore': { member: 'ignore', read: listIn },
  'x-modelport-provider-sort': { member: 'sort', read: (text) => text },
  'x-modelport-provider-quantizations': { member: 'quantizations', read: listIn },
  'x-modelport-allow-fallbacks': { member: 'allow_fallbacks', read: flagIn },
  'x-modelport-require-parameters': { member: 'require_parameters', read: flagIn },
  'x-modelport-data-collection': { member: 'data_collection', read: (text) => text },
  'x-modelport-zdr': { member: 'zdr', read: flagIn },
  'x-modelport-max-price': { member: 'max_price', read: amountsIn },
};
/** Every call with a header of the gateway's own is searched for these. */
const HEADER_ROWS = Object.entries(HEADERS);
const MODELS_HEADER = 'x-modelport-models';

/** The call without them, and what they are; `undefined`: there are none. `modelsMember`: the member `models`. Throws `invalid_request`. */
export function takeWishes(
  call: Call,
  modelsMember: Json | undefined,
  { headers, hasOwnHeaders }: WireRequest,
): { call: Call; requestedRouting: RequestedRouting } | undefined {
  const members = wishesIn(call);
  const fromHeaders = hasOwnHeaders === false ? undefined : headersIn(headers);
  if (!members && !fromHeaders && modelsMember === undefined) return undefined;
  const models = modelsMember ?? fromHeaders?.models;
  const provider = members?.provider ?? undefined;
  const wishes = provider !== undefined || fromHeaders?.provider ? readAll(provider, fromHeaders?.provider) : undefined;
  return {
    call: members ? withoutWishes(call, members) : call,
    requestedRouting: {
      models: models == null ? [] : otherModels(models, call.model),
      wishes,
    },
  };
}

const otherModels = (models: Json, own: string) => readModels(models).filter((name) => name !== own);

/** A request that has been read. */
export interface ReadRequest {
  readonly call: Call;
  /** Its member `models`, where it has one. */
  readonly models: Json | undefined;
}

/** Reads the request. Without `model` the first of `models` is requested. */
export function readRequest(dialect: Dialect, request: WireRequest): ReadRequest {
  let call: Call;
  try {
    call = dialect.readCall(request);
  } catch (thrown) {
    const named = thrown instanceof GatewayError && thrown.param === 'model' ? withModel(request) : undefined;
    if (!named) throw thrown;
    return withoutModels(dialect, named, dialect.readCall(named));
  }
  // Formats remove `models` from the body, with a warning: no provider may choose a model that the hold does not cover.
  return call.origin.dropped ? withoutModels(dialect, request, call) : { call, models: undefined };
}

function withoutModels(dialect: Dialect, request: WireRequest, call: Call): ReadRequest {
  const models = modelsIn(request);
  if (models === undefined) return { call, models };
  const body = patchMembers(request.body, { models: undefined });
  return { call: dialect.readCall({ ...request, body }), models };
}

function modelsIn({ body }: WireRequest): Json | undefined {
  return body.length > 0 ? (pickMembers(body, new Set(['models'])).models ?? undefined) : undefined;
}

function withModel(request: WireRequest): WireRequest | undefined {
  if (request.body.length === 0) return undefined;
  const { model, models } = pickMembers(request.body, new Set(['model', 'models']));
  const first = Array.isArray(models) ? models[0] : undefined;
  if (model != null || typeof first !== 'string') return undefined;
  return { ...request, body: patchMembers(request.body, { model: first }) };
}

function wishesIn({ extras, origin }: Call): JsonObject | undefined {
  const own = extras[origin.dialect];
  if (!own) return undefined;
  // A list was taken out when the request was read. Anything else is refused: it must not reach a provider.
  if (own.models !== undefined) readModels(own.models);
  let found: JsonObject | undefined;
  for (const member of MEMBERS) {
    const value = own[member];
    if (value === undefined) continue;
    found ??= {};
    found[member] = value;
  }
  return found;
}

function withoutWishes(call: Call, members: JsonObject): Call {
  const { origin, extras } = call;
  const own = { ...extras[origin.dialect] };
  const removed: { [member: string]: undefined } = {};
  for (const member of Object.keys(members)) {
    delete own[member];
    removed[member] = undefined;
  }
  const { [origin.dialect]: _, ...others } = extras;
  const body = origin.body.length > 0 ? patchMembers(origin.body, removed) : origin.body;
  return { ...call, extras: isEmpty(own) ? others : { ...others, [origin.dialect]: own }, origin: { ...origin, body } };
}

function headersIn(headers: WireRequest['headers']): { provider?: JsonObject; models?: Json } | undefined {
  const provider: JsonObject = {};
  for (const [header, { member, read }] of HEADER_ROWS) {
    const text = headers.get(header);
    if (text !== null) provider[member] = read(text.trim());
  }
  const models = headers.get(MODELS_HEADER);
  if (models === null && isEmpty(provider)) return undefined;
  return { ...(!isEmpty(provider) && { provider }), ...(models !== null && { models: listIn(models) }) };
}

/** Members of the body win over headers, one by one. */
function readAll(body: Json | undefined, header: JsonObject | undefined): Wishes {
  const inBody = readWishes(body ?? {});
  if (!header) return inBody;
  const inHeader = inHeaderWords(() => readWishes(header));
  const own = body === undefined ? {} : (({ allowFallbacks: _, requireParameters: __, ...rest }) => rest)(inBody);
  return {
    ...inHeader,
    ...own,
    allowFallbacks: inBody.allowFallbacks && inHeader.allowFallbacks,
    requireParameters: inBody.requireParameters || inHeader.requireParameters,
  };
}

/** Errors name the header, not the member that it stands for. */
function inHeaderWords<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param === undefined) throw thrown;
    const member = thrown.param.split(/[.[]/)[1];
    const header = Object.keys(HEADERS).find((name) => HEADERS[name]?.member === member) ?? thrown.param;
    throw thrown.reworded(thrown.message.replace(thrown.param, header), header);
  }
}

function listIn(text: string): Json {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function flagIn(text: string): Json {
  return text === 'true' ? true : text === 'false' ? false : text;
}

function amountsIn(text: string): Json {
  return Object.fromEntries(text.split(',').map((pair) => pair.split('=').map((word) => word.trim())));
}
