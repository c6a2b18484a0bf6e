/** What is kept of conversations: responses to go on from, and proofs of thinking that a client's format has no place for. */

/** A reply that its account can look up and go on from, with what the request added to what was before. */
export interface ResponseRow {
  id: string;
  account: string;
  /** The response it goes on from, whose items stand before its own. */
  previous?: string;
  at: number;
  /** From then on it is not found any more; what goes on from it keeps its items. */
  expiresAt: number;
  /** Whose proofs its output holds, where they are of use to that maker alone. */
  maker?: string;
  /** The request's own items, then the reply's: each a JSON array as text. */
  input: string;
  output: string;
  /** The reply without its output: a JSON object as text. */
  reply: string;
}

/** A response to keep, and the ids of the items that are found in it from now on. */
export interface NewResponseRow extends ResponseRow {
  items: readonly string[];
}

/** What proves one turn of a model's, found again by what the turn looks like when a client hands it back. */
export interface ProofRow {
  account: string;
  key: string;
  expiresAt: number;
  /** A turn's proofs as JSON text. */
  body: string;
}

export interface KeptStore {
  /** In one transaction. What a response goes on from is kept as long as the response. A proof takes the place of one with its key. */
  keep(responses: readonly NewResponseRow[], proofs: readonly ProofRow[]): Promise<void>;
  response(account: string, id: string, now: number): Promise<ResponseRow | undefined>;
  /** The response and all that it goes on from, the oldest first; empty where the response is not there. */
  responseChain(account: string, id: string, now: number): Promise<ResponseRow[]>;
  /** The responses in which these items are found. */
  responsesWith(account: string, items: readonly string[], now: number): Promise<ResponseRow[]>;
  /** `false`: there is none. */
  forgetResponse(account: string, id: string, now: number): Promise<boolean>;
  proofs(account: string, keys: readonly string[], now: number): Promise<ProofRow[]>;
  /** Removes some of what nobody finds any more, and of the proofs the oldest beyond `mostProofs`; `true`: there is more. */
  sweepKept(now: number, mostProofs: number): Promise<boolean>;
}
