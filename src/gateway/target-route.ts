/** The route of a call to one target: the provider, its address, the format spoken there. */
import type { Kind } from '../canonical/call.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { ModelQuirks, VendorDialect } from '../dialects/dialect.ts';
import type { Provider, Target } from '../providers/provider.ts';

export interface TargetRoute {
  readonly provider: Provider;
  readonly target: Target;
  readonly dialect: VendorDialect;
  readonly quirks: ModelQuirks;
  /** The kind of call that is sent: a request for images may be sent as a conversation, and a conversation as one for images. */
  readonly kind: Kind;
}

/** The media that this target fetches itself where a call names their URL. */
export function urlsTaken({ quirks, dialect }: TargetRoute): NonNullable<VendorDialect['supportsMediaUrls']> {
  return quirks.supportsMediaUrls ?? dialect.supportsMediaUrls ?? [];
}

/** The route with the credential that this attempt uses. */
export function withCredential(
  route: TargetRoute,
  { credentials }: ModelTarget,
  credential: string | undefined,
): TargetRoute {
  return credentials.length < 2 ? route : { ...route, target: { ...route.target, credential } };
}
