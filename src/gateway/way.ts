/** How a call reaches a target: the vendor, its address, the format spoken there. */
import type { Call, Kind } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Dialect, Quirks, VendorDialect } from '../dialects/dialect.ts';
import { quirksOf } from '../dialects/quirks.ts';
import { type Provider, quirksFor, servedDialect, spokenDialect, type Target } from '../providers/provider.ts';
import { type Adapted, adapted } from './picture-calls.ts';
import type { GatewayRooms } from './rooms.ts';

export interface Way {
  provider: Provider;
  target: Target;
  dialect: VendorDialect;
  quirks: Quirks;
  /** The call as the target is asked: a request for pictures may be a conversation there, and the other way round. */
  adapt(call: Call): Adapted;
  /** What was lost in that. */
  losses: readonly string[];
}

/** `own`: the client's dialect, which is spoken upstream where the vendor knows it. Throws `upstream_failed`. */
export function wayTo(rooms: GatewayRooms, call: Call, own: Dialect, choice: ModelTarget, model: Kind): Way {
  const provider = rooms.provider(choice.type);
  if (!provider)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` is of an unknown type.`);
  const target = toTarget(rooms, choice, provider);
  const kind = model === 'image' ? pictureKind(provider, call, own, target) : call.kind;
  const adapt = (one: Call) => adapted(one, kind);
  const spoken = spokenDialect(provider, kind === call.kind ? call : adapt(call).call, own.name, target);
  if (spoken === undefined)
    throw new GatewayError('upstream_failed', `The provider ${provider.name} does not serve ${call.kind} calls.`);
  return {
    provider,
    target,
    dialect: rooms.dialect(spoken),
    quirks: quirksOf(quirksFor(provider, kind), target.model),
    adapt,
    losses: [],
  };
}

/** As what a model that draws is asked: in the client's own format where it is known to speak that, else as the vendor has it. */
function pictureKind(provider: Provider, call: Call, own: Dialect, target: Target): Kind {
  if (provider.only?.[own.name]?.test(target.model) && servedDialect(provider, call, own.name, target) === own.name)
    return call.kind;
  return servedDialect(provider, adapted(call, 'image').call, own.name, target) === undefined ? 'chat' : 'image';
}

/** The media this target fetches itself where a call names their address. */
export function urlsTaken({ quirks, dialect }: Way): NonNullable<VendorDialect['takesUrls']> {
  return quirks.takesUrls ?? dialect.takesUrls ?? [];
}

function toTarget(rooms: GatewayRooms, choice: ModelTarget, provider: Provider): Target {
  const baseUrl = choice.baseUrl ?? provider.baseUrl;
  if (baseUrl === undefined)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` has no address.`);
  return { model: choice.model, baseUrl, credential: rooms.catalog.credential(choice), settings: choice.settings };
}
