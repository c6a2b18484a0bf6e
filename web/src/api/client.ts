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

/** No answer: the network is down, the gateway is not there, or it did not answer in time. */
export class OfflineError extends Error {
  readonly isLate: boolean;
  /** A change was asked for: it may have been made. */
  readonly isChange: boolean;

  constructor({ isLate = false, isChange = false }: { isLate?: boolean; isChange?: boolean } = {}) {
    super(isLate ? 'no answer in time' : 'offline');
    this.isLate = isLate;
    this.isChange = isChange;
  }
}

/** Longer than any answer of the admin API takes; a change may wait for another service, such as a mail server. */
const READ_MS = 30_000;
const CHANGE_MS = 60_000;

export interface Ask {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
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
    throw lostBy(error, method);
  }
  if (!response.ok) throw await readError(response);
  return response;
}

/** A request that was taken back stays what it is; everything else is a lost connection. */
function lostBy(error: unknown, method: string): unknown {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'AbortError') return error;
  return new OfflineError({ isLate: name === 'TimeoutError', isChange: method !== 'GET' });
}

/** Asks for JSON. Unlike a stream, its answer is awaited for a limited time. */
export async function ask<T>(path: string, options: Ask = {}): Promise<T> {
  const { method = 'GET' } = options;
  const late = AbortSignal.timeout(method === 'GET' ? READ_MS : CHANGE_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  const response = await send(path, { ...options, signal });
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw lostBy(error, method);
  }
  return JSON.parse(text) as T;
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
