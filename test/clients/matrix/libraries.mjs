// One conversation in each provider's own library: text, a tool loop of two turns, a structured answer.
import { once, pick } from './versions.mjs';

export const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
export const TOOL = { name: 'get_weather', description: 'The weather in a city' };
export const RESULT = 'sunny';
const MOST_TURNS = 3;

const runner = (formats) => ({ run: (format, at) => formats[format](at) });

/** Repeats until no tool is called any more: `ask` gives the message, its text and its calls; `more` is what the next turn adds. */
export async function loop(ask, more) {
  const calls = [];
  let history = [];
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const reply = await ask(history);
    if (reply.calls.length === 0) return { text: reply.text, calls };
    calls.push(...reply.calls.map(({ name, args }) => [name, args]));
    history = [...history, ...more(reply)];
  }
  throw new Error('the loop does not end');
}

const opening = (system, prompt) => [
  { role: 'system', content: system },
  { role: 'user', content: prompt },
];

/** Chat completions by any library that is made like OpenAI's. */
export function chatLoop(resource, { stream, model, system, prompt, tools, schema }, helper) {
  const request = {
    model,
    ...(tools && { tools: [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }] }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema: SCHEMA } },
    }),
  };
  const ask = async (history) => {
    const params = { ...request, messages: [...opening(system, prompt), ...history] };
    const message = stream
      ? await streamedMessage(resource, params, helper)
      : (await (schema && helper?.parse ? helper.parse(params) : resource.create(params))).choices[0].message;
    const calls = (message.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments),
    }));
    return { message, text: message.content ?? '', calls };
  };
  return loop(ask, ({ message, calls }) => [
    message,
    ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: RESULT })),
  ]);
}

async function streamedMessage(resource, params, helper) {
  if (helper) return (await helper.stream(params).finalChatCompletion()).choices[0].message;
  const message = { role: 'assistant', content: '' };
  for await (const { choices } of await resource.create({ ...params, stream: true })) {
    const delta = choices[0]?.delta ?? {};
    message.content += delta.content ?? '';
    for (const { index, ...call } of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      const known = message.tool_calls[index];
      if (known) known.function.arguments += call.function.arguments ?? '';
      else message.tool_calls[index] = call;
    }
  }
  return message;
}

export function openai(load) {
  const library = once(load);
  const client = async ({ url, apiKey }) => {
    const OpenAI = await pick(library(), 'OpenAI');
    return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  };
  return runner({
    async 'openai-chat'(at) {
      const { chat, beta } = await client(at);
      return chatLoop(chat.completions, at, chat.completions.stream ? chat.completions : beta.chat.completions);
    },
    async 'openai-responses'(at) {
      const { responses } = await client(at);
      const { stream, model, system, prompt, tools, schema } = at;
      const request = {
        model,
        store: false,
        instructions: system,
        ...(tools && { tools: [{ type: 'function', ...TOOL, strict: true, parameters: SCHEMA }] }),
        ...(schema && { text: { format: { type: 'json_schema', name: 'place', strict: true, schema: SCHEMA } } }),
      };
      const ask = async (history) => {
        const params = { ...request, input: [{ role: 'user', content: prompt }, ...history] };
        const reply = stream ? await streamedResponse(responses, params) : await responses.create(params);
        if (reply.status === 'failed') throw new Error(`failed: ${reply.error?.message}`);
        const calls = reply.output
          .filter(({ type }) => type === 'function_call')
          .map(({ call_id: id, name, arguments: args }) => ({ id, name, args: JSON.parse(args) }));
        const texts = reply.output.flatMap((item) => (item.content ?? []).map(({ text }) => text ?? ''));
        return { output: reply.output, text: texts.join(''), calls };
      };
      return loop(ask, ({ output, calls }) => [
        ...output,
        ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: RESULT })),
      ]);
    },
  });
}

async function streamedResponse(responses, params) {
  if (responses.stream) return responses.stream(params).finalResponse();
  let last;
  for await (const event of await responses.create({ ...params, stream: true })) {
    if (event.type === 'error') throw new Error(event.message ?? 'error');
    if (/^response\.(completed|incomplete|failed)$/.test(event.type)) last = event.response;
  }
  if (!last) throw new Error('no last response');
  return last;
}

