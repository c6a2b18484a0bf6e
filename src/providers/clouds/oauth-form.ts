/** How tokens are asked for, and given: OAuth's form and its answer. */
import { isObject } from '../../canonical/json.ts';
import type { Outgoing } from '../outgoing.ts';
import type { Token } from '../provider.ts';

/** The form in which tokens are asked for. */
export function tokenForm(url: string, members: { [name: string]: string }): Outgoing {
  const body = new TextEncoder().encode(new URLSearchParams(members).toString());
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  return { method: 'POST', url, headers, body };
}

/** The answer of a token endpoint, whoever's. */
export function readToken(status: number, body: Uint8Array, now: number): Token | undefined {
  if (status !== 200) return undefined;
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isObject(said) || typeof said.access_token !== 'string') return undefined;
    return { value: said.access_token, expiresAt: now + Number(said.expires_in ?? 0) * 1000 };
  } catch {
    return undefined;
  }
}
