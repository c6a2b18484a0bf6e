/** Storage of conversations: responses that can be continued, and reasoning signatures that the client's format cannot carry. */
import type { ReplyCacheStore } from './reply-cache.ts';

/** A stored response that its account can read and continue. It has the items that its request added to the conversation. */
export interface ResponseRow {
  id: string;
  account: string;
  /** The response that it continues; its items come before this one's. */
  previous?: string;
  at: number;
  /** After this time it is no longer found. Responses that continue it keep its items. */
  expiresAt: number;
  /** The owner of the signatures in its output. Only that provider can use them. */
  owner?: string;
  /** The items of the request and of the reply, each a JSON array as text. */
  input: string;
  output: string;
  /** The response without its output: a JSON object as text. */
  reply: string;
}

/** A response to store, with the ids of the items that it contains. */
export interface NewResponseRow extends ResponseRow {
  items: readonly string[];
}

/** The reasoning signatures of one turn. The key is computed from the turn as a client sends it back. */
export interface SignatureRow {
  account: string;
  key: string;
  expiresAt: number;
  /** The signatures as JSON text. */
  body: string;
}

export interface KeptStore {
  /** Replies that are given again to the same request. */
  readonly replies: ReplyCacheStore;
  /** In one transaction. A continued response is kept as long as the new response. A signature row replaces one with the same key. */
  keep(responses: readonly NewResponseRow[], signatures: readonly SignatureRow[]): Promise<void>;
  response(account: string, id: string, now: number): Promise<ResponseRow | undefined>;
  /** The response and those that it continues, oldest first. Empty if the response does not exist. */
  responseChain(account: string, id: string, now: number): Promise<ResponseRow[]>;
  /** The responses that contain these items. */
  responsesWith(account: string, items: readonly string[], now: number): Promise<ResponseRow[]>;
  /** `false` if there is no such response. */
  forgetResponse(account: string, id: string, now: number): Promise<boolean>;
  signatures(account: string, keys: readonly string[], now: number): Promise<SignatureRow[]>;
  /** Removes expired rows, and the oldest signatures beyond `mostSignatures`, up to a limit. `true` if there are more. */
  sweepKept(now: number, mostSignatures: number): Promise<boolean>;
}
