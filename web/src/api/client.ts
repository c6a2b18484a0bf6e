/** The one place that speaks to the gateway. Requests carry the session's cookie; no key ever reaches this code. */

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, requestId: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** No answer at all: the network is down, or the gateway is not there. */
export class OfflineError extends Error {}

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export type Query = { readonly [name: string]: string | number | undefined };

export function withQuery(path: string, query: Query): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parts.set(name, String(value));
  const text = parts.toString();
  return text === '' ? path : `${path}?${text}`;
}

export async function send(path: string, { method = 'GET', body, headers, signal }: Ask = {}): Promise<Response> {
  const init: RequestInit = { method, credentials: 'same-origin', headers: { accept: 'application/json', ...headers } };
  if (body !== undefined) {
    const isForm = body instanceof FormData;
    init.body = isForm ? body : JSON.stringify(body);
    if (!isForm) init.headers = { ...init.headers, 'content-type': 'application/json' };
  }
  if (signal) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new OfflineError('offline');
  }
  if (!response.ok) throw await readError(response);
  return response;
}

export async function ask<T>(path: string, options: Ask = {}): Promise<T> {
  const response = await send(path, options);
  return (await response.json()) as T;
}

async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id');
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code?: string } };
    return new ApiError(response.status, error.code ?? '', error.message, requestId);
  } catch {
    return new ApiError(response.status, '', response.statusText || String(response.status), requestId);
  }
}
