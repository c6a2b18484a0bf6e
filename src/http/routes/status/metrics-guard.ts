/** Who may read the metrics. They contain models, providers and amounts, so the client's address is never enough. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Access } from '../../../access/access.ts';
import { GatewayError } from '../../../canonical/errors.ts';

/** `token`: the metrics token. `isOpen`: no key is needed. */
export interface MetricsGate {
  token: string | undefined;
  isOpen: boolean;
}

const BEARER = /^bearer +(\S+) *$/i;

/** Accepts the metrics token or an admin key as bearer token. Throws as `authenticate` does, or `invalid_api_key`. */
export async function refuseStranger(
  gate: MetricsGate,
  { access, now }: { access: Access; now(): number },
  headers: Pick<Headers, 'get'>,
  address: string,
): Promise<void> {
  if (gate.isOpen) return;
  const key = BEARER.exec(headers.get('authorization') ?? '')?.[1];
  if (key === undefined) {
    const sentence =
      'The metrics need an admin key or the token of MODELPORT_METRICS_TOKEN: send it as "Authorization: Bearer …".';
    throw new GatewayError('invalid_api_key', sentence);
  }
  if (gate.token !== undefined && isSame(key, gate.token)) return;
  await access.authenticate({ key, address }, now(), 'admin');
}

/** Compares in constant time. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
