/** Who may read the metrics: they name models, providers and sums of money. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { inRanges, readRange } from '../access/cidr.ts';
import { GatewayError } from '../canonical/errors.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'].map(readRange).filter((range) => range !== undefined);

/**
 * With a token: whoever sends it as a bearer token. Without one: this machine alone, and nobody for whom a proxy of this
 * machine asks. Throws `invalid_api_key` or `address_not_allowed`.
 */
export function refuseStranger(
  token: string | undefined,
  headers: Pick<Headers, 'get' | 'has'>,
  address: string,
): void {
  if (token !== undefined) {
    const sent = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
    if (sent !== undefined && isSame(sent, token)) return;
    throw new GatewayError('invalid_api_key', 'The metrics need their token: send it as "Authorization: Bearer …".');
  }
  const isPassedOn = headers.has('x-forwarded-for') || headers.has('forwarded') || headers.has('via');
  if (!isPassedOn && inRanges(address, LOOPBACK)) return;
  throw new GatewayError(
    'address_not_allowed',
    'The metrics answer this machine alone, unless MODELPORT_METRICS_TOKEN is set.',
  );
}

/** Takes as long for a near miss as for a far one. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
