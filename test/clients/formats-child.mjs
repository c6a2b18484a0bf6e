// Runs the same conversation with the official library of each format, or the AI SDK, and prints what its user sees:
// one JSON line in, one JSON line out. Scenarios run side by side; `id` joins the two.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createInterface } from 'node:readline';
import { AI_CLIENTS, converse } from './speakers/ai-sdk.mjs';
import { messagesSpeaker } from './speakers/anthropic.mjs';
import { geminiSpeaker } from './speakers/google.mjs';
import { chatSpeaker } from './speakers/openai-chat.mjs';
import { responsesSpeaker } from './speakers/openai-responses.mjs';

// Each speaks one turn: `ask(scenario, history)` gives what the user sees, and `more(history, turn, resultOf)` goes on from it.
const SPEAKERS = {
  chat: chatSpeaker,
  messages: messagesSpeaker,
  gemini: geminiSpeaker,
  responses: responsesSpeaker,
};

// Every library fetches by the global function: so each scenario's requests are counted, and its last answer seen.
const watched = new AsyncLocalStorage();
const { fetch: realFetch } = globalThis;
globalThis.fetch = async (...args) => {
  const view = watched.getStore();
  if (view) view.attempts++;
  const response = await realFetch(...args);
  if (view) {
    view.status = response.status;
    view.headers = Object.fromEntries(response.headers);
  }
  return response;
};

async function talk(scenario, view) {
  const { results = {}, result = 'sunny' } = scenario;
  const resultOf = ({ name }) => {
    const told = results[name] ?? result;
    return typeof told === 'string' ? { text: told } : told;
  };
  const controller = new AbortController();
  const onText = (text) => {
    view.heard.push(text);
    if (view.heard.length === scenario.abortAfter) controller.abort();
  };
  const way = { signal: controller.signal, onText, resultOf };
  if (AI_CLIENTS.includes(scenario.client)) {
    view.turns = await converse(scenario, way);
    return;
  }
  const speaker = SPEAKERS[scenario.client](scenario);
  if (scenario.way) {
    view.told = await speaker[scenario.way](scenario);
    return;
  }
  let history = speaker.begin(scenario);
  while (view.turns.length < scenario.mostTurns) {
    const { raw, ...said } = await speaker.ask(scenario, history, way);
    view.turns.push(said);
    if (said.calls.length === 0) return;
    history = speaker.more(history, { raw, ...said }, resultOf);
  }
}

async function run({ id, ...told }) {
  const scenario = { prompt: 'What is the weather in Oslo?', mostTurns: 6, ...told };
  const view = { id, turns: [], heard: [], attempts: 0 };
  try {
    await watched.run(view, () => talk(scenario, view));
  } catch (thrown) {
    view.error = toError(thrown);
  }
  process.stdout.write(`${JSON.stringify(view)}\n`);
}

function toError(thrown) {
  // The AI SDK wraps the last failure where it has tried again.
  const { lastError: failure = thrown } = thrown ?? {};
  return {
    class: failure?.constructor?.name,
    status: failure?.status ?? failure?.statusCode ?? null,
    type: failure?.type ?? null,
    code: failure?.code ?? null,
    message: String(failure?.message ?? failure),
    requestId: failure?.requestID ?? null,
  };
}

// Libraries tell of what they cannot read, or of what a model does not take, here too.
console.error = () => {};
console.warn = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;

process.on('unhandledRejection', (thrown) => {
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: String(thrown?.stack ?? thrown) })}\n`);
});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
