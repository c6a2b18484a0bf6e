/** Asks another Modelport: for the command line, which is a client of the admin API. */
import { rootCertificates } from 'node:tls';

export interface ServerRequest {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body?: string;
  /** The server's own certificate, where it runs on this machine: its names need not hold the local address. */
  certificate?: string | undefined;
  /** How long the whole answer may take; absent: as long as the server needs. A file of hundreds of models takes a while. */
  timeoutMs?: number | undefined;
}

export interface ServerAnswer {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** Resolves with the whole answer, whatever its status. Redirects are not followed: they would carry the key to another address. */
export async function askServer({ url, certificate, timeoutMs, ...request }: ServerRequest): Promise<ServerAnswer> {
  const response = await fetch(url, {
    ...request,
    redirect: 'manual',
    timeout: false,
    ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
    ...(isLoopback(url) && DIRECT),
    ...(certificate !== undefined && {
      tls: { ca: [certificate, ...rootCertificates], checkServerIdentity: () => undefined },
    }),
  });
  return { status: response.status, header: (name) => response.headers.get(name), text: await response.text() };
}

/** No proxy of the environment reaches this machine's own addresses. Its type has no word for that. */
const DIRECT = { proxy: false as unknown as string };

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
