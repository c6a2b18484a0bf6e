/** Storage of replies that are given again to the same request. */

export interface CachedReplyRow {
  account: string;
  /** Of the model and the request: SHA-256, in hex. */
  hash: string;
  at: number;
  /** After this time it is no longer found. */
  expiresAt: number;
  /** The reply as JSON text. */
  body: string;
}

export interface ReplyCacheStore {
  find(account: string, hash: string, now: number): Promise<CachedReplyRow | undefined>;
  /** Replaces an earlier reply with the same hash. */
  put(row: CachedReplyRow): Promise<void>;
  /** Removes the oldest replies of the account beyond `mostBytes`, up to a limit. `true` if there are more. */
  trim(account: string, mostBytes: number): Promise<boolean>;
  /** Removes expired replies, up to a limit. `true` if there are more. */
  sweep(now: number): Promise<boolean>;
}

/** What a row takes besides its body. It also bounds the number of rows. */
const ROW_BYTES = 1024;

/** The size of a reply as it counts against the bound. */
export function sizeOfReply(body: string): number {
  return ROW_BYTES + Buffer.byteLength(body);
}
