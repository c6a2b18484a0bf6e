// Runs scenarios with the official openai library (its major is the first argument) and prints what its user sees:
// one JSON line in, one JSON line out. Scenarios run side by side; `id` joins the two.
import { createInterface } from 'node:readline';

const library = process.argv[2] ?? 'openai';
const { default: OpenAI } = await import(library);
const { zodResponseFormat } = await import(`${library}/helpers/zod`);
const { z } = await import('zod');

const SCHEMAS = {
  city: z.object({ city: z.string(), country: z.string() }),
  report: z.object({
    title: z.string(),
    score: z.number(),
    tags: z.array(z.string()),
    mood: z.enum(['calm', 'tense']),
    nested: z.object({ ok: z.boolean() }),
  }),
};

const WAYS = {
  chat: async (client, scenario, view) => {
    const { data, request_id } = await client.chat.completions
      .create(scenario.request, options(scenario))
      .withResponse();
    view.requestId = data._request_id ?? request_id;
    addWhole(view, data);
  },
  stream: async (client, scenario, view) => {
    const pending = client.chat.completions.create({ ...scenario.request, stream: true }, options(scenario));
    const { data, request_id } = await pending.withResponse();
    view.requestId = request_id;
    for await (const chunk of data) {
      addChunk(view, chunk);
      if (view.chunks === scenario.abortAfter) data.controller.abort();
    }
  },
  helper: async (client, scenario, view) => {
    const stream = chatHelper(client).stream(scenario.request, options(scenario));
    stream.on('chunk', (chunk) => {
      addChunk(view, chunk);
      if (view.chunks === scenario.abortAfter) stream.abort();
    });
    const final = await stream.finalChatCompletion();
    view.choices = final.choices.map(toChoice);
    if (final.usage) view.usage = final.usage;
  },
  // A loop of turns as an agent runs it: every call is answered with the scenario's result of that name.
  tools: async (client, scenario, view) => {
    const messages = [...scenario.request.messages];
    view.turns = [];
    for (let turn = 0; turn < 5; turn++) {
      const request = { ...scenario.request, messages };
      const completion = scenario.stream
        ? await chatHelper(client).stream(request, options(scenario)).finalChatCompletion()
        : await client.chat.completions.create(request, options(scenario));
      const { message } = completion.choices[0];
      view.turns.push(toChoice(completion.choices[0]));
      view.choices = completion.choices.map(toChoice);
      if (!message.tool_calls?.length) return;
      messages.push(message);
      for (const call of message.tool_calls) {
        const content = scenario.results[call.function.name] ?? 'unknown tool';
        messages.push({ role: 'tool', tool_call_id: call.id, content });
      }
    }
  },
  parse: async (client, scenario, view) => {
    const response_format = zodResponseFormat(SCHEMAS[scenario.schema], scenario.schema);
    const completion = await chatHelper(client).parse({ ...scenario.request, response_format }, options(scenario));
    view.parsed = completion.choices[0].message.parsed;
    addWhole(view, completion);
  },
  completion: async (client, scenario, view) => {
    const { data, request_id } = await client.completions.create(scenario.request, options(scenario)).withResponse();
    view.requestId = request_id;
    view.object = data.object;
    view.models = [data.model];
    view.choices = data.choices.map((c) => ({
      index: c.index,
      text: c.text,
      finish: c.finish_reason,
      logprobs: c.logprobs,
    }));
    view.usage = data.usage;
  },
  'completion-stream': async (client, scenario, view) => {
    const stream = await client.completions.create({ ...scenario.request, stream: true }, options(scenario));
    for await (const chunk of stream) {
      view.chunks++;
      view.object = chunk.object;
      for (const c of chunk.choices) {
        view.choices[c.index] ??= { index: c.index, text: '', finish: null };
        view.choices[c.index].text += c.text;
        if (c.finish_reason) view.choices[c.index].finish = c.finish_reason;
      }
      if (chunk.usage) view.usage = chunk.usage;
      if (view.chunks === scenario.abortAfter) stream.controller.abort();
    }
  },
  models: async (client, _scenario, view) => {
    view.list = [];
    for await (const model of client.models.list()) view.list.push(model);
  },
  model: async (client, scenario, view) => {
    view.list = [await client.models.retrieve(scenario.model)];
  },
};

