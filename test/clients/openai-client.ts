/** The official openai library in a child process: scenarios in, what its user sees out. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { clientNode, clientsFolder, installClients } from './install.ts';

/** Majors by the name they are installed under. */
export type OpenaiLibrary = 'openai' | 'openai-4' | 'openai-5' | 'openai-6';

export interface Scenario {
  way: 'chat' | 'stream' | 'helper' | 'tools' | 'parse' | 'completion' | 'completion-stream' | 'models' | 'model';
  baseURL: string;
  apiKey: string;
  request?: { [member: string]: unknown };
  /** The client's own retries; none unless said otherwise. */
  maxRetries?: number;
  timeoutMs?: number;
  headers?: { [name: string]: string };
  /** Aborts after so many chunks, or milliseconds. */
  abortAfter?: number;
  abortAfterMs?: number;
  /** `tools`: whether each turn is streamed, and the result of each tool. */
  stream?: boolean;
  results?: { [tool: string]: string };
  /** `parse`: the name of a schema the child knows. */
  schema?: 'city' | 'report';
  /** `model`: which one. */
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
  /** Streams: how many deltas named a role, how many chunks a finish reason. */
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

/** What the library's user sees, free of the library's classes. */
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
  /** HTTP requests the library made. */
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

export interface OpenaiClient {
  /** Rejects where the child does not answer in time. */
  run(scenario: Scenario): Promise<ClientView>;
  /** Ends the child. Throws where it saw an unhandled rejection. */
  stop(): void;
}

const ANSWER_TIMEOUT_MS = 30_000;

export async function startOpenaiClient(library: OpenaiLibrary = 'openai'): Promise<OpenaiClient> {
  await installClients();
  const child = spawn(clientNode(), [join(clientsFolder, 'openai-child.mjs'), library], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<number, (view: ClientView) => void>();
  const unhandled: string[] = [];
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ...view } = JSON.parse(line) as ClientView & { id: number | null; unhandled?: string };
    if (id === null) unhandled.push(view.unhandled ?? line);
    else waiting.get(id)?.(view);
  });
  return {
    run(scenario) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(new Error(`the client did not answer within ${ANSWER_TIMEOUT_MS} ms: ${JSON.stringify(scenario)}`));
        }, ANSWER_TIMEOUT_MS);
        waiting.set(id, (view) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(view);
        });
        child.stdin.write(`${JSON.stringify({ id, ...scenario })}\n`);
      });
    },
    stop() {
      child.kill();
      if (unhandled.length > 0) throw new Error(`the client saw unhandled rejections: ${unhandled.join('\n')}`);
    },
  };
}
