/** How a call reaches a target: the provider, its address, the format spoken there. */
import type { Call, Kind } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import type { Dialect, Quirks, VendorDialect } from '../dialects/dialect.ts';
import { quirksOf } from '../dialects/shared/quirks.ts';
import { type Provider, quirksFor, servedDialect, spokenDialect, type Target } from '../providers/provider.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { adapted } from './prepare/image-calls.ts';

export interface TargetRoute {
  readonly provider: Provider;
  readonly target: Target;
  readonly dialect: VendorDialect;
  /** Those of the target's model. */
  readonly quirks: Quirks;
  /** As what the target is asked: a request for images may be a conversation there, and the other way round. */
  readonly kind: Kind;
  /** What was lost in that. */
  readonly losses: readonly string[];
}

/** What of a model decides how it is reached. */
type Asked = Pick<Model, 'kind' | 'price'>;

/** The ways that are the same for every call in a client's dialect. */
const fixedWays = new WeakMap<ModelTarget, Map<Dialect, TargetRoute>>();

/** `own`: the client's dialect, which is spoken upstream where the provider knows it. Throws `upstream_failed`. */
export function wayTo(deps: GatewayDeps, call: Call, own: Dialect, choice: ModelTarget, model: Asked): TargetRoute {
  if (!isFixed(deps, call, choice, model.kind)) return findWay(deps, call, own, choice, model);
  let ways = fixedWays.get(choice);
  if (!ways) {
    ways = new Map();
    fixedWays.set(choice, ways);
  }
  let way = ways.get(own);
  if (!way) {
    way = findWay(deps, call, own, choice, model);
    ways.set(own, way);
  }
  return way;
}

/** Of several credentials a call uses one in turn. */
export function withCredential(
  way: TargetRoute,
  { credentials }: ModelTarget,
  credential: string | undefined,
): TargetRoute {
  return credentials.length < 2 ? way : { ...way, target: { ...way.target, credential } };
}

/** Images are generated in conversations too, and some models take tools in one format alone. */
function isFixed(deps: GatewayDeps, call: Call, { type }: ModelTarget, model: Kind): boolean {
  if (model === 'image') return false;
  const hasTools = call.kind === 'chat' && call.tools.length > 0;
  return !hasTools || deps.provider(type)?.unthinkingTools === undefined;
}

function findWay(deps: GatewayDeps, call: Call, own: Dialect, choice: ModelTarget, model: Asked): TargetRoute {
  const provider = deps.provider(choice.type);
  if (!provider)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` is of an unknown type.`);
  const target = toTarget(choice, provider);
  const kind = kindAt(deps, provider, call, own, target, model);
  const spoken = spokenDialect(provider, adapted(call, kind).call, own.name, target);
  if (spoken === undefined)
    throw new GatewayError('upstream_failed', `The provider ${provider.name} does not serve ${call.kind} calls.`);
  const quirks = quirksOf(quirksFor(provider, kind), target.model);
  return { provider, target, dialect: deps.dialect(spoken), quirks, kind, losses: [] };
}

/** As what a target of this model is asked. */
function kindAt(deps: GatewayDeps, provider: Provider, call: Call, own: Dialect, target: Target, model: Asked): Kind {
  if (model.kind === 'image') return imageKind(provider, call, own, target);
  if (model.kind !== 'speech' || call.kind !== 'chat') return call.kind;
  // Whether the model also converses hangs on the format; that what it speaks is counted, on the price.
  const spoken = servedDialect(provider, adapted(call, 'speech').call, own.name, target);
  if (spoken === undefined) return 'chat';
  return deps.dialect(spoken).inConversation && model.price.output !== undefined ? 'chat' : 'speech';
}

/** As what a model that draws is asked: in the client's own format where it is known to speak that, else as the provider has it. */
function imageKind(provider: Provider, call: Call, own: Dialect, target: Target): Kind {
  if (provider.only?.[own.name]?.test(target.model) && servedDialect(provider, call, own.name, target) === own.name)
    return call.kind;
  return servedDialect(provider, adapted(call, 'image').call, own.name, target) === undefined ? 'chat' : 'image';
}

/** The media this target fetches itself where a call names their address. */
export function urlsTaken({ quirks, dialect }: TargetRoute): NonNullable<VendorDialect['takesUrls']> {
  return quirks.takesUrls ?? dialect.takesUrls ?? [];
}

function toTarget(choice: ModelTarget, provider: Provider): Target {
  const baseUrl = choice.baseUrl ?? provider.baseUrl;
  if (baseUrl === undefined)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` has no address.`);
  return { model: choice.model, baseUrl, credential: choice.credentials[0], settings: choice.settings };
}
