/** Requests of the legacy completions API, for the tests of its format. */
import type { ChatCall } from '../../src/canonical/call.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import { readCall } from '../../src/dialects/chat/openai-completions/read-request.ts';

/** The smallest request. */
export const CALL = { model: 'public-name', prompt: 'Once' };

export const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
export const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

export const callOf = (body: unknown): ChatCall =>
  readCall({ body: bytesOf(body), headers: new Headers(), path: {}, query: new URLSearchParams() });

export const streamCall = (more: JsonObject = {}) => callOf({ ...CALL, stream: true, ...more });
