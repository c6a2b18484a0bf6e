/** Makes a client's request as the server would pass it on, without a connection. */
import { ClientRequest } from '../../src/http1/client-request.ts';

export interface Arrived {
  method?: string;
  target?: string;
  headers?: { [name: string]: string };
  body?: string | Uint8Array;
  address?: string;
}

const NO_SOURCE = { wanted() {}, pause() {}, resume() {} };

export function arrivedRequest({ method = 'POST', target = '/', headers = {}, body = '', address = '' }: Arrived) {
  const bytes = Buffer.from(body as string);
  const all = { host: 'gateway', ...headers, 'content-length': String(bytes.length) };
  const lines = Object.entries(all).map(([name, value]) => `\r\n${name}: ${value}`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1${lines.join('')}\r\n\r\n`, 'latin1');
  const request = new ClientRequest(head, 0, head.length - 4, NO_SOURCE, { remoteAddress: address });
  if (bytes.length > 0) request.body.push(bytes);
  request.body.finish();
  return request;
}
