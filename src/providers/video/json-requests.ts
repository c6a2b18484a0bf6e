/** JSON requests to video providers, and reading their JSON responses. */
import type { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import { readOpenaiError } from '../../dialects/shared/openai-errors.ts';
import type { Outgoing } from '../outgoing.ts';
import { type ProviderAnswer, unreadableAnswer } from './video.ts';

export function jsonRequest(url: string, members: JsonObject, headers: { [name: string]: string } = {}): Outgoing {
  const body = new TextEncoder().encode(JSON.stringify(members));
  return { method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function plainRequest(url: string, method = 'GET'): Outgoing {
  return { method, url, headers: {}, body: undefined };
}

/** The members of the response. Throws the provider's error. */
export function membersIn({ status, headers, body }: ProviderAnswer): JsonObject {
  if (status >= 300) throw readOpenaiError(status, headers, body);
  try {
    const members: unknown = JSON.parse(new TextDecoder().decode(body));
    if (isObject(members)) return members;
  } catch {
    // Reported below.
  }
  throw unreadableAnswer();
}

/** An error in a response with status 200. */
export function refusalIn(status: number, { headers }: ProviderAnswer, message: Json | undefined): GatewayError {
  return readOpenaiError(status, headers, new TextEncoder().encode(JSON.stringify({ message: message ?? '' })));
}

export function memberOf(members: JsonObject, name: string): JsonObject {
  const member = members[name];
  return isObject(member) ? member : {};
}

export function requiredId(value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  throw unreadableAnswer();
}

/** Removes members without a value. */
export function defined(members: { [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((pair): pair is [string, Json] => pair[1] !== undefined));
}
