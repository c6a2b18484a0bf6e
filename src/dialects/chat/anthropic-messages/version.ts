/** The `anthropic-version` header: known values, and what the newest rejects. */
import { GatewayError } from '../../../canonical/errors.ts';
import type { WireRequest } from '../../dialect.ts';

const NEWEST = '2026-10-21';
const KNOWN = new Set(['2023-01-01', '2023-06-01', NEWEST]);

/** The client's version. An unknown one behaves as the newest. Throws `invalid_request` if the header is missing. */
export function clientVersion(headers: WireRequest['headers']): string {
  const version = headers.get('anthropic-version') ?? headers.get('vendor1-version');
  if (version === null || version === '') {
    throw new GatewayError('invalid_request', 'The header `anthropic-version` is required, for instance 2023-06-01.', {
      param: 'anthropic-version',
    });
  }
  return KNOWN.has(version) ? version : NEWEST;
}

/** Whether this version rejects `temperature`, `top_p` and `top_k` for every model. */
export function refusesSampling(version: string | undefined): boolean {
  return version === NEWEST;
}
