/** The target of a call, and the request that is sent to it. */
import type { Streamed } from '../canonical/upload.ts';

/** The target of a call: a model at a configured provider. */
export interface Target {
  /** The provider's name of the model. */
  model: string;
  /** As the provider's official library expects it, without a trailing slash. */
  baseUrl: string;
  credential: string | undefined;
  /** Settings specific to this provider (`apiVersion`, `region`, `project` and others). */
  settings: { readonly [name: string]: string };
}

/** A request to a provider. Header names are lower case. */
export interface Outgoing {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  /** Sent instead of `body`, if it is too large for memory. */
  stream?: Streamed;
}
