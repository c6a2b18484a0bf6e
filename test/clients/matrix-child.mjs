// The client matrix: official libraries of every age run the same conversations. One JSON line in, one out; `id` joins the two.
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { aiSdk, anthropic, genai, generativeAi, mistral, openai } from './matrix/libraries.mjs';
import { librariesBy } from './matrix/versions.mjs';

// Only this machine may be reached: any other request is an error of the library and reported to the suite.
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
  ...librariesBy({
    openai: (_, load) => openai(load),
    anthropic: (_, load) => anthropic(load),
    // Versions 0 and 1 have no setting for retries.
    genai: (version, load) => genai(load, !['genai 0', 'genai 1'].includes(version)),
    'generative-ai': (_, load) => generativeAi(load),
    ai: (_, load, providers) => aiSdk(load, providers),
    mistral: (_, load) => mistral(load),
  }),
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
    // @google/genai 0 has the status only in its message.
    const [, status] = /got status: (\d+)/.exec(message) ?? [];
    seen.error = {
      class: failure?.constructor?.name,
      status: failure?.status ?? failure?.statusCode ?? (status ? Number(status) : null),
      message: message.slice(0, 600),
    };
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

console.warn = () => {};
console.error = () => {};
console.log = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;
// Helpers also reject promises that are not used.
process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
