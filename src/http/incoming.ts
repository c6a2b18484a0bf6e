/** A request as the gateway takes it: nothing is read or looked up before it is asked for. */
import { newTimedId } from '../canonical/id.ts';
import { formBoundary } from '../dialects/multipart.ts';
import type { Incoming } from '../gateway/gateway.ts';
import type { ClientRequest } from '../transport/client-request.ts';
import { readBody } from './body.ts';
import type { AddressOf } from './client-address.ts';
import { type Carriers, clientKey, queryOf } from './client-key.ts';
import { receiveForm } from './upload.ts';

const NO_BYTES = new Uint8Array();

export interface IncomingOptions {
  carriers: Carriers;
  maxBodyBytes: number;
  /** Forms are taken apart as they come, their files put here. */
  uploads?: { folder: string };
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
    read: async () => {
      const head = { headers: request.headers, path, query: queryOf(request.target) };
      const { maxBodyBytes, uploads } = options;
      const boundary = uploads && formBoundary(request.headers.get('content-type'));
      if (!uploads || boundary === undefined || request.headers.has('content-encoding'))
        return { ...head, body: await readBody(request, maxBodyBytes) };
      const { form, release } = await receiveForm(request.body, boundary, maxBodyBytes, uploads.folder);
      return { ...head, body: NO_BYTES, form, release };
    },
    client: request,
  };
}
