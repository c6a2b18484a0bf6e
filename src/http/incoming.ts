/** A request as the gateway takes it: nothing is read or looked up before it is asked for. */
import { newTimedId } from '../canonical/id.ts';
import type { Incoming } from '../gateway/gateway.ts';
import type { ClientRequest } from '../transport/client-request.ts';
import { readBody } from './body.ts';
import type { AddressOf } from './client-address.ts';
import { type Carriers, clientKey, queryOf } from './client-key.ts';

export interface IncomingOptions {
  carriers: Carriers;
  maxBodyBytes: number;
  addressOf: AddressOf;
  now(): number;
}

/** `path`: the route's parameters. */
export function incomingOf(
  request: ClientRequest,
  path: { [name: string]: string },
  options: IncomingOptions,
): Incoming {
  return {
    requestId: newTimedId('req_', options.now()),
    presented: {
      key: clientKey(request, options.carriers),
      // Asking the socket costs a microsecond, and only keys bound to addresses need the answer.
      get address() {
        return options.addressOf(request);
      },
    },
    read: async () => ({
      body: await readBody(request, options.maxBodyBytes),
      headers: request.headers,
      path,
      query: queryOf(request.target),
    }),
    client: request,
  };
}
