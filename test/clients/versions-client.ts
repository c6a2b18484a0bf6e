/** Official libraries of several versions that read the same bodies: what the user of each sees. */
import { type ClientChild, startChild } from './child.ts';

/** The libraries for each kind of use, by name and major version. */
export const VERSIONS = {
  'openai-chat': [
    'openai 4',
    'openai 5',
    'openai 6',
    'openai 7',
    'ai 4',
    'ai 5',
    'ai 6',
    'ai 7',
    'mistral 1',
    'mistral 2',
  ],
  'openai-chat, chunk by chunk': ['openai 4', 'openai 5', 'openai 6', 'openai 7'],
  'openai-completions': ['openai 4', 'openai 5', 'openai 6', 'openai 7', 'ai 4', 'ai 5', 'ai 6', 'ai 7'],
  'openai-responses': ['openai 4', 'openai 5', 'openai 6', 'openai 7', 'ai 4', 'ai 5', 'ai 6', 'ai 7'],
  'anthropic-messages': [
    'anthropic 0.32',
    'anthropic 0.60',
    'anthropic 0.137',
    'anthropic 1',
    'ai 4',
    'ai 5',
    'ai 6',
    'ai 7',
  ],
  gemini: ['genai 0', 'genai 1', 'genai 2', 'genai 3', 'generative-ai 0', 'ai 4', 'ai 5', 'ai 6', 'ai 7'],
} as const;

/** A body that the child serves itself, piece by piece; `broken`: the connection breaks after the last piece. */
export interface Served {
  contentType: string;
  pieces: string[];
  broken?: boolean;
}

export type VersionsCall = { library: string; format: string; stream: boolean; tools?: true } & (
  | Served
  /** A running gateway. */
  | { url: string; apiKey: string; model: string }
);

export interface VersionsView {
  reply?: {
    text: string;
    calls: [string, unknown][];
    finish: string | null;
    usage: { [count: string]: unknown } | null;
  };
  error?: { class: string; status: number | null; message: string };
}

export type VersionsClient = ClientChild<VersionsCall, VersionsView>;

export function startVersionsClient(): Promise<VersionsClient> {
  return startChild('versions-child.mjs');
}
