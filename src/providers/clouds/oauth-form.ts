/** OAuth token requests and responses. */
import { isObject } from '../../canonical/json.ts';
import type { Outgoing } from '../outgoing.ts';
import type { Token } from '../provider.ts';

/** A token request. */
export function tokenForm(url: string, members: { [name: string]: string }): Outgoing {
  const body = new TextEncoder().encode(new URLSearchParams(members).toString());
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  return { method: 'POST', url, headers, body };
}

/** Reads a token response. Returns `undefined` if it has no token. */
export function readToken(status: number, body: Uint8Array, now: number): Token | undefined {
  if (status !== 200) return undefined;
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isObject(parsed) || typeof parsed.access_token !== 'string') return undefined;
    return { value: parsed.access_token, expiresAt: now + Number(parsed.expires_in ?? 0) * 1000 };
  } catch {
    return undefined;
  }
}
