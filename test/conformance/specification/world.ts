/** The environment of the specification's rules: a gateway with the sandbox, and models of a provider that records its requests. */
import { expect } from 'bun:test';
import type { Scene, Stage } from '../../helpers/scene.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape are looked into.
export type Any = any;

export interface World {
  scene: Scene;
  /** A caller of the sandbox. */
  caller: Stage;
  /** Models whose provider speaks the endpoint's own format, by endpoint. */
  noted: { readonly [endpoint in Endpoint]?: Stage };
}

export type Endpoint =
  | 'chat'
  | 'messages'
  | 'responses'
  | 'completions'
  | 'generate'
  | 'embeddings'
  | 'rerank'
  | 'images';

/** A rule as a sentence and its check, which throws if the rule is violated. */
export interface Rule {
  rule: string;
  holds(world: World): Promise<void>;
}

export const rule = (words: string, holds: Rule['holds']): Rule => ({ rule: words, holds });

export interface Sent {
  method?: string;
  path: string;
  body?: unknown;
  headers?: { [name: string]: string };
  /** `null`: no key. */
  key?: string | null;
}

export async function send(
  { scene, caller }: World,
  { method = 'POST', path, body, headers = {}, key }: Sent,
): Promise<Response> {
  const bearer = key === undefined ? caller.caller.key : key;
  return fetch(scene.gateway.url + path, {
    method,
    headers: {
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body: body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body),
    }),
  });
}

/** The reply of a successful request. */
export async function replyOf(world: World, sent: Sent): Promise<Any> {
  const response = await send(world, sent);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

/** The member in the error and its text; the status is part of the rule. */
export async function refusalOf(world: World, sent: Sent): Promise<{ status: number; error: Any; words: string }> {
  const response = await send(world, sent);
  const text = await response.text();
  const { error } = JSON.parse(text) as { error: Any };
  return { status: response.status, error, words: text };
}

/** The path of each format and its minimal request. */
export const REQUESTS: {
  readonly [endpoint in Endpoint]: (model: string) => Sent & { body: { [member: string]: unknown } };
} = {
  chat: (model) => ({
    path: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'Hello [[pace 0]]' }] },
  }),
  messages: (model) => ({
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: { model, max_tokens: 64, messages: [{ role: 'user', content: 'Hello [[pace 0]]' }] },
  }),
  responses: (model) => ({ path: '/v1/responses', body: { model, input: 'Hello [[pace 0]]' } }),
  completions: (model) => ({ path: '/v1/completions', body: { model, prompt: 'Hello [[pace 0]]' } }),
  generate: (model) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello [[pace 0]]' }] }] },
  }),
  embeddings: (model) => ({ path: '/v1/embeddings', body: { model, input: 'Hello [[pace 0]]' } }),
  rerank: (model) => ({ path: '/v1/rerank', body: { model, query: 'Hello', documents: ['Hello there', 'Goodbye'] } }),
  images: (model) => ({ path: '/v1/images/generations', body: { model, prompt: 'A house' } }),
};

/** The sandbox's model for each. */
export const SANDBOX: { readonly [endpoint in Endpoint]: string } = {
  chat: 'sandbox-chat',
  messages: 'sandbox-chat',
  responses: 'sandbox-chat',
  completions: 'sandbox-chat',
  generate: 'sandbox-chat',
  embeddings: 'sandbox-embed',
  rerank: 'sandbox-rerank',
  images: 'sandbox-image',
};

/** A request to the sandbox with these members; `undefined` omits a member. */
export function sample(endpoint: Endpoint, more: { [member: string]: unknown } = {}, model = SANDBOX[endpoint]): Sent {
  const request = REQUESTS[endpoint](model);
  return { ...request, body: { ...request.body, ...more } };
}

/** Throws if the value has another type. */
export function expectKind(value: unknown, kind: Kind): void {
  const found = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  if (kind === 'integer') expect(Number.isInteger(value)).toBe(true);
  else expect(found).toBe(kind);
}

export type Kind = 'string' | 'integer' | 'number' | 'array' | 'object' | 'boolean';

/** The data of each server-sent event. */
export async function eventsOf(world: World, sent: Sent): Promise<{ data: string[]; text: string; type: string }> {
  const response = await send(world, sent);
  expect(response.status).toBe(200);
  const text = await response.text();
  const data = text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());
  return { data, text, type: response.headers.get('content-type') ?? '' };
}
