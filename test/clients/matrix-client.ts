/** The client matrix: each library and version, its formats, and the cases that are run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import { type ClientChild, startChild } from './child.ts';
import { clientsFolder, installPackages } from './install.ts';

export type MatrixFormat = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini';

/** The provider that speaks a format natively. */
export const NATIVE: { readonly [format in MatrixFormat]: ProviderName } = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'gemini',
};

export interface MatrixClient {
  /** The library and its major version. */
  library: string;
  /** The dependencies that pin its versions. */
  packages: readonly string[];
  formats: readonly MatrixFormat[];
  /** It requests structured output. */
  structured: boolean;
  /** It requests structured output by a tool of this name, in these formats. */
  byTool?: { name: string; formats: readonly MatrixFormat[] };
  /** It requires the name in every piece of a streamed tool call, which not even OpenAI sends. */
  wholeCallsOnly?: true;
}

const EVERY = Object.keys(NATIVE) as MatrixFormat[];
const OPENAI = ['openai-chat', 'openai-responses'] as const;
const script = (
  library: string,
  packages: readonly string[],
  formats: readonly MatrixFormat[],
  structured = true,
): MatrixClient => ({ library, packages, formats, structured });
const sdk = (age: number, alias: (name: string) => string) =>
  script(
    `ai ${age}`,
    [age === 7 ? 'ai' : `ai-${age}`, ...['openai', 'anthropic', 'google'].map((name) => alias(name))],
    EVERY,
  );

export const MATRIX: readonly MatrixClient[] = [
  script('openai 4', ['openai-4'], OPENAI),
  script('openai 5', ['openai-5'], OPENAI),
  script('openai 6', ['openai-6'], OPENAI),
  script('openai 7', ['openai'], OPENAI),
  script('anthropic 0.32', ['anthropic-sdk-0.32'], ['anthropic-messages'], false),
  script('anthropic 0.60', ['anthropic-sdk-0.60'], ['anthropic-messages'], false),
  script('anthropic 0.137', ['anthropic-sdk-0.137'], ['anthropic-messages']),
  script('anthropic 1', ['@anthropic-ai/sdk'], ['anthropic-messages']),
  script('genai 0', ['google-genai-0'], ['gemini']),
  script('genai 1', ['google-genai-1'], ['gemini']),
  script('genai 2', ['google-genai-2'], ['gemini']),
  script('genai 3', ['@google/genai'], ['gemini']),
  script('generative-ai 0', ['google-generative-ai-0'], ['gemini']),
  {
    ...sdk(4, (name) => `ai-sdk-${name}-1`),
    byTool: { name: 'json', formats: ['openai-chat', 'anthropic-messages'] },
  },
  ...[5, 6].map((age) => sdk(age, (name) => `ai-sdk-${name}-${age - 3}`)),
  sdk(7, (name) => `@ai-sdk/${name}`),
  { ...script('mistral 1', ['mistralai-1'], ['openai-chat']), wholeCallsOnly: true },
  { ...script('mistral 2', ['mistralai-2'], ['openai-chat']), wholeCallsOnly: true },
  script('groq 1', ['groq-sdk'], ['openai-chat']),
  script('langchain 1', ['@langchain/openai', '@langchain/anthropic', '@langchain/google-genai'], EVERY),
  script('agents 0', ['@openai/agents'], OPENAI),
];

/** Failures, and the status that every client must see. */
export const FAILURES = {
  'a wrong key': 401,
  'an unknown model': 404,
  'a request the provider refuses': 400,
  'a rate limit': 429,
  'a provider that fails': 502,
} as const;
export type Failure = keyof typeof FAILURES | 'a stream that breaks off';

export type Task = 'text' | 'tools' | 'schema';
export interface MatrixCase {
  upstream: ProviderName | 'sandbox';
  stream: boolean;
  task: Task;
  failure?: Failure;
}

/** All cases of a client in one format: with every other format's provider, and with the sandbox. */
export function casesOf(client: MatrixClient, format: MatrixFormat): MatrixCase[] {
  const { structured, wholeCallsOnly } = client;
  const foreign = (Object.keys(PROVIDERS) as ProviderName[]).filter((name) => name !== NATIVE[format]);
  return [...foreign, 'sandbox' as const].flatMap((upstream, index) => {
    const cases: MatrixCase[] = [true, false].map((stream) => ({ upstream, stream, task: 'text' }));
    for (const stream of wholeCallsOnly ? [false] : [true, false]) cases.push({ upstream, stream, task: 'tools' });
    if (structured) cases.push({ upstream, stream: false, task: 'schema' });
    // The gateway's own refusals do not depend on the provider, so they run once.
    const failures = Object.keys(FAILURES) as Failure[];
    for (const failure of index === 0 ? failures : failures.slice(2)) {
      cases.push({ upstream, stream: index % 2 === 0, task: 'text', failure });
    }
    cases.push({ upstream, stream: true, task: 'text', failure: 'a stream that breaks off' });
    return cases;
  });
}

export interface MatrixCall {
  library: string;
  format: MatrixFormat;
  url: string;
  apiKey: string;
  model: string;
  stream: boolean;
  system: string;
  prompt: string;
  tools: boolean;
  schema: boolean;
}

export interface MatrixView {
  reply?: { text: string; calls: [string, unknown][] };
  error?: { class: string; status: number | null; message: string };
}

export async function startMatrixClient(): Promise<ClientChild<MatrixCall, MatrixView>> {
  await installPackages(join(clientsFolder, 'matrix'));
  return startChild('matrix-child.mjs');
}

/** The exact pinned versions: `openai 4.104.0`. */
export function versionsOf({ packages }: MatrixClient): string[] {
  const pinned = { ...dependencies('package.json'), ...dependencies('matrix/package.json') };
  return packages.map((name) => {
    const version = pinned[name];
    if (!version) throw new Error(`${name} is pinned nowhere.`);
    return version.startsWith('npm:') ? version.slice(4).replace(/@([^@]*)$/, ' $1') : `${name} ${version}`;
  });
}

function dependencies(file: string): { [name: string]: string } {
  return JSON.parse(readFileSync(join(clientsFolder, file), 'utf8')).dependencies;
}
