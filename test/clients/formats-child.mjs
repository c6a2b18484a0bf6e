// Runs the same conversation with the official library of each format, or the AI SDK, and prints what its user sees:
// one JSON line in, one JSON line out. Scenarios run side by side; `id` joins the two.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createInterface } from 'node:readline';
import { AI_CLIENTS, converse } from './drivers/ai-sdk.mjs';
import { messagesDriver } from './drivers/anthropic.mjs';
import { geminiDriver } from './drivers/google.mjs';
import { chatDriver } from './drivers/openai-chat.mjs';
import { responsesDriver } from './drivers/openai-responses.mjs';

// Each runs one turn: `ask(scenario, history)` gives what the user sees, and `more(history, turn, resultOf)` continues it.
const DRIVERS = {
  chat: chatDriver,
  messages: messagesDriver,
  gemini: geminiDriver,
  responses: responsesDriver,
};

// Every library fetches by the global function: so each scenario's requests are counted, and its last response is seen.
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
    const value = results[name] ?? result;
    return typeof value === 'string' ? { text: value } : value;
  };
  const controller = new AbortController();
  const onText = (text) => {
    view.received.push(text);
    if (view.received.length === scenario.abortAfter) controller.abort();
  };
  const way = { signal: controller.signal, onText, resultOf };
  if (AI_CLIENTS.includes(scenario.client)) {
    view.turns = await converse(scenario, way);
    return;
  }
  const driver = DRIVERS[scenario.client](scenario);
  if (scenario.way) {
    view.result = await driver[scenario.way](scenario);
    return;
  }
  let history = driver.begin(scenario);
  while (view.turns.length < scenario.mostTurns) {
    const { raw, ...turn } = await driver.ask(scenario, history, way);
    view.turns.push(turn);
    if (turn.calls.length === 0) return;
    history = driver.more(history, { raw, ...turn }, resultOf);
  }
}

async function run({ id, ...request }) {
  const scenario = { prompt: 'What is the weather in Oslo?', mostTurns: 6, ...request };
  const view = { id, turns: [], received: [], attempts: 0 };
  try {
    await watched.run(view, () => talk(scenario, view));
  } catch (thrown) {
    view.error = toError(thrown);
  }
  process.stdout.write(`${JSON.stringify(view)}\n`);
}

function toError(thrown) {
  // The AI SDK wraps the last failure if it has retried.
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

// Libraries print here what they cannot read, or what a model does not accept.
console.error = () => {};
console.warn = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;

process.on('unhandledRejection', (thrown) => {
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: String(thrown?.stack ?? thrown) })}\n`);
});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
