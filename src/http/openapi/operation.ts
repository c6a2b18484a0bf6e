/** What the public description says of an operation beside its row of the route table. Nothing of it is loaded before somebody asks for it. */
import type { TSchema } from 'typebox';
import type { Json, JsonObject } from '../../canonical/json.ts';

export const TAGS = {
  Chat: 'Conversations in the OpenAI format, and text completions.',
  Responses: 'Conversations in the Responses format, kept and gone on from.',
  Messages: 'Conversations in the Anthropic format.',
  Gemini: 'Conversations and embeddings in the Google format.',
  Images: 'Images, generated and edited.',
  Audio: 'Speech from text, and text from speech.',
  Embeddings: 'Vectors, rankings and moderations of texts.',
  Videos: 'Videos as tasks, in four formats: a task begun in one is shown in all of them.',
  Models: 'The models that a key may call.',
  Billing: "A key's own balance, usage and redemption codes.",
  Status: 'What answers here, and whether it can work. Without a key.',
  Accounts: 'Admin API: accounts and their money.',
  Keys: 'Admin API: keys.',
  Catalog: 'Admin API: providers, models and prices.',
  Records: 'Admin API: calls, ledger and audit log.',
} as const;
export type Tag = keyof typeof TAGS;

export interface Operation {
  id: string;
  tag: Tag;
  /** The body, where its row has none, or checks less than it documents. */
  body?: TSchema;
  /** The same body as a form. */
  form?: TSchema;
  /** The answer, where its row does not say it. */
  reply?: TSchema;
  /** What is answered with 202 where the work goes on. */
  accepted?: TSchema;
  /** Where the answer is no JSON. */
  replyType?: string;
  /** The data of each event, where the answer may be a stream of server-sent events. */
  events?: TSchema;
  query?: { readonly [name: string]: Json };
  /** Examples of the parameters in the path. */
  path?: { readonly [name: string]: string };
  /** A request that the sandbox answers with success. */
  request?: JsonObject;
}

/** By method and path, as the description shows them. */
export type Operations = { readonly [route: string]: Operation };
