/** Signs a request for an AWS service (Signature Version 4), by keys or by an API key. */
import { AwsV4Signer } from 'aws4fetch';
import { unusable } from '../credential.ts';
import type { Outgoing, Target } from '../outgoing.ts';

interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** An access key, its secret and, for a while, a session: as one credential, parted by colons. API keys hold none. */
const KEYS = /^([A-Z0-9]{16,128}):([^:\s]+)(?::(\S+))?$/;
const REGION_IN_ADDRESS = /\.([a-z]{2}(?:-[a-z]+)+-\d)\./;

/** An API key of the service goes as it is; keys sign. */
export function authorizeByAws(outgoing: Outgoing, target: Target, service: string, now: number): void | Promise<void> {
  const keys = keysOf(target);
  if (keys) return sign(outgoing, keys, regionOf(target), service, now);
  if (target.credential !== undefined) outgoing.headers.authorization = `Bearer ${target.credential}`;
}

/** Signs the address, the body and the time; what else goes along may be changed by whoever passes it on. */
export async function sign(
  outgoing: Outgoing,
  keys: AwsKeys,
  region: string,
  service: string,
  now: number,
): Promise<void> {
  const { method, url, body } = outgoing;
  const datetime = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const signer = new AwsV4Signer({ method, url, ...(body && { body }), ...keys, region, service, datetime });
  const { headers } = await signer.sign();
  headers.forEach((value, name) => {
    outgoing.headers[name] = value;
  });
}

function keysOf({ credential, settings }: Target): AwsKeys | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = settings;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  }
  const [, id, secret, session] = KEYS.exec(credential ?? '') ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return { accessKeyId: id, secretAccessKey: secret, ...(session !== undefined && { sessionToken: session }) };
}

function regionOf({ settings, baseUrl }: Target): string {
  const region = settings.region ?? REGION_IN_ADDRESS.exec(baseUrl)?.[1];
  if (region === undefined) throw unusable('its setting `region` is missing');
  return region;
}
