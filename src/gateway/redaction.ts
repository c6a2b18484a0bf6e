/** Removes the operator's secrets and addresses from a provider's error. */
import type { GatewayError } from '../canonical/errors.ts';
import { type AttemptedWith, withoutSecrets } from '../canonical/redaction.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** The error as clients, the log and the call record may see it: without credentials, addresses and signed headers. */
export function publicError(deps: GatewayDeps, context: CallContext, error: GatewayError): GatewayError {
  const attempted = attemptedWith(deps, context);
  return attempted ? withoutSecrets(error, attempted) : error;
}

/** The secrets of the last attempt; absent: there was none. */
export function attemptedWith(deps: GatewayDeps, { target, sent }: CallContext): AttemptedWith | undefined {
  if (!target) return undefined;
  const { credentials, settings, baseUrl, type } = target;
  const usual = deps.provider(type)?.baseUrl;
  const addresses = baseUrl === usual ? [undefined, usual] : [baseUrl, usual];
  return { credentials, settings, addresses, headers: sent };
}