/** Structured output and the stream helper stood under `beta` up to major 4. */
function chatHelper(client) {
  return client.beta?.chat?.completions?.parse ? client.beta.chat.completions : client.chat.completions;
}

function options(scenario) {
  const { headers, abortAfterMs } = scenario;
  return { ...(headers && { headers }), ...(abortAfterMs && { signal: AbortSignal.timeout(abortAfterMs) }) };
}

function toChoice(choice) {
  const { message } = choice;
  return {
    index: choice.index,
    role: message.role,
    text: textOf(message.content),
    reasoning: reasoningOf(message),
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function?.name ?? call.custom?.name,
      args: call.function?.arguments ?? call.custom?.input,
    })),
    finish: choice.finish_reason,
    ...(message.annotations && { annotations: message.annotations }),
  };
}

// Mistral's own shape is a list of thinking and text parts.
function textOf(content) {
  if (!Array.isArray(content)) return content ?? '';
  return content.map((part) => part.text ?? '').join('');
}

function reasoningOf(message) {
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (reasoning || !Array.isArray(message.content)) return reasoning ?? '';
  return message.content.map((part) => part.thinking?.map((thought) => thought.text).join('') ?? '').join('');
}

function addWhole(view, completion) {
  view.object = completion.object;
  view.models = [completion.model];
  view.ids = [completion.id];
  view.choices = completion.choices.map(toChoice);
  view.usage = completion.usage;
}

function addChunk(view, chunk) {
  view.chunks++;
  if (chunk.id && !view.ids.includes(chunk.id)) view.ids.push(chunk.id);
  if (chunk.model && !view.models.includes(chunk.model)) view.models.push(chunk.model);
  view.object = chunk.object;
  if (chunk.usage) {
    view.usage = chunk.usage;
    if (chunk.choices.length === 0) view.usageChunks++;
  }
  for (const choice of chunk.choices ?? []) {
    const at = choice.index;
    view.choices[at] ??= {
      index: at,
      text: '',
      reasoning: '',
      refusal: '',
      calls: [],
      finish: null,
      roles: 0,
      finishes: 0,
    };
    const sum = view.choices[at];
    const delta = choice.delta ?? {};
    if (delta.role) sum.roles++;
    sum.text += textOf(delta.content);
    sum.reasoning += reasoningOf(delta);
    sum.refusal += delta.refusal ?? '';
    for (const call of delta.tool_calls ?? []) addCall(sum.calls, call);
    if (choice.finish_reason) {
      sum.finish = choice.finish_reason;
      sum.finishes++;
    }
  }
}

function addCall(calls, call) {
  const at = call.index ?? calls.length;
  calls[at] ??= { id: '', name: '', args: '' };
  if (call.id) calls[at].id = call.id;
  if (call.function?.name) calls[at].name = call.function.name;
  calls[at].args += call.function?.arguments ?? '';
}

async function run(scenario) {
  const view = { id: scenario.id, attempts: 0, chunks: 0, usageChunks: 0, choices: [], ids: [], models: [] };
  const client = new OpenAI({
    apiKey: scenario.apiKey,
    baseURL: scenario.baseURL,
    maxRetries: scenario.maxRetries ?? 0,
    timeout: scenario.timeoutMs ?? 15_000,
    fetch: async (...args) => {
      view.attempts++;
      const response = await fetch(...args);
      view.status = response.status;
      view.headers = Object.fromEntries(response.headers);
      return response;
    },
  });
  try {
    await WAYS[scenario.way](client, scenario, view);
  } catch (thrown) {
    view.error = {
      class: thrown?.constructor?.name,
      isApiError: thrown instanceof OpenAI.APIError,
      status: thrown?.status ?? null,
      code: thrown?.code ?? null,
      type: thrown?.type ?? null,
      param: thrown?.param ?? null,
      message: String(thrown?.message ?? thrown),
      requestId: thrown?.requestID ?? thrown?.request_id ?? null,
    };
  }
  // A provider's own numbers may leave gaps.
  view.choices = [...view.choices].map(
    (choice) => choice && { ...choice, ...(choice.calls && { calls: choice.calls.filter(Boolean) }) },
  );
  process.stdout.write(`${JSON.stringify(view)}\n`);
}

// The library also prints every stream that it cannot read; the view has the error already.
console.error = () => {};

process.on('unhandledRejection', (thrown) => {
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: String(thrown?.stack ?? thrown) })}\n`);
});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
