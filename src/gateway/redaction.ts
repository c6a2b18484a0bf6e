/** Removes the operator's secrets and addresses from a provider's error. */
import type { GatewayError } from '../canonical/errors.ts';
import { withoutSecrets } from '../canonical/redaction.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** The error as clients, the log and the call record may see it: without credentials, addresses and signed headers. */
export function publicError(deps: GatewayDeps, { target, sent }: CallContext, error: GatewayError): GatewayError {
  if (!target) return error;
  const { credentials, settings, baseUrl, type } = target;
  const usual = deps.provider(type)?.baseUrl;
  const addresses = baseUrl === usual ? [undefined, usual] : [baseUrl, usual];
  return withoutSecrets(error, { credentials, settings, addresses, headers: sent });
}
