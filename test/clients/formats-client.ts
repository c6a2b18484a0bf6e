/** The official library of each format, and the AI SDK for each, with the same interface: a conversation in, what its user sees out. */
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

/** An image (inline or by URL), a document, or an audio file. */
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
  /** The gateway's URL without a path. */
  url: string;
  apiKey: string;
  model: string;
  stream: boolean;
  system?: string;
  prompt?: string | readonly ({ type: 'text'; text: string } | FilePart)[];
  /** Requests reasoning and asks to see it. */
  think?: boolean;
  tools?: readonly OfferedTool[];
  choice?: 'auto' | 'required' | 'none' | { name: string };
  /** At most one tool call per turn. */
  oneAtATime?: boolean;
  /** The result of each tool; a default for the others. */
  results?: { [tool: string]: string | ToolAnswer };
  result?: string;
  /** A schema for the answer. */
  schema?: { [keyword: string]: unknown };
  stop?: readonly string[];
  maxTokens?: number;
  /** Ends the conversation after this number of turns, answered or not. */
  mostTurns?: number;
  /** Aborts after this number of text deltas. */
  abortAfter?: number;
  /** Retries of the client; 0 by default. */
  retries?: number;
  /** The version of Google's interface; by default the library's. */
  version?: 'v1beta';
  /** Instead of a conversation: lists all models, or (`gemini` only) uses the library's own chat, prompt by prompt. */
  way?: 'models' | 'chat';
  prompts?: readonly string[];
  /** Members in the client's own format. */
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
  /** The stop sequence that ended the text, if the format contains it. */
  stopped?: string;
  /** URLs that the answer cites. */
  sources: string[];
  usage: { input: number; output: number; cachedInput: number; reasoning: number };
}

export interface ConversationView {
  turns: TurnView[];
  /** The result for `way`. */
  result?: unknown;
  /** Text deltas as they arrived. */
  received: string[];
  /** HTTP requests that the library sent. */
  attempts: number;
  error?: {
    class: string;
    status: number | null;
    type: string | null;
    code: string | null;
    message: string;
    requestId: string | null;
  };
  /** Of the last response. */
  status?: number;
  headers?: { [name: string]: string };
}

export type FormatsClient = ClientChild<Conversation, ConversationView>;

export function startFormatsClient(): Promise<FormatsClient> {
  return startChild('formats-child.mjs');
}
