/** Sends requests of the command line to the admin API of a server. */

export interface ServerRequest {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body?: string;
  /** The certificate of a server on this machine; it need not contain the local address. */
  certificate?: string | undefined;
  /** The time limit for the complete response. Absent: none, because applying a file with hundreds of models takes long. */
  timeoutMs?: number | undefined;
}

export interface ServerAnswer {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** Resolves with the complete response, whatever its status. Redirects are not followed, because they would send the key elsewhere. */
export async function askServer({ url, certificate, timeoutMs, ...request }: ServerRequest): Promise<ServerAnswer> {
  const response = await fetch(url, {
    ...request,
    redirect: 'manual',
    timeout: false,
    ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
    ...(isLoopback(url) && DIRECT),
    ...(certificate !== undefined && {
      tls: {
        ca: [certificate, ...process.getBuiltinModule('node:tls').rootCertificates],
        checkServerIdentity: () => undefined,
      },
    }),
  });
  return { status: response.status, header: (name) => response.headers.get(name), text: await response.text() };
}

/** No proxy for addresses of this machine. Bun's types lack this value. */
const DIRECT = { proxy: false as unknown as string };

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
