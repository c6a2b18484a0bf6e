/** Where a call goes, and the request that goes there. */
import type { Streamed } from '../canonical/upload.ts';

/** Where a call goes: one upstream model at one configured provider. */
export interface Target {
  /** The provider's name of the model. */
  model: string;
  /** As the provider's official library takes it, without a trailing slash. */
  baseUrl: string;
  credential: string | undefined;
  /** Settings only this provider has (`apiVersion`, `region`, `project` …). */
  settings: { readonly [name: string]: string };
}

/** A request on its way out. Header names are lower-case. */
export interface Outgoing {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  /** Sent in the body's place: more than belongs in memory. */
  stream?: Streamed;
}
