/** The official openai library in a child process: scenarios in, what its user sees out. */
import { type ClientChild, startChild } from './child.ts';

/** Major versions by the name they are installed under. */
export type OpenaiLibrary = 'openai' | 'openai-4' | 'openai-5' | 'openai-6';

export interface Scenario {
  way: 'chat' | 'stream' | 'helper' | 'tools' | 'parse' | 'completion' | 'completion-stream' | 'models' | 'model';
  baseURL: string;
  apiKey: string;
  request?: { [member: string]: unknown };
  /** Retries of the client; 0 by default. */
  maxRetries?: number;
  timeoutMs?: number;
  headers?: { [name: string]: string };
  /** Aborts after this number of chunks, or milliseconds. */
  abortAfter?: number;
  abortAfterMs?: number;
  /** `tools`: whether each turn is streamed, and the result of each tool. */
  stream?: boolean;
  results?: { [tool: string]: string };
  /** `parse`: the name of a schema that the child knows. */
  schema?: 'city' | 'report';
  /** `model`: its name. */
  model?: string;
}

export interface ChoiceView {
  index: number;
  text: string;
  reasoning: string;
  refusal: string;
  calls: { id: string; name: string; args: string }[];
  finish: string | null;
  annotations?: { index?: number; [member: string]: unknown }[];
  /** Streams: how many deltas had a role, and how many chunks a finish reason. */
  roles?: number;
  finishes?: number;
}

export interface UsageView {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
}

/** What the library's user sees, without the library's classes. */
export interface ClientView {
  choices: ChoiceView[];
  turns?: ChoiceView[];
  parsed?: unknown;
  usage?: UsageView | null;
  object?: string;
  ids: string[];
  models: string[];
  chunks: number;
  usageChunks: number;
  list?: { id: string; object: string; owned_by: string; created: number }[];
  requestId?: string;
  /** HTTP requests that the library sent. */
  attempts: number;
  status?: number;
  headers?: { [name: string]: string };
  error?: {
    class: string;
    isApiError: boolean;
    status: number | null;
    code: string | null;
    type: string | null;
    param: string | null;
    message: string;
    requestId: string | null;
  };
}

export type OpenaiClient = ClientChild<Scenario, ClientView>;

export function startOpenaiClient(library: OpenaiLibrary = 'openai'): Promise<OpenaiClient> {
  return startChild('openai-child.mjs', library);
}
