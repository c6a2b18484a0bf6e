/** Google credentials: a service account key or a user's refresh token, exchanged for access tokens. */
import { importPKCS8, SignJWT } from 'jose';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import { unusable } from '../credential.ts';
import type { Outgoing } from '../outgoing.ts';
import type { TokenExchange } from '../provider.ts';
import { readToken, tokenForm } from './oauth-form.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';
const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTED_SECONDS = 3600;

/** The parsed credential; `undefined` if it is a token or an API key. Throws if it is JSON that cannot be used. */
export function googleAccount(credential: string | undefined): JsonObject | undefined {
  if (!credential?.trimStart().startsWith('{')) return undefined;
  try {
    const account: unknown = JSON.parse(credential);
    if (isObject(account)) return account;
  } catch {
    // It looks like JSON but is not.
  }
  throw unusable('its credential begins like JSON and is none');
}

/** `credential`: the JSON text of `account`. */
export function googleExchange(credential: string, account: JsonObject): TokenExchange {
  const { type } = account;
  if (type !== 'service_account' && type !== 'authorized_user') {
    throw unusable(`credentials of the type ${String(type)} are not supported: use the key of a service account`);
  }
  return {
    key: credential,
    request: (now) => (type === 'service_account' ? askByKey(account, now) : askByRefreshToken(account)),
    read: readToken,
  };
}

async function askByKey(account: JsonObject, now: number): Promise<Outgoing> {
  const kid = account.private_key_id;
  const issued = Math.floor(now / 1000);
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(typeof kid === 'string' && { kid }) })
    .setIssuer(textOf(account, 'client_email'))
    .setAudience(addressOf(account))
    .setIssuedAt(issued)
    .setExpirationTime(issued + ASSERTED_SECONDS)
    .sign(await importPKCS8(textOf(account, 'private_key'), 'RS256'));
  return tokenForm(addressOf(account), { grant_type: JWT_GRANT, assertion });
}

function askByRefreshToken(account: JsonObject): Outgoing {
  const names = ['client_id', 'client_secret', 'refresh_token'];
  const members = Object.fromEntries(names.map((name) => [name, textOf(account, name)]));
  return tokenForm(addressOf(account), { grant_type: 'refresh_token', ...members });
}

function addressOf(account: JsonObject): string {
  return typeof account.token_uri === 'string' ? account.token_uri : TOKEN_ADDRESS;
}

function textOf(account: JsonObject, name: string): string {
  const value = account[name];
  if (typeof value === 'string' && value !== '') return value;
  throw unusable(`its credential has no ${name}`);
}
