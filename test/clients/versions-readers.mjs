// Official libraries of several versions: what the user of each sees of a reply. `fetch`, if given, replaces the network.
import { librariesBy, once, pick } from './matrix/versions.mjs';

const prompt = 'Hello';
const messages = [{ role: 'user', content: prompt }];

/** What a user sees of a reply: its text, its calls and why it ended. */
const view = (text, calls, finish, usage) => ({
  text: text ?? '',
  calls,
  finish: finish ?? null,
  usage: usage ?? null,
});
const parsed = (text) => {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return text;
  }
};

function openai(load) {
  const library = once(load);
  const client = async ({ url, apiKey, fetch }) => {
    const OpenAI = await pick(library(), 'OpenAI');
    return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, ...(fetch && { fetch }) });
  };
  const chatView = ({ choices, usage }) => {
    const [{ message, finish_reason }] = choices;
    const calls = (message.tool_calls ?? []).map(({ function: called, custom }) =>
      custom ? [custom.name, custom.input] : [called?.name, parsed(called?.arguments ?? '')],
    );
    return view(message.content, calls, finish_reason, usage);
  };
  return {
    async 'openai-chat'(at) {
      const { stream, model } = at;
      const { chat, beta } = await client(at);
      const params = { model, messages };
      if (!stream) return chatView(await chat.completions.create(params));
      const helper = chat.completions.stream ? chat.completions : beta.chat.completions;
      return chatView(
        await helper.stream({ ...params, stream_options: { include_usage: true } }).finalChatCompletion(),
      );
    },
    async 'openai-chat, chunk by chunk'(at) {
      const { model } = at;
      const { chat } = await client(at);
      let text = '';
      let finish = null;
      let usage = null;
      for await (const chunk of await chat.completions.create({ model, messages, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? '';
        finish = chunk.choices[0]?.finish_reason ?? finish;
        usage = chunk.usage ?? usage;
      }
      return view(text, [], finish, usage);
    },
    async 'openai-completions'(at) {
      const { stream, model } = at;
      const { completions } = await client(at);
      if (!stream) {
        const { choices, usage } = await completions.create({ model, prompt });
        return view(choices[0].text, [], choices[0].finish_reason, usage);
      }
      let text = '';
      let finish = null;
      for await (const { choices } of await completions.create({ model, prompt, stream: true })) {
        text += choices[0]?.text ?? '';
        finish = choices[0]?.finish_reason ?? finish;
      }
      return view(text, [], finish);
    },
    async 'openai-responses'(at) {
      const { stream, model } = at;
      const { responses } = await client(at);
      const params = { model, input: prompt };
      const reply =
        stream && responses.stream
          ? await responses.stream(params).finalResponse()
          : stream
            ? await lastResponse(await responses.create({ ...params, stream: true }))
            : await responses.create(params);
      if (reply.status === 'failed') throw new Error(`failed: ${reply.error?.message}`);
      const calls = reply.output.flatMap((item) => {
        if (item.type === 'custom_tool_call') return [[item.name, item.input]];
        return item.type === 'function_call' ? [[item.name, parsed(item.arguments)]] : [];
      });
      const text = reply.output.flatMap((item) => (item.content ?? []).map((piece) => piece.text ?? '')).join('');
      return view(text, calls, reply.incomplete_details?.reason ?? reply.status, reply.usage);
    },
  };
}

async function lastResponse(events) {
  let last;
  for await (const event of events) {
    if (event.type === 'error') throw new Error(event.message ?? 'error');
    if (/^response\.(completed|incomplete|failed)$/.test(event.type)) last = event.response;
  }
  if (!last) throw new Error('no last response');
  return last;
}

function anthropic(load) {
  const library = once(load);
  const client = async ({ url, apiKey, fetch }) => {
    const Anthropic = await pick(library(), 'Anthropic');
    return new Anthropic({ apiKey, baseURL: url, maxRetries: 0, ...(fetch && { fetch }) });
  };
  return {
    async 'anthropic-messages'(at) {
      const { stream, model } = at;
      const { messages: resource } = await client(at);
      const params = { model, max_tokens: 100, messages };
      const reply = stream ? await resource.stream(params).finalMessage() : await resource.create(params);
      const blocks = (type) => reply.content.filter((block) => block.type === type);
      return view(
        blocks('text')
          .map((block) => block.text)
          .join(''),
        blocks('tool_use').map(({ name, input }) => [name, input]),
        reply.stop_reason,
        reply.usage,
      );
    },
  };
}

function genai(load) {
  const library = once(load);
  return {
    async gemini({ url, apiKey, model, stream }) {
      const GoogleGenAI = await pick(library(), 'GoogleGenAI');
      const { models } = new GoogleGenAI({ apiKey, vertexai: false, httpOptions: { baseUrl: url } });
      const params = { model, contents: prompt };
      const answers = [];
      if (stream) for await (const answer of await models.generateContentStream(params)) answers.push(answer);
      else answers.push(await models.generateContent(params));
      return googleView(answers);
    },
  };
}

function googleView(answers) {
  let text = '';
  let finish = null;
  let usage = null;
  const calls = [];
  for (const { candidates = [], usageMetadata } of answers) {
    usage = usageMetadata ?? usage;
    finish = candidates[0]?.finishReason ?? finish;
    for (const part of candidates[0]?.content?.parts ?? []) {
      if (part.functionCall) calls.push([part.functionCall.name, part.functionCall.args ?? {}]);
      else if (!part.thought) text += part.text ?? '';
    }
  }
  return view(text, calls, finish, usage);
}

function generativeAi(load) {
  const library = once(load);
  return {
    async gemini({ url, apiKey, model, stream }) {
      const GoogleGenerativeAI = await pick(library(), 'GoogleGenerativeAI');
      const wanted = new GoogleGenerativeAI(apiKey).getGenerativeModel({ model }, { baseUrl: url });
      if (!stream) return googleView([(await wanted.generateContent(prompt)).response]);
      const answers = [];
      const { stream: coming, response } = await wanted.generateContentStream(prompt);
      response.catch(() => {});
      for await (const answer of coming) answers.push(answer);
      return googleView(answers);
    },
  };
}

/** Named otherwise from one major to the next. */
function toolsOf(jsonSchema, names) {
  if (names !== true) {
    const any = jsonSchema({ type: 'object' });
    return Object.fromEntries(names.map((name) => [name, { parameters: any, inputSchema: any }]));
  }
  const schema = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
  return { weather: { description: 'The weather of a city', parameters: schema, inputSchema: schema } };
}

/** The AI SDK, and the providers of its age. */
function aiSdk(load, providers) {
  const library = once(load);
  const run = async (wanted, { stream, tools }) => {
    const { generateText, streamText, jsonSchema } = await library();
    const params = { model: wanted, prompt, maxRetries: 0, ...(tools && { tools: toolsOf(jsonSchema, tools) }) };
    const calls = (list) => list.map((call) => [call.toolName, call.input ?? call.args]);
    if (!stream) {
      const { text, toolCalls, finishReason, usage } = await generateText(params);
      return view(text, calls(toolCalls), finishReason, usage);
    }
    let failure;
    const reply = streamText({
      ...params,
      onError: ({ error }) => {
        failure ??= error;
      },
    });
    let text = '';
    try {
      for await (const part of reply.fullStream) {
        if (part.type === 'error') failure ??= part.error;
        if (part.type === 'text-delta') text += part.text ?? part.textDelta ?? part.delta ?? '';
      }
    } catch (thrown) {
      // The last error hides the first one.
      failure ??= thrown;
    }
    if (failure) throw failure;
    return view(text, calls(await reply.toolCalls), await reply.finishReason, await reply.usage);
  };
  const made = async (name, create, { url, apiKey, model, fetch }, path) => [
    (await pick(providers[name](), create))({ apiKey, baseURL: `${url}${path}`, ...(fetch && { fetch }) }),
    model,
  ];
  const openaiAt = (scenario) => made('openai', 'createOpenAI', scenario, '/v1');
  return {
    async 'openai-chat'(scenario) {
      const [provider, model] = await openaiAt(scenario);
      return run(provider.chat(model), scenario);
    },
    async 'openai-completions'(scenario) {
      const [provider, model] = await openaiAt(scenario);
      return run(provider.completion(model), scenario);
    },
    async 'openai-responses'(scenario) {
      const [provider, model] = await openaiAt(scenario);
      return run(provider.responses(model), scenario);
    },
    async 'anthropic-messages'(scenario) {
      const [provider, model] = await made('anthropic', 'createAnthropic', scenario, '/v1');
      return run(provider(model), scenario);
    },
    async gemini(scenario) {
      const [provider, model] = await made('google', 'createGoogleGenerativeAI', scenario, '/v1beta');
      return run(provider(model), scenario);
    },
  };
}

function mistral(load) {
  const library = once(load);
  return {
    async 'openai-chat'({ url, apiKey, model, stream }) {
      const Mistral = await pick(library(), 'Mistral');
      const { chat } = new Mistral({ apiKey, serverURL: url });
      const params = { model, messages };
      if (!stream) {
        const { choices, usage } = await chat.complete(params);
        const calls = (choices[0].message.toolCalls ?? []).map((call) => [
          call.function.name,
          parsed(call.function.arguments),
        ]);
        return view(choices[0].message.content, calls, choices[0].finishReason, usage);
      }
      let text = '';
      let finish = null;
      let usage = null;
      for await (const { data } of await chat.stream(params)) {
        text += data.choices[0]?.delta.content ?? '';
        finish = data.choices[0]?.finishReason ?? finish;
        usage = data.usage ?? usage;
      }
      return view(text, [], finish, usage);
    },
  };
}

export const LIBRARIES = librariesBy({
  openai: (_, load) => openai(load),
  anthropic: (_, load) => anthropic(load),
  genai: (_, load) => genai(load),
  'generative-ai': (_, load) => generativeAi(load),
  ai: (_, load, providers) => aiSdk(load, providers),
  mistral: (_, load) => mistral(load),
});
