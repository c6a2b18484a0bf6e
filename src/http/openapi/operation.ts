/** The part of an operation in the OpenAPI document that is not in its row of the route table. Loaded on first use. */
import type { TSchema } from 'typebox';
import type { Json, JsonObject } from '../../canonical/json.ts';

export const TAGS = {
  Chat: 'Conversations in the OpenAI format, and text completions.',
  Responses: 'Conversations in the Responses format, with stored responses.',
  Messages: 'Conversations in the Anthropic format.',
  Gemini: 'Conversations and embeddings in the Google format.',
  Images: 'Images, generated and edited.',
  Audio: 'Speech from text, and text from speech.',
  Embeddings: 'Vectors, rankings and moderations of texts.',
  Videos: 'Videos as tasks, in four formats: a task created in one is visible in all.',
  Models: 'The models that a key can call.',
  Billing: "A key's own balance, usage and redemption codes.",
  Status: 'Name, version, health and readiness of the service. No key needed.',
  Accounts: 'Admin API: accounts and their money.',
  Keys: 'Admin API: keys.',
  Alerts: 'Admin API: alerts, their channels and rules.',
  People: 'Admin API: people who sign in to the console.',
  Catalog: 'Admin API: providers, models and prices.',
  Records: 'Admin API: calls, ledger and audit log.',
  Operation: 'Admin API: the state of the gateway at a glance, and its settings.',
} as const;
export type Tag = keyof typeof TAGS;

export type RequestHeader =
  | 'anthropic-version'
  | 'idempotency-key'
  | 'range'
  | 'x-modelport-strict'
  | 'x-modelport-tags';

export interface Operation {
  id: string;
  tag: Tag;
  /** The body, if the route has no schema or a looser one. */
  body?: TSchema;
  /** The same body as a form. */
  form?: TSchema;
  /** The response, if the route does not declare it. */
  reply?: TSchema;
  /** The response with status 202, while work continues. */
  accepted?: TSchema;
  /** An example of the response, where the sandbox gives none. */
  example?: Json;
  /** Other media types of the response that the request can ask for, each with an example. */
  alsoAs?: { readonly [mediaType: string]: string };
  /** Headers of the request; those of all calls are added. */
  headers?: readonly RequestHeader[];
  /** The media type, if the response is not JSON. */
  replyType?: string;
  /** The data of each event, if the response can be a stream of server-sent events. */
  events?: TSchema;
  query?: { readonly [name: string]: Json };
  /** Example values of path parameters. */
  path?: { readonly [name: string]: string };
  /** A request that succeeds with the sandbox. */
  request?: JsonObject;
}

/** By method and path, as the document shows them. */
export type Operations = { readonly [route: string]: Operation };
