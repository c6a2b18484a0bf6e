/** A request in the form that the gateway takes. Key, address and body are read on demand. */
import type { Caller } from '../access/access.ts';
import type { Load } from '../access/work-bounds.ts';
import { newTimedId } from '../canonical/id.ts';
import type { WireRequest } from '../dialects/dialect.ts';
import { formBoundary } from '../dialects/wire/multipart.ts';
import type { Incoming } from '../gateway/gateway.ts';
import type { ClientRequest } from '../http1/client-request.ts';
import { readBody } from './bodies/body.ts';
import type { JsonBodies } from './bodies/json-bodies.ts';
import { receiveForm } from './bodies/upload.ts';
import type { AddressOf } from './client-address.ts';
import { type Carriers, presentedKey, queryOf } from './client-key.ts';

const NO_BYTES = new Uint8Array();

export interface IncomingOptions {
  carriers: Carriers;
  maxBodyBytes: number;
  bodies: JsonBodies;
  /** Parses forms while they arrive and stores their files in this folder. */
  uploads?: { folder: string };
  addressOf: AddressOf;
  now(): number;
  /** The caller, if the request has a session in the place of a key. */
  as?: Caller;
}

export class IncomingRequest implements Incoming {
  readonly requestId: string;
  readonly client: ClientRequest;
  readonly announcedBytes: number | undefined;
  private readonly path: { [name: string]: string };
  private readonly options: IncomingOptions;

  /** `path`: the route's parameters. */
  constructor(request: ClientRequest, path: { [name: string]: string }, options: IncomingOptions) {
    this.requestId = newTimedId('req_', options.now());
    this.client = request;
    this.announcedBytes = request.body.length;
    this.path = path;
    this.options = options;
  }

  get key(): string | undefined {
    const { as, carriers } = this.options;
    return as ? undefined : presentedKey(this.client, carriers);
  }

  get caller(): Caller | undefined {
    return this.options.as;
  }

  get address(): string {
    return this.options.addressOf(this.client);
  }

  read(load: Load): WireRequest | Promise<WireRequest> {
    const { maxBodyBytes, uploads, bodies } = this.options;
    const { headers } = this.client;
    const boundary = uploads && formBoundary(headers.get('content-type'));
    if (uploads && boundary !== undefined && !headers.has('content-encoding'))
      return this.readForm(boundary, uploads.folder);
    const body = readBody(this.client, maxBodyBytes, load);
    if (body instanceof Promise) return this.readLater(body);
    const admitted = bodies.admit(body);
    return admitted instanceof Promise ? this.wireLater(admitted) : this.wire(admitted);
  }

  private async readLater(body: Promise<Uint8Array>): Promise<WireRequest> {
    return this.wire(await this.options.bodies.admit(await body));
  }

  private async wireLater(body: Promise<Uint8Array>): Promise<WireRequest> {
    return this.wire(await body);
  }

  private wire(body: Uint8Array): WireRequest {
    const { headers, target } = this.client;
    const hasOwnHeaders = headers.hasStart('x-modelport-');
    return { body, headers, hasOwnHeaders, path: this.path, query: queryOf(target) };
  }

  private async readForm(boundary: string, folder: string): Promise<WireRequest> {
    const { form, release } = await receiveForm(this.client.body, boundary, this.options.maxBodyBytes, folder);
    return { ...this.wire(NO_BYTES), form, release };
  }
}