export function anthropic(load) {
  const library = once(load);
  return runner({
    async 'anthropic-messages'({ url, apiKey, stream, model, system, prompt, tools, schema }) {
      const Anthropic = await pick(library(), 'Anthropic');
      const { messages: resource } = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
      const request = {
        model,
        system,
        max_tokens: 100,
        ...(tools && { tools: [{ ...TOOL, input_schema: SCHEMA }] }),
        ...(schema && { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
      };
      const ask = async (history) => {
        const params = { ...request, messages: [{ role: 'user', content: prompt }, ...history] };
        const { content } = stream ? await resource.stream(params).finalMessage() : await resource.create(params);
        const texts = content.filter(({ type }) => type === 'text').map(({ text }) => text);
        const calls = content
          .filter(({ type }) => type === 'tool_use')
          .map(({ id, name, input: args }) => ({ id, name, args }));
        return { content, text: texts.join(''), calls };
      };
      return loop(ask, ({ content, calls }) => [
        { role: 'assistant', content },
        {
          role: 'user',
          content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT })),
        },
      ]);
    },
  });
}

const GOOGLE_SCHEMA = { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] };
const googleTools = [{ functionDeclarations: [{ ...TOOL, parameters: GOOGLE_SCHEMA }] }];
const googleOutput = { responseMimeType: 'application/json', responseSchema: GOOGLE_SCHEMA };

/** `answersOf` gives the answers to these contents, one or a stream's. */
function googleLoop(prompt, answersOf) {
  const ask = async (history) => {
    const parts = [];
    for (const { candidates = [] } of await answersOf([{ role: 'user', parts: [{ text: prompt }] }, ...history])) {
      parts.push(...(candidates[0]?.content?.parts ?? []));
    }
    const texts = parts.filter(({ text, thought }) => text && !thought).map(({ text }) => text);
    const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
    return { parts, text: texts.join(''), calls };
  };
  return loop(ask, ({ parts, calls }) => [
    { role: 'model', parts },
    {
      role: 'user',
      parts: calls.map(({ id, name }) => ({
        functionResponse: { ...(id && { id }), name, response: { output: RESULT } },
      })),
    },
  ]);
}

export function genai(load, retries = true) {
  const library = once(load);
  return runner({
    async gemini({ url, apiKey, stream, model, system, prompt, tools, schema }) {
      const GoogleGenAI = await pick(library(), 'GoogleGenAI');
      // 0 and 1 do not retry by themselves, and lose the status if the number of retries is set.
      const httpOptions = { baseUrl: url, ...(retries && { retryOptions: { attempts: 1 } }) };
      const { models } = new GoogleGenAI({ apiKey, vertexai: false, httpOptions });
      const config = { systemInstruction: system, ...(tools && { tools: googleTools }), ...(schema && googleOutput) };
      return googleLoop(prompt, async (contents) => {
        const params = { model, contents, config };
        return stream
          ? Array.fromAsync(await models.generateContentStream(params))
          : [await models.generateContent(params)];
      });
    },
  });
}

export function generativeAi(load) {
  const library = once(load);
  return runner({
    async gemini({ url, apiKey, stream, model, system, prompt, tools, schema }) {
      const GoogleGenerativeAI = await pick(library(), 'GoogleGenerativeAI');
      const settings = {
        model,
        systemInstruction: system,
        ...(tools && { tools: googleTools }),
        ...(schema && { generationConfig: googleOutput }),
      };
      const wanted = new GoogleGenerativeAI(apiKey).getGenerativeModel(settings, { baseUrl: url });
      return googleLoop(prompt, async (contents) => {
        // It knows no ids of calls.
        if (!stream) return [(await wanted.generateContent({ contents })).response];
        const { stream: coming, response } = await wanted.generateContentStream({ contents });
        response.catch(() => {});
        return Array.fromAsync(coming);
      });
    },
  });
}

