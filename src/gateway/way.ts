/** How a call reaches a target: the vendor, its address, the format spoken there. */
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Dialect, Quirks, VendorDialect } from '../dialects/dialect.ts';
import { quirksOf } from '../dialects/quirks.ts';
import { type Provider, quirksFor, spokenDialect, type Target } from '../providers/provider.ts';
import type { GatewayRooms } from './rooms.ts';

export interface Way {
  provider: Provider;
  target: Target;
  dialect: VendorDialect;
  quirks: Quirks;
}

/** `own`: the client's dialect, which is spoken upstream where the vendor knows it. Throws `upstream_failed`. */
export function wayTo(rooms: GatewayRooms, call: Call, own: Dialect, choice: ModelTarget): Way {
  const provider = rooms.provider(choice.type);
  if (!provider)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` is of an unknown type.`);
  const target = toTarget(rooms, choice, provider);
  const spoken = spokenDialect(provider, call, own.name, target);
  if (spoken === undefined)
    throw new GatewayError('upstream_failed', `The provider ${provider.name} does not serve ${call.kind} calls.`);
  return { provider, target, dialect: rooms.dialect(spoken), quirks: quirksFor(provider, call.kind) };
}

/** The media this target fetches itself where a call names their address. */
export function urlsTaken({ quirks, target, dialect }: Way): NonNullable<VendorDialect['takesUrls']> {
  return quirksOf(quirks, target.model).takesUrls ?? dialect.takesUrls ?? [];
}

function toTarget(rooms: GatewayRooms, choice: ModelTarget, provider: Provider): Target {
  const baseUrl = choice.baseUrl ?? provider.baseUrl;
  if (baseUrl === undefined)
    throw new GatewayError('upstream_failed', `The provider \`${choice.provider}\` has no address.`);
  return { model: choice.model, baseUrl, credential: rooms.catalog.credential(choice), settings: choice.settings };
}
