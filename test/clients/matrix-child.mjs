// The client matrix: official libraries of every age run the same conversations. One JSON line in, one out; `id` joins the two.
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { aiSdk, anthropic, genai, generativeAi, mistral, openai } from './matrix/libraries.mjs';

// Nothing here may reach beyond this machine: what tries is an error of the library's, and told to the suite.
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === 'object' ? (first?.host ?? 'localhost') : (args[1] ?? 'localhost');
  if (first?.path || ['127.0.0.1', 'localhost', '::1'].includes(host)) return connect.apply(this, args);
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: `a library connects to ${host}` })}\n`);
  throw new Error('Only loopback is allowed.');
};

const frameworks = (name) => ({
  run: async (format, at) => (await import('./matrix/frameworks.mjs'))[name](format, at),
});
const LIBRARIES = {
  'openai 4': openai(() => import('openai-4')),
  'openai 5': openai(() => import('openai-5')),
  'openai 6': openai(() => import('openai-6')),
  'openai 7': openai(() => import('openai')),
  'anthropic 0.32': anthropic(() => import('anthropic-sdk-0.32')),
  'anthropic 0.60': anthropic(() => import('anthropic-sdk-0.60')),
  'anthropic 0.137': anthropic(() => import('anthropic-sdk-0.137')),
  'anthropic 1': anthropic(() => import('@anthropic-ai/sdk')),
  'genai 0': genai(() => import('google-genai-0'), false),
  'genai 1': genai(() => import('google-genai-1'), false),
  'genai 2': genai(() => import('google-genai-2')),
  'genai 3': genai(() => import('@google/genai')),
  'generative-ai 0': generativeAi(() => import('google-generative-ai-0')),
  'ai 4': aiSdk(() => import('ai-4'), {
    openai: () => import('ai-sdk-openai-1'),
    anthropic: () => import('ai-sdk-anthropic-1'),
    google: () => import('ai-sdk-google-1'),
  }),
  'ai 5': aiSdk(() => import('ai-5'), {
    openai: () => import('ai-sdk-openai-2'),
    anthropic: () => import('ai-sdk-anthropic-2'),
    google: () => import('ai-sdk-google-2'),
  }),
  'ai 6': aiSdk(() => import('ai-6'), {
    openai: () => import('ai-sdk-openai-3'),
    anthropic: () => import('ai-sdk-anthropic-3'),
    google: () => import('ai-sdk-google-3'),
  }),
  'ai 7': aiSdk(() => import('ai'), {
    openai: () => import('@ai-sdk/openai'),
    anthropic: () => import('@ai-sdk/anthropic'),
    google: () => import('@ai-sdk/google'),
  }),
  'mistral 1': mistral(() => import('mistralai-1')),
  'mistral 2': mistral(() => import('mistralai-2')),
  'groq 1': frameworks('groq'),
  'langchain 1': frameworks('langchain'),
  'agents 0': frameworks('agents'),
};

async function run({ id, library, format, ...at }) {
  const seen = { id };
  try {
    const { run: ask } = LIBRARIES[library];
    seen.reply = await ask(format, at);
  } catch (thrown) {
    const failure = thrown?.lastError ?? thrown;
    const message = failure?.message ?? (failure instanceof Error ? '' : JSON.stringify(failure));
    // @google/genai 0 has the status in its words alone.
    const [, told] = /got status: (\d+)/.exec(message) ?? [];
    seen.error = {
      class: failure?.constructor?.name,
      status: failure?.status ?? failure?.statusCode ?? (told ? Number(told) : null),
      message: message.slice(0, 600),
    };
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

console.warn = () => {};
console.error = () => {};
console.log = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;
// Helpers reject promises that nobody asked for, too.
process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
