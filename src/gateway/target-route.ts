/** The route of a call to a target: the provider, its address and API format, and the kind of call that is sent. */
import type { Call, Kind } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import type { Dialect, ProviderDialect } from '../dialects/dialect.ts';
import { type ModelQuirks, quirksOf } from '../dialects/shared/quirks.ts';
import type { Target } from '../providers/outgoing.ts';
import { type Provider, quirksFor, servedDialect, spokenDialect } from '../providers/provider.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { asKind } from './prepare/change-kind.ts';

export interface TargetRoute {
  readonly provider: Provider;
  readonly target: Target;
  readonly dialect: ProviderDialect;
  readonly quirks: ModelQuirks;
  /** Who can use the signatures of the target: every provider of its format, or only its own row of the catalog. */
  readonly signatureOwner: string;
  /** The kind of call that is sent: a request for images may be sent as a conversation, and a conversation as one for images. */
  readonly kind: Kind;
}

/** The media that this target fetches itself if a call names their URL. */
export function urlsTaken({ quirks, dialect }: TargetRoute): NonNullable<ProviderDialect['supportsMediaUrls']> {
  return quirks.supportsMediaUrls ?? dialect.supportsMediaUrls ?? [];
}

/** The route with another credential than the provider's first. */
export function withCredential(route: TargetRoute, credential: string | undefined): TargetRoute {
  return { ...route, target: { ...route.target, credential } };
}

/** The members of a model that decide how it is called. */
type PriceOfKind = Pick<Model, 'kind' | 'price'>;

/** The routes that are the same for every call in a client's format. */
const fixedRoutes = new WeakMap<ModelTarget, Map<Dialect, TargetRoute>>();

/** `own`: the client's format, which is used upstream if the provider supports it. Throws `upstream_failed`. */
export function routeTo(
  deps: GatewayDeps,
  call: Call,
  own: Dialect,
  choice: ModelTarget,
  model: PriceOfKind,
): TargetRoute {
  if (!isFixed(deps, call, choice, model.kind)) return findRoute(deps, call, own, choice, model);
  let routes = fixedRoutes.get(choice);
  if (!routes) {
    routes = new Map();
    fixedRoutes.set(choice, routes);
  }
  let route = routes.get(own);
  if (!route) {
    route = findRoute(deps, call, own, choice, model);
    routes.set(own, route);
  }
  return route;
}

/** Routes to image models depend on the call, and so do those of calls with tools to models that accept tools in only one format. */
function isFixed(deps: GatewayDeps, call: Call, { type }: ModelTarget, model: Kind): boolean {
  if (model === 'image') return false;
  const hasTools = call.kind === 'chat' && call.tools.length > 0;
  return !hasTools || deps.provider(type)?.unthinkingTools === undefined;
}

function findRoute(deps: GatewayDeps, call: Call, own: Dialect, choice: ModelTarget, model: PriceOfKind): TargetRoute {
  const provider = deps.provider(choice.type);
  if (!provider)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` is of an unknown type.`);
  const target = toTarget(choice, provider);
  const kind = kindAt(deps, provider, call, own, target, model);
  const spoken = spokenDialect(provider, callAs(call, kind), own.name, target);
  if (spoken === undefined)
    throw new GatewayError('upstream_failed', `The provider ${provider.name} does not serve ${call.kind} calls.`);
  const quirks = quirksOf(quirksFor(provider, kind), target.model);
  const dialect = deps.dialect(spoken);
  const signatureOwner = dialect.hasBoundSignatures ? `${dialect.name}@${choice.provider}` : dialect.name;
  return { provider, target, dialect, quirks, signatureOwner, kind };
}

function callAs(call: Call, kind: Kind): Call {
  return asKind(call, kind)?.call ?? call;
}

/** The kind of call that is sent to a target of this model. */
function kindAt(
  deps: GatewayDeps,
  provider: Provider,
  call: Call,
  own: Dialect,
  target: Target,
  model: PriceOfKind,
): Kind {
  if (model.kind === 'image') return imageKind(provider, call, own, target);
  if (model.kind !== 'speech' || call.kind !== 'chat') return call.kind;
  // A speech model can answer in chat if it has a chat format and its price has an amount for output tokens.
  const spoken = servedDialect(provider, callAs(call, 'speech'), own.name, target);
  if (spoken === undefined) return 'chat';
  return deps.dialect(spoken).inConversation && model.price.output !== undefined ? 'chat' : 'speech';
}

/** The kind of call for an image model: the client's own if the model is known to support it, else the provider's. */
function imageKind(provider: Provider, call: Call, own: Dialect, target: Target): Kind {
  if (provider.only?.[own.name]?.test(target.model) && servedDialect(provider, call, own.name, target) === own.name)
    return call.kind;
  return servedDialect(provider, callAs(call, 'image'), own.name, target) === undefined ? 'chat' : 'image';
}

function toTarget(choice: ModelTarget, provider: Provider): Target {
  const baseUrl = choice.baseUrl ?? provider.baseUrl;
  if (baseUrl === undefined)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` has no address.`);
  return { model: choice.model, baseUrl, credential: choice.credentials[0], settings: choice.settings };
}
