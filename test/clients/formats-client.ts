/** The official library of each format, asked alike: a conversation with at most one tool in, what its user sees out. */
import { type ClientChild, startChild } from './child.ts';

export type Format = 'chat' | 'messages' | 'gemini' | 'responses';

export interface Conversation {
  client: Format;
  /** The gateway, without a path. */
  url: string;
  apiKey: string;
  model: string;
  stream: boolean;
  prompt?: string;
  /** Asks for thinking, and to see it. */
  think?: boolean;
  /** Offers a tool, whose every call is answered with `result`. */
  tools?: boolean;
  result?: string;
  /** Members in the format's own words. */
  extra?: { [member: string]: unknown };
}

export interface TurnView {
  model: string;
  text: string;
  reasoning: string;
  calls: { id: string; name: string; args: unknown }[];
  finish: string;
  usage: { input: number; output: number };
}

export interface ConversationView {
  turns: TurnView[];
  error?: { class: string; status: number | null; message: string; requestId: string | null };
  /** Of the last answer; absent where the library does not let itself be watched. */
  headers?: { [name: string]: string };
}

export type FormatsClient = ClientChild<Conversation, ConversationView>;

export function startFormatsClient(): Promise<FormatsClient> {
  return startChild('formats-child.mjs');
}
