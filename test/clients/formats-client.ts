/** The official library of each format, and the AI SDK over each, asked alike: a conversation in, what its user sees out. */
import { type ClientChild, startChild } from './child.ts';

export type Format = 'chat' | 'messages' | 'gemini' | 'responses';
export type Client = Format | `ai-${Format}` | 'ai-compatible';

export const FORMATS = ['chat', 'messages', 'gemini', 'responses'] as const satisfies readonly Format[];
export const CLIENTS = [
  ...FORMATS,
  'ai-chat',
  'ai-compatible',
  'ai-messages',
  'ai-gemini',
  'ai-responses',
] as const satisfies readonly Client[];

/** An image, inline or elsewhere, a document, an audio file. */
export interface FilePart {
  type: 'image' | 'document' | 'audio';
  mediaType: string;
  data?: string;
  url?: string;
  name?: string;
}

export interface OfferedTool {
  name: string;
  description: string;
  schema: { [keyword: string]: unknown };
}

export interface ToolAnswer {
  text: string;
  image?: FilePart;
  failed?: boolean;
}

export interface Conversation {
  client: Client;
  /** The gateway, without a path. */
  url: string;
  apiKey: string;
  model: string;
  stream: boolean;
  system?: string;
  prompt?: string | readonly ({ type: 'text'; text: string } | FilePart)[];
  /** Asks for thinking, and to see it. */
  think?: boolean;
  tools?: readonly OfferedTool[];
  choice?: 'auto' | 'required' | 'none' | { name: string };
  /** One call in a turn at most. */
  oneAtATime?: boolean;
  /** The answer of each tool, and of those that have none of their own. */
  results?: { [tool: string]: string | ToolAnswer };
  result?: string;
  /** A schema that the answer is to obey. */
  schema?: { [keyword: string]: unknown };
  stop?: readonly string[];
  maxTokens?: number;
  /** Ends the conversation after so many, answered or not. */
  mostTurns?: number;
  /** Aborts after so many deltas of text. */
  abortAfter?: number;
  /** The client's own; none unless told. */
  retries?: number;
  /** Of Google's interface; the library's own unless told. */
  version?: 'v1beta';
  /** Instead of the conversation: the names of all models; or the library's own keeping of one (`gemini` alone), prompt by prompt. */
  way?: 'models' | 'chat';
  prompts?: readonly string[];
  /** Members in the client's own words. */
  extra?: { [member: string]: unknown };
}

export interface TurnView {
  id: string;
  model: string;
  text: string;
  refusal: string;
  reasoning: string;
  calls: { id: string; name: string; args: unknown }[];
  finish: string;
  /** The stop sequence that was hit, where the format says it. */
  stopped?: string;
  /** Addresses that the answer cites. */
  sources: string[];
  usage: { input: number; output: number; cachedInput: number; reasoning: number };
}

export interface ConversationView {
  turns: TurnView[];
  /** What `way` was answered. */
  told?: unknown;
  /** Deltas of text as they came. */
  heard: string[];
  /** HTTP requests that the library made. */
  attempts: number;
  error?: {
    class: string;
    status: number | null;
    type: string | null;
    code: string | null;
    message: string;
    requestId: string | null;
  };
  /** Of the last answer. */
  status?: number;
  headers?: { [name: string]: string };
}

export type FormatsClient = ClientChild<Conversation, ConversationView>;

export function startFormatsClient(): Promise<FormatsClient> {
  return startChild('formats-child.mjs');
}