/** The AI SDK, and the providers of its age. It runs the loop of turns itself. */
export function aiSdk(load, providers) {
  const library = once(load);
  const converse = async (wanted, { stream, system, prompt, tools, schema, mode }) => {
    const ai = await library();
    const place = ai.jsonSchema(SCHEMA);
    const params = { model: wanted, system, prompt, maxRetries: 0 };
    if (schema && ai.generateObject) {
      const { object } = await ai.generateObject({ ...params, schema: place, ...(mode && { mode }) });
      return { text: JSON.stringify(object), calls: [] };
    }
    if (schema) params.output = ai.Output.object({ schema: place });
    if (tools) {
      // Named otherwise from one major to the next.
      const steps = ai.isStepCount ?? ai.stepCountIs;
      const { description } = TOOL;
      params.tools = {
        [TOOL.name]: { description, parameters: place, inputSchema: place, execute: async () => RESULT },
      };
      Object.assign(params, steps ? { stopWhen: steps(MOST_TURNS) } : { maxSteps: MOST_TURNS });
    }
    const { text, steps } = stream ? await streamed(ai, params) : await ai.generateText(params);
    const calls = steps.flatMap((step) => step.toolCalls);
    return { text, calls: calls.map((call) => [call.toolName, call.input ?? call.args]) };
  };
  const made = async (name, create, { url, apiKey }, path) =>
    (await pick(providers[name](), create))({ apiKey, baseURL: `${url}${path}` });
  return runner({
    'openai-chat': async (at) => converse((await made('openai', 'createOpenAI', at, '/v1')).chat(at.model), at),
    'openai-responses': async (at) =>
      converse((await made('openai', 'createOpenAI', at, '/v1')).responses(at.model), {
        ...at,
        // AI SDK 4 asks for a tool call otherwise.
        mode: 'json',
      }),
    'anthropic-messages': async (at) => converse((await made('anthropic', 'createAnthropic', at, '/v1'))(at.model), at),
    gemini: async (at) => converse((await made('google', 'createGoogleGenerativeAI', at, '/v1beta'))(at.model), at),
  });
}

async function streamed({ streamText }, params) {
  let failure;
  const reply = streamText({
    ...params,
    onError: ({ error }) => {
      failure ??= error;
    },
  });
  try {
    for await (const part of reply.fullStream) if (part.type === 'error') failure ??= part.error;
  } catch (thrown) {
    // The last error hides the first one.
    failure ??= thrown;
  }
  if (failure) throw failure;
  return { text: await reply.text, steps: await reply.steps };
}

export function mistral(load) {
  const library = once(load);
  return runner({
    async 'openai-chat'({ url, apiKey, stream, model, system, prompt, tools, schema }) {
      const Mistral = await pick(library(), 'Mistral');
      const { chat } = new Mistral({ apiKey, serverURL: url });
      const request = {
        model,
        ...(tools && { tools: [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }] }),
        ...(schema && {
          responseFormat: { type: 'json_schema', jsonSchema: { name: 'place', schemaDefinition: SCHEMA } },
        }),
      };
      const ask = async (history) => {
        const params = { ...request, messages: [...opening(system, prompt), ...history] };
        const message = stream ? await mistralStream(chat, params) : (await chat.complete(params)).choices[0].message;
        const calls = (message.toolCalls ?? []).map((call) => ({
          id: call.id,
          name: call.function.name,
          args: JSON.parse(call.function.arguments),
        }));
        return { message, text: message.content ?? '', calls };
      };
      return loop(ask, ({ message, calls }) => [
        { ...message, role: 'assistant' },
        ...calls.map(({ id, name }) => ({ role: 'tool', toolCallId: id, name, content: RESULT })),
      ]);
    },
  });
}

async function mistralStream(chat, params) {
  const message = { content: '' };
  for await (const { data } of await chat.stream(params)) {
    const delta = data.choices[0]?.delta ?? {};
    message.content += delta.content ?? '';
    for (const call of delta.toolCalls ?? []) {
      message.toolCalls ??= [];
      const known = message.toolCalls[call.index ?? 0];
      if (known) known.function.arguments += call.function.arguments;
      else message.toolCalls[call.index ?? 0] = { ...call, type: 'function', function: { ...call.function } };
    }
  }
  return message;
}
