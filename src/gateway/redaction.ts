/** What a provider says of a failure, without what belongs to the operator. */
import type { GatewayError } from '../canonical/errors.ts';
import { withoutSecrets } from '../canonical/redaction.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** The error as a client, the log and the record may have it: nothing that the attempt was made with is in it. */
export function publicError(deps: GatewayDeps, { target, sent }: CallContext, error: GatewayError): GatewayError {
  if (!target) return error;
  const { credentials, settings, baseUrl, type } = target;
  const usual = deps.provider(type)?.baseUrl;
  const addresses = baseUrl === usual ? [undefined, usual] : [baseUrl, usual];
  return withoutSecrets(error, { credentials, settings, addresses, headers: sent });
}
