/** Who is calling: keys, what they may do, and how fast. */
import type { Budget, KeyKind, KeyRow } from '../store/store.ts';

export interface Caller {
  key: string;
  account: string;
  kind: KeyKind;
  /** Models the key may call; absent: all. */
  models?: ReadonlySet<string>;
  budget?: Budget;
  row: KeyRow;
}

/** Where the key was found and from where the call came. */
export interface Presented {
  /** `undefined`: the request carried none. */
  key: string | undefined;
  /** The peer's address. */
  address: string;
}

export interface Access {
  /** Throws GatewayError `invalid_api_key`, `key_disabled`, `key_expired`, `address_not_allowed`. */
  authenticate(presented: Presented, now: number): Caller | Promise<Caller>;
  /** Throws `model_not_allowed`. */
  allowModel(caller: Caller, model: string): void;
  /** Admits a call under the key's rates, or throws `rate_limited`; the returned function ends it with the tokens it used. */
  admit(caller: Caller, estimatedTokens: number, now: number): (usedTokens: number) => void;
}
