/** Signs a request for an AWS service (Signature Version 4) with access keys, or adds an API key. */
import { AwsV4Signer } from 'aws4fetch';
import { unusable } from '../credential.ts';
import type { Outgoing, Target } from '../outgoing.ts';

interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/**
 * Access key, secret and an optional session token as one credential, separated by colons. API keys contain no colon.
 */
const KEYS = /^([A-Z0-9]{16,128}):([^:\s]+)(?::(\S+))?$/;
const REGION_IN_ADDRESS = /\.([a-z]{2}(?:-[a-z]+)+-\d)\./;

/** An API key is sent as a bearer token; access keys sign the request. */
export function authorizeByAws(outgoing: Outgoing, target: Target, service: string, now: number): void | Promise<void> {
  const keys = keysOf(target);
  if (keys) return sign(outgoing, keys, regionOf(target), service, now);
  if (target.credential !== undefined) outgoing.headers.authorization = `Bearer ${target.credential}`;
}

/** Signs the URL, the body and the time. Other headers are not signed, so that proxies can change them. */
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
