// Runs the same conversation with the official library of each format and prints what its user sees:
// one JSON line in, one JSON line out. Scenarios run side by side; `id` joins the two.
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const WEATHER = { name: 'get_weather', description: 'The weather at a place.' };

// Each speaks one turn: `ask(scenario, history)` gives what the user sees, and `more(history, turn, results)` goes on from it.
const SPEAKERS = {
  chat: ({ url, apiKey, seen }) => {
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, fetch: seen });
    return {
      begin: (prompt) => [{ role: 'user', content: prompt }],
      async ask({ model, stream, think, tools, extra }, messages) {
        const request = {
          model,
          messages,
          ...(think && { reasoning_effort: 'low' }),
          ...(tools && { tools: [{ type: 'function', function: { ...WEATHER, parameters: SCHEMA } }] }),
          ...extra,
        };
        const streamed = { ...request, stream_options: { include_usage: true } };
        const reply = stream
          ? await client.chat.completions.stream(streamed).finalChatCompletion()
          : await client.chat.completions.create(request);
        const { message, finish_reason } = reply.choices[0];
        return {
          raw: message,
          model: reply.model,
          text: message.content ?? '',
          reasoning: message.reasoning_content ?? '',
          calls: (message.tool_calls ?? []).map(({ id, function: call }) => ({
            id,
            name: call.name,
            args: JSON.parse(call.arguments),
          })),
          finish: finish_reason,
          usage: { input: reply.usage.prompt_tokens, output: reply.usage.completion_tokens },
        };
      },
      more: (messages, { raw, calls }, result) => [
        ...messages,
        raw,
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ],
    };
  },

  messages: ({ url, apiKey, seen }) => {
    const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0, fetch: seen });
    return {
      begin: (prompt) => [{ role: 'user', content: prompt }],
      async ask({ model, stream, think, tools, extra }, messages) {
        const request = {
          model,
          max_tokens: 2000,
          messages,
          ...(think && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
          ...(tools && { tools: [{ ...WEATHER, input_schema: SCHEMA }] }),
          ...extra,
        };
        const reply = stream
          ? await client.messages.stream(request).finalMessage()
          : await client.messages.create(request);
        const blocks = (type) => reply.content.filter((block) => block.type === type);
        const { input_tokens, cache_read_input_tokens, output_tokens } = reply.usage;
        return {
          raw: reply.content,
          model: reply.model,
          text: joined(blocks('text'), 'text'),
          reasoning: joined(blocks('thinking'), 'thinking'),
          calls: blocks('tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
          finish: reply.stop_reason,
          usage: { input: input_tokens + (cache_read_input_tokens ?? 0), output: output_tokens },
        };
      },
      more: (messages, { raw, calls }, result) => [
        ...messages,
        { role: 'assistant', content: raw },
        { role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result })) },
      ],
    };
  },

  gemini: ({ url, apiKey }) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    return {
      begin: (prompt) => [{ role: 'user', parts: [{ text: prompt }] }],
      async ask({ model, stream, think, tools, extra }, contents) {
        const config = {
          ...(think && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } }),
          ...(tools && { tools: [{ functionDeclarations: [{ ...WEATHER, parametersJsonSchema: SCHEMA }] }] }),
          ...extra,
        };
        const request = { model, contents, config };
        const answers = [];
        if (stream) for await (const answer of await client.models.generateContentStream(request)) answers.push(answer);
        else answers.push(await client.models.generateContent(request));
        const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
        const last = answers.at(-1);
        const { promptTokenCount, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = last.usageMetadata;
        return {
          raw: { role: 'model', parts },
          model: last.modelVersion,
          text: joined(
            parts.filter((part) => !part.thought && part.text),
            'text',
          ),
          reasoning: joined(
            parts.filter((part) => part.thought),
            'text',
          ),
          calls: parts.flatMap(({ functionCall: call }) =>
            call ? [{ id: call.id, name: call.name, args: call.args }] : [],
          ),
          finish: last.candidates?.[0]?.finishReason,
          usage: { input: promptTokenCount, output: candidatesTokenCount + thoughtsTokenCount },
        };
      },
      more: (contents, { raw, calls }, result) => [
        ...contents,
        raw,
        {
          role: 'user',
          parts: calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: result } } })),
        },
      ],
    };
  },

  responses: ({ url, apiKey, seen }) => {
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, fetch: seen });
    return {
      begin: (prompt) => [{ role: 'user', content: prompt }],
      async ask({ model, stream, think, tools, extra }, input) {
        const request = {
          model,
          input,
          ...(think && { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }),
          ...(tools && { tools: [{ type: 'function', ...WEATHER, parameters: SCHEMA, strict: true }] }),
          store: false,
          ...extra,
        };
        const reply = stream
          ? await client.responses.stream(request).finalResponse()
          : await client.responses.create(request);
        const items = (type) => reply.output.filter((item) => item.type === type);
        return {
          raw: reply.output,
          model: reply.model,
          text: items('message')
            .flatMap((item) => item.content)
            .map((part) => part.text)
            .join(''),
          reasoning: items('reasoning')
            .flatMap((item) => item.summary)
            .map((part) => part.text)
            .join(''),
          calls: items('function_call').map((call) => ({
            id: call.call_id,
            name: call.name,
            args: JSON.parse(call.arguments),
          })),
          finish: reply.status,
          usage: { input: reply.usage.input_tokens, output: reply.usage.output_tokens },
        };
      },
      more: (input, { raw, calls }, result) => [
        ...input,
        ...raw,
        ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ],
    };
  },
};

function joined(parts, member) {
  return parts.map((part) => part[member]).join('');
}

async function run(scenario) {
  const view = { id: scenario.id, turns: [] };
  const seen = async (...args) => {
    const response = await fetch(...args);
    view.headers = Object.fromEntries(response.headers);
    return response;
  };
  try {
    const speaker = SPEAKERS[scenario.client]({ ...scenario, seen });
    let history = speaker.begin(scenario.prompt ?? 'What is the weather in Oslo?');
    for (let turn = 0; turn < 4; turn++) {
      const { raw, ...said } = await speaker.ask(scenario, history);
      view.turns.push(said);
      if (said.calls.length === 0) break;
      history = speaker.more(history, { raw, ...said }, scenario.result ?? 'sunny');
    }
  } catch (thrown) {
    view.error = {
      class: thrown?.constructor?.name,
      status: thrown?.status ?? null,
      message: String(thrown?.message ?? thrown),
      requestId: thrown?.requestID ?? null,
    };
  }
  process.stdout.write(`${JSON.stringify(view)}\n`);
}

process.on('unhandledRejection', (thrown) => {
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: String(thrown?.stack ?? thrown) })}\n`);
});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
