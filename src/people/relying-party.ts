/** Where passkeys work, and for which host one counts. */
import { GatewayError } from '../canonical/errors.ts';

export interface RelyingParty {
  /** The name of the host. A passkey is valid only for this host. */
  host: string;
  origin: string;
}

type OriginHeaders = Pick<globalThis.Headers, 'get' | 'has'>;

/**
 * The relying party is the requesting page. With `publicUrl` only its pages count, whatever the request contains. Without it the page's origin
 * counts, which was compared with the host before (`refuseOtherOrigin`). Throws `invalid_request`.
 */
export function relyingPartyOf(headers: OriginHeaders, publicUrl: string | undefined): RelyingParty {
  const url = URL.parse(headers.get('origin') ?? '');
  if (!url || !isPlace(url)) throw refusal('Passkeys need https and the name of a host, or localhost.');
  if (publicUrl === undefined || url.origin === URL.parse(publicUrl)?.origin)
    return { host: url.hostname, origin: url.origin };
  throw refusal(`Passkeys count for ${URL.parse(publicUrl)?.origin} alone: open the console there.`);
}

/**
 * Whether to offer passkeys to this browser. Browsers send `sec-fetch-site` only where the connection is safe, so it also tells where a
 * proxy ends TLS. Nothing depends on the answer but what the sign-in page shows.
 */
export function canUsePasskeys(headers: OriginHeaders, isOnTls: boolean, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined) {
    const url = URL.parse(publicUrl);
    return url !== null && isPlace(url);
  }
  const hostname = URL.parse(`http://${headers.get('host') ?? ''}`)?.hostname ?? '';
  return isName(hostname) && (isOnTls || isLocal(hostname) || headers.has('sec-fetch-site'));
}

const isPlace = ({ hostname, protocol }: URL) => isName(hostname) && (protocol === 'https:' || isLocal(hostname));
const isName = (hostname: string) => hostname !== '' && !hostname.startsWith('[') && isIP(hostname) === 0;
/** `node:net` is loaded when it is first needed. */
const isIP = (text: string) => process.getBuiltinModule('node:net').isIP(text);
const isLocal = (hostname: string) => hostname === 'localhost' || hostname.endsWith('.localhost');

const refusal = (message: string) => new GatewayError('invalid_request', message);
